"""The store of a sweep: the trials that there are, by what they are and not by which plan asked for them.

    sweep.json                          the plan, its axes and flows, the engine that ran last, hashes of files
    points.parquet                      the points of the plan: values, and the hash that their trials have
    scenario.toml                       the scenario, where the plan itself has it, with its traces
    trials/<engine>/000001-<hash>.parquet   rows of `table.py`; each file is written whole (`trial_files.py`)

A trial is known by the hash of its point, its seed and the engine, so that a sweep that was stopped, or whose plan
has grown, runs only what is not here. Trials of another engine stay where they are and are never read with others.
A file grows until a hundredth of the run, but at least a second, is in it: a killed run loses no more, and a long
one has some hundred files.

`sweep.json` is written first, and again with the hashes when all other files are there: a store whose document has
none was stopped before, and its sweep is run again.
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
from thalweg.base.files.folder import reserve
from thalweg.base.files.whole_file import whole_file
from thalweg.experiments.sweep.head import DOCUMENT, read_head
from thalweg.experiments.sweep.plan import INLINE, Plan
from thalweg.experiments.sweep.table import Rows
from thalweg.experiments.sweep.trial_files import (
    KEY,
    TRIALS,
    key_schema,
    next_number,
    read,
    scan,
    trial_files,
    write_trials,
)
from thalweg.results.seal import hash_of, sealed

POINTS = "points.parquet"
TEXT = "="
"""What the column with the texts of an axis begins with."""


@dataclass
class Store:
    """A folder with trials, open for writing."""

    folder: Path
    engine: str
    """Of the trials that are read and written."""
    _known: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=key_schema()), repr=False)
    _next: int = 1
    _document: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def height(self) -> int:
        """Trials of this engine, those that are not yet written included."""
        return self._known.height

    def seeds(self, points: Sequence[str]) -> dict[str, set[int]]:
        """Which trials of these points there are."""
        found = self._known.filter(pl.col("point").is_in(points)).group_by("point").agg("seed")
        return {point: set(seeds) for point, seeds in found.iter_rows()}

    def know(self, points: Sequence[str], seeds: Sequence[int]) -> None:
        """Trials that have been played and will be written."""
        self._known = self._known.vstack(pl.DataFrame({"point": points, "seed": seeds}, schema=key_schema()))

    def write(self, rows: Rows) -> None:
        """Writes rows, all with the same columns into one file. Raises RequestError."""
        for frame in rows.frames():
            self.write_frame(frame)

    def write_frame(self, frame: pl.DataFrame) -> None:
        """Writes one file of rows, whole or not at all. Raises RequestError."""
        home = self.folder / TRIALS / self.engine
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RequestError(f"cannot write {home}: {error.strerror}") from None
        write_trials(home, self._next, frame)
        self._next += 1

    def write_points(self, points: pl.DataFrame) -> None:
        """Writes the points of the plan, and the document once more: the store is whole. Raises RequestError."""
        with whole_file(self.folder / POINTS) as partial:
            points.write_parquet(partial)
        is_inline = self._document["reference"] == str(self.folder / INLINE)
        names = [POINTS, *([INLINE] if is_inline else [])]
        self._write({**self._document, "hashes": {name: hash_of(self.folder / name) for name in names}})

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

    def load(self) -> None:
        """Reads which trials there are. Raises ResultError."""
        files = trial_files(self.folder, self.engine)
        self._next = next_number(files)
        self._known = read(self.folder / TRIALS / self.engine, scan(files).select([*KEY]))

    def _write(self, document: dict[str, Any]) -> None:
        with whole_file(self.folder / DOCUMENT) as partial:
            partial.write_text(sealed(json.dumps(document, indent=2) + "\n"), encoding="utf-8")


@contextmanager
def held(folder: Path, writes: Sequence[str]) -> Iterator[None]:
    """Holds a folder for the trials of some engines, for one process at a time.

    Raises RequestError if it holds something else, or a link where a store writes.
    """
    homes = [TRIALS, *(f"{TRIALS}/{engine}" for engine in writes)]
    with reserve(folder, DOCUMENT, "sweep", lambda _: (), homes):
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
        if document is not None and document["scenario"] != plan.base.name:
            raise RequestError(
                f"{folder} holds a sweep of {document['scenario']!r}, the plan is of {plan.base.name!r}; "
                "accepted: another folder"
            )
        store = Store(folder, engine)
        store.load()
        yield store
