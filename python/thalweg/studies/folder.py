"""The folder that a study is stored in: its document, its scenarios, its tables, its page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from thalweg.errors import RequestError
from thalweg.studies.result import StudyResult
from thalweg.whole_file import whole_file

DOCUMENT = "study.json"
"""The document that `--format json` prints."""
PAGE = "report.html"


def check_folder(folder: Path) -> None:
    """Tries before any work is done whether the folder can be had; leaves none where there was none.

    Raises RequestError if it holds something else, or cannot be made.
    """
    message = f"cannot write results to {folder}"
    try:
        folder = folder.resolve()
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir()) and not (folder / DOCUMENT).exists()
        writable = os.access(folder, os.W_OK | os.X_OK)
        for place in missing:
            place.rmdir()
    except OSError as error:
        raise RequestError(f"{message}: {error.strerror or error}") from None
    if not writable:
        raise RequestError(f"{message}: permission denied")
    if occupied:
        raise RequestError(f"{folder} is not empty and holds no study; choose another folder")


def write_study_files(
    folder: Path, result: StudyResult, scenarios: Mapping[str, str], tables: Mapping[str, pl.DataFrame]
) -> None:
    """Writes `scenarios/<name>.toml`, `<name>.parquet` and the document, in place of those of an older study.

    The document comes last: where it is new, all that it speaks of is there. Raises RequestError if something
    cannot be written; what is there then of the older study stays.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if scenarios:
            (folder / "scenarios").mkdir(exist_ok=True)
    except OSError as error:
        raise RequestError(f"cannot write results to {folder}: {error.strerror or error}") from None
    texts = {folder / "scenarios" / f"{name}.toml": toml for name, toml in scenarios.items()}
    for target, toml in texts.items():
        with whole_file(target) as file:
            file.write_text(toml, encoding="utf-8")
    frames = {folder / f"{name}.parquet": table for name, table in tables.items()}
    for target, table in frames.items():
        with whole_file(target) as file:
            table.write_parquet(file)
    try:
        older = {folder / PAGE, *folder.glob("*.parquet"), *folder.glob("scenarios/*.toml")}
        for old in older - texts.keys() - frames.keys():
            old.unlink(missing_ok=True)
    except OSError as error:
        raise RequestError(f"cannot write results to {folder}: {error.strerror or error}") from None
    with whole_file(folder / DOCUMENT) as file:
        file.write_text(json.dumps(result.document(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
