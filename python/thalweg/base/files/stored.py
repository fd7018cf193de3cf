"""The experiment in a folder: of what kind it is, and its document.

Limits: what earlier versions stored is told by the name of its document, and refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from thalweg.base.errors import ResultError
from thalweg.base.files.document import DOCUMENT, Kind, in_words, kind_of, read
from thalweg.base.files.folder import TRIALS, find_file

_EARLIER = ("metadata.json", "study.json", "sweep.json", "hunt.json", "tails.json")


def kind_in(folder: Path) -> Kind | None:
    """What kind of experiment a folder holds; None if it holds none. Raises RequestError as `find_file` does."""
    file = find_file(folder, DOCUMENT)
    return None if file is None else kind_of(file)


def document_in(folder: Path, kind: Kind) -> tuple[Path, dict[str, Any]]:
    """The document of the experiment in a folder, checked, and its file.

    Raises ResultError if the folder does not hold one of this kind, and RequestError as `find_file` does.
    """
    file = find_file(folder, DOCUMENT)
    if file is None and not folder.exists():
        raise ResultError(f"{folder}: there is no such folder")
    if file is None:
        raise ResultError(f"{folder} holds no {kind}: {_missing(folder)}")
    found = kind_of(file)
    if found != kind:
        page = folder / "report.html"
        told = f"; its page is {page}" if page.is_file() else ""
        raise ResultError(f"{folder} holds {in_words(found)}, and not {in_words(kind)}{told}")
    return file, read(file)


def _missing(folder: Path) -> str:
    """Why there is no document."""
    earlier = next((name for name in _EARLIER if (folder / name).is_file()), None)
    if earlier is not None:
        return f"{earlier} is of an earlier version; run it again into another folder"
    if (folder / TRIALS).is_dir():
        return f"it has trials only; the command that played them concludes with --out {folder}"
    return f"it has no {DOCUMENT}"
