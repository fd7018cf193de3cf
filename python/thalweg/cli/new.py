"""`thalweg new`: a scenario file, or a controller in Python, to start from."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.console import note, say
from thalweg.errors import RequestError


def new(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write a scenario; - for standard output.")
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="After the word controller: what to call it.")
    ] = None,
) -> None:
    """Write a commented scenario file, or with `controller NAME` a controller in Python, to start from.

    A file that is there already is kept.

    Example: `thalweg new mine.toml`, or `thalweg new controller mine`
    """
    if str(file) == "controller":
        _controller(name)
        return
    if name is not None:
        raise RequestError(
            f"{name}: one file at a time; accepted: thalweg new FILE, or thalweg new controller NAME"
        )
    text = files("thalweg").joinpath("start.toml").read_text(encoding="utf-8")
    if str(file) == "-":
        say(text, end="")
        return
    if file.suffix != ".toml":
        raise RequestError(f"{file}: a scenario file ends in .toml; accepted: {file}.toml")
    _write(file, text)
    note(f"wrote {file}; run it: thalweg run {file}")


def _controller(name: str | None) -> None:
    """Writes NAME.py with a class of that name."""
    words = re.findall(r"[A-Za-z0-9]+", name or "")
    if not words or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name or ""):
        raise RequestError(f"controller {name or ''}: accepted: a name of letters, digits, - and _, such as mine")
    file = Path(f"{name}.py")
    text = files("thalweg.control").joinpath("start.txt").read_text(encoding="utf-8")
    title = "".join(word[0].upper() + word[1:] for word in words)
    _write(file, text.replace("class Mine", f"class {title}").replace("FILE", f"./{file}"))
    note(f"wrote {file}; run it: thalweg run c4/simple-20mbps -c main=./{file}")


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise RequestError(f"{file} exists already; accepted: an unused file name") from None
    except OSError as error:
        raise RequestError(f"cannot write {file}: {error.strerror}") from None
