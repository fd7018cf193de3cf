"""The store of a sweep: its trials, its points and its document.

    experiment.json                     the plan, its axes and flows, the engine that ran last, hashes of files
    points.parquet                      the points of the plan: values, and the hash that their trials have
    scenario.toml                       the scenario, where the plan itself has it, with its traces
    trials/<engine>/                    rows of `table.py`, as `trials/store/trial_store.py` keeps them

A sweep that was stopped, or whose plan has grown, runs only the trials that are not here.

`experiment.json` is written first, and again with the hashes when all other files are there: a store whose
document has none was stopped before, and its sweep is run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT
from thalweg.base.files.folder import TRIALS, homes_of_trials, reserve
from thalweg.base.files.seal import hash_of, sealed
from thalweg.base.files.whole_file import whole_file
from thalweg.experiments.sweep.head import read_head
from thalweg.experiments.sweep.plan import INLINE, Plan
from thalweg.experiments.sweep.table import Rows
from thalweg.trials.store.trial_store import TrialStore

POINTS = "points.parquet"
TEXT = "="
"""What the column with the texts of an axis begins with."""


@dataclass
class Store(TrialStore):
    """The store of a sweep, open for writing."""

    _document: dict[str, Any] = field(default_factory=dict, repr=False)

    def write(self, rows: Rows) -> None:
        """Writes rows, all with the same columns into one file. Raises RequestError."""
        for frame in rows.frames():
            self.write_frame(frame)

    def write_points(self, points: pl.DataFrame, wall_s: float = 0.0, core_s: float = 0.0) -> None:
        """Writes the points of the plan, and the document once more: the store is whole. Raises RequestError.

        `wall_s` and `core_s` are the times of the run that ends.
        """
        with whole_file(self.folder / POINTS) as partial:
            points.write_parquet(partial)
        is_inline = self._document["reference"] == str(self.folder / INLINE)
        names = [POINTS, *([INLINE] if is_inline else [])]
        hashes = {name: hash_of(self.folder / name) for name in names}
        times = {"wall_s": round(wall_s, 3), "core_s": round(core_s, 3)}
        self._write({**self._document, **times, "hashes": hashes})

    def write_scenario(self, text: bytes) -> None:
        """Writes the plan's own scenario. Raises RequestError."""
        with whole_file(self.folder / INLINE) as partial:
            partial.write_bytes(text)

    def write_document(self, document: dict[str, Any]) -> None:
        """Writes what is known of the sweep; points that belong to an earlier one go. Raises RequestError."""
        try:
            (self.folder / POINTS).unlink(missing_ok=True)
        except OSError as error:
            raise RequestError(f"cannot remove {self.folder / POINTS}: {error.strerror}") from None
        self._document = document
        self._write(document)

    def _write(self, document: dict[str, Any]) -> None:
        with whole_file(self.folder / DOCUMENT) as partial:
            partial.write_text(sealed(json.dumps(document, indent=2) + "\n"), encoding="utf-8")


def own_files(folder: Path) -> list[Path]:
    """The files of the store in a folder, those that are not there yet too."""
    trials = (file for file in (folder / TRIALS).rglob("*") if file.is_file())
    return [folder / DOCUMENT, folder / POINTS, folder / INLINE, *trials]


@contextmanager
def held(folder: Path, writes: Sequence[str]) -> Iterator[None]:
    """Holds a folder for the trials of some engines, for one process at a time.

    Raises RequestError if it holds something else, or a link where a store writes.
    """
    with reserve(folder, "sweep", lambda *_: (), homes_of_trials(*writes)):
        for name in (DOCUMENT, INLINE):
            if (folder / name).is_symlink():
                raise RequestError(f"{folder / name} is a link; accepted: a file, or none")
        yield


@contextmanager
def opened(folder: Path, plan: Plan) -> Iterator[Store]:
    """The store in a folder, for one process at a time. Raises RequestError, also if it is of another sweep."""
    engine = _native.engine()
    with held(folder, [engine]):
        document = read_head(folder) if (folder / DOCUMENT).exists() else None
        if document is not None and document["name"] != plan.base.name:
            raise RequestError(
                f"{folder} holds a sweep of {document['name']!r}, the plan is of {plan.base.name!r}; "
                "use another folder"
            )
        store = Store(folder, engine)
        store.load()
        yield store
