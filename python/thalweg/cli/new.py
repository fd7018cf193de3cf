"""`thalweg new`: a scenario file, or a controller in Python or Rust, to start from."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

import thalweg
from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.cli.console import note, say


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of the new scenario; - for standard output.")],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the new controller, after the word controller.")
    ] = None,
    rust: Annotated[
        bool, typer.Option("--rust", help="Write the controller as a Rust crate, in the folder NAME.")
    ] = False,
    crates: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --rust: the crates of Thalweg [of this checkout].")
    ] = None,
) -> None:
    """Write a commented scenario file, or with `controller NAME` a controller in Python or Rust, to start from.

    An existing file is kept.

    Example: `thalweg new mine.toml`, or `thalweg new controller mine`
    """
    if str(file) == "controller":
        _controller(name, rust or crates is not None, crates)
        return
    if rust or crates is not None:
        raise RequestError("--rust and --crates require thalweg new controller NAME")
    if name is not None:
        raise RequestError(
            f"{name}: one file at a time; accepted: thalweg new FILE, or thalweg new controller NAME"
        )
    text = files("thalweg.cli").joinpath("start.toml").read_text(encoding="utf-8")
    if str(file) == "-":
        say(text, end="")
        return
    if file.suffix != ".toml":
        raise RequestError(f"{file}: a scenario file ends in .toml; accepted: {file}.toml")
    _write(file, text)
    note(f"wrote {file}; run it: thalweg run {file}")


def _controller(name: str | None, rust: bool, crates: Path | None) -> None:
    """Writes NAME.py with a class of that name, or a crate NAME."""
    words = re.findall(r"[A-Za-z0-9]+", name or "")
    if not words or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name or ""):
        raise RequestError(f"controller {name or ''}: accepted: a name of letters, digits, - and _, such as mine")
    if rust:
        _crate(str(name), crates)
        return
    file = Path(f"{name}.py")
    text = files("thalweg.engine.controllers").joinpath("start.txt").read_text(encoding="utf-8")
    title = "".join(word[0].upper() + word[1:] for word in words)
    _write(file, text.replace("class Mine", f"class {title}").replace("FILE", f"./{file}"))
    note(f"wrote {file}; run it: thalweg run c4/simple-20mbps -c main=./{file}")


def _crate(name: str, crates: Path | None) -> None:
    from thalweg.engine.controllers.start_crate import write_crate  # noqa: PLC0415 - needed by nothing else

    if name in (known := [entry["name"] for entry in _native.controllers()]):
        raise RequestError(f"controller {name} is a built-in name; accepted: any name but {', '.join(known)}")
    folder = write_crate(name, crates)
    suite = os.path.relpath(Path(thalweg.__file__).parent / "suites" / "c4", folder)
    note(f"wrote {folder}; run it: cd {folder} && cargo run --release -- {suite} {name}")


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise RequestError(f"{file} exists already; accepted: an unused file name") from None
    except OSError as error:
        raise RequestError(f"cannot write {file}: {error.strerror}") from None
