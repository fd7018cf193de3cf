"""`thalweg new`: a scenario file to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.console import note
from thalweg.errors import RequestError


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; - for standard output.")],
) -> None:
    """Write a commented scenario file to start from. A file that is there already is kept.

    Example: thalweg new mine.toml
    """
    text = files("thalweg").joinpath("start.toml").read_text(encoding="utf-8")
    if str(file) == "-":
        typer.echo(text, nl=False)
        return
    if file.suffix != ".toml":
        raise RequestError(f"{file}: a scenario file ends in .toml; accepted: {file}.toml")
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise RequestError(f"{file} is there already; accepted: a name that is free") from None
    except OSError as error:
        raise RequestError(f"cannot write {file}: {error.strerror}") from None
    note(f"wrote {file}; run it: thalweg run {file}")
