"""The folder of a result: `experiment.json`, and `worst.toml`, a scenario with the tape of the furthest trial."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT
from thalweg.base.files.folder import reserve
from thalweg.base.files.whole_file import whole_file
from thalweg.experiments.tails.tails import TailsResult

WORST = "worst.toml"


def reserve_folder(folder: Path) -> AbstractContextManager[None]:
    """Holds a folder for a result. Raises RequestError if it holds something else."""
    return reserve(folder, "tails", lambda *_: (), ())


def save(found: TailsResult, folder: Path) -> list[Path]:
    """Writes a result into its folder. Raises RequestError."""
    texts = {DOCUMENT: json.dumps(found.document(), indent=2, allow_nan=False) + "\n", WORST: found.scenario}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with whole_file(folder / name) as partial:
                partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError(f"cannot write to {folder}: {error.strerror or error}") from None
    return [folder / name for name in texts]
