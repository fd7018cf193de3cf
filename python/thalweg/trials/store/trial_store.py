"""The trials in a folder, by what they are and not by which experiment asked for them.

    trials/<engine>/000001-<hash>.parquet   rows; each file is written whole (`trial_files.py`)

A trial is known by the fingerprint of its scenario (`Scenario.fingerprint`), its seed and the engine. Trials of
another engine stay where they are and are never read with others. Whoever opens a store holds its folder
(`base/files/folder.py`): one process at a time writes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.folder import TRIALS
from thalweg.trials.store.trial_files import (
    KEY,
    TEXT,
    key_schema,
    next_number,
    read,
    scan,
    schema_of,
    trial_files,
    write_trials,
)


@dataclass
class TrialStore:
    """A folder with trials of one engine, open for writing."""

    has_texts: ClassVar[bool] = False
    """Whether its rows are outcomes as text, as of suites, studies, scores and hunts, or the columns of sweeps."""

    folder: Path
    engine: str
    """The engine of the trials that are read and written."""
    files: list[Path] = field(default_factory=list, repr=False)
    """The files that were there when it was read."""
    _known: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=key_schema()), repr=False)
    _next: int = 1

    @property
    def home(self) -> Path:
        """Where its files are."""
        return self.folder / TRIALS / self.engine

    @property
    def height(self) -> int:
        """Trials of this engine, those that are not yet written included."""
        return self._known.height

    def load(self) -> None:
        """Reads which trials there are. Raises ResultError."""
        self.files = trial_files(self.folder, self.engine)
        for file in self.files:
            if (TEXT in schema_of(file)) != self.has_texts:
                others = "a sweep" if self.has_texts else "a suite, a study, a score or a hunt"
                raise ResultError(f"{self.folder} holds trials of {others}; choose another folder")
        self._next = next_number(self.files)
        self._known = read(self.home, scan(self.files).select([*KEY]))

    def seeds(self, points: Sequence[str]) -> dict[str, set[int]]:
        """Which trials of these scenarios there are, by their fingerprints."""
        found = self._known.filter(pl.col("point").is_in(points)).group_by("point").agg("seed")
        return {point: set(seeds) for point, seeds in found.iter_rows()}

    def know(self, points: Sequence[str], seeds: Sequence[int]) -> None:
        """Trials that have been played and will be written."""
        self._known = self._known.vstack(pl.DataFrame({"point": points, "seed": seeds}, schema=key_schema()))

    def write_frame(self, frame: pl.DataFrame) -> None:
        """Writes one file of rows, whole or not at all. Raises RequestError."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RequestError(f"cannot write {self.home}: {error.strerror}") from None
        write_trials(self.home, self._next, frame)
        self._next += 1
