"""The folder that a study is stored in."""

from __future__ import annotations

import os
from pathlib import Path

from thalweg.errors import RequestError

DOCUMENT = "study.json"
"""The document that `--format json` prints."""


def claim_folder(folder: Path) -> None:
    """Makes the folder before any work is done. Raises RequestError if it holds something else, or cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir()) and not (folder / DOCUMENT).exists()
    except OSError as error:
        raise RequestError(f"cannot write results to {folder}: {error.strerror or error}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise RequestError(f"cannot write results to {folder}: permission denied")
    if occupied:
        raise RequestError(f"{folder} is not empty and holds no study; choose another folder")
