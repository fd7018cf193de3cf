"""A Rust crate with a controller of its own, to start from: what `thalweg new controller NAME --rust` writes.

The crate depends on Thalweg's crates by path, so it takes a checkout of its sources. Its texts are the texts of
`crate`, with names and paths filled in; `examples/rust-controller` is such a crate.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import thalweg
from thalweg.base.errors import RequestError

TEXTS = {
    Path("Cargo.toml"): "Cargo.toml.txt",
    Path("src/main.rs"): "main.rs.txt",
    Path("src/controller.rs"): "controller.rs.txt",
}
"""The files of the crate, and the text of each."""
_PACKAGE = Path(thalweg.__file__).resolve().parent


def crates_of_checkout() -> Path | None:
    """The Rust crates next to this package, if it runs from a checkout."""
    crates = _PACKAGE.parents[1] / "crates"
    return crates if (crates / "control" / "Cargo.toml").is_file() else None


def crate(name: str, folder: Path, crates: Path) -> dict[Path, str]:
    """The files of a crate in `folder` that depends on `crates`, by their paths in it."""
    words = {
        "CRATES": _from(folder, crates),
        "SUITE": _from(folder, _PACKAGE / "suites" / "c4"),
        "NAME": name,
    }
    return {path: _filled(text, words) for path, text in TEXTS.items()}


def write_crate(name: str, crates: Path | None) -> Path:
    """Writes the crate NAME into a folder of that name, which must not exist; returns it. Raises RequestError."""
    found = crates or crates_of_checkout()
    if found is None:
        raise RequestError(
            "--rust requires the sources of Thalweg, which this package does not contain: use --crates DIR with "
            "the folder crates of a checkout"
        )
    if not (found / "control" / "Cargo.toml").is_file():
        raise RequestError(
            f"--crates {found}: it has no control/Cargo.toml; accepted: the folder crates of a checkout"
        )
    folder = Path(name)
    try:
        folder.mkdir()
        (folder / "src").mkdir()
        for path, text in crate(name, folder, found).items():
            (folder / path).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise RequestError(f"{folder} exists already; accepted: an unused name") from None
    except OSError as error:
        raise RequestError(f"cannot write {folder}: {error.strerror}") from None
    return folder


def _filled(text: str, words: dict[str, str]) -> str:
    filled = files("thalweg.engine.controllers").joinpath("crate", text).read_text(encoding="utf-8")
    for word, value in words.items():
        filled = filled.replace(word, value)
    return filled


def _from(folder: Path, target: Path) -> str:
    """A path for Cargo, which takes slashes."""
    return Path(os.path.relpath(target.resolve(), folder.resolve())).as_posix()
