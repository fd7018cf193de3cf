"""The store of a sweep: the trials that there are, by what they are and not by which plan asked for them.

    sweep.json                          the plan, its axes and flows, and the engine that ran last
    points.parquet                      the points of the plan: values, and the hash that their trials have
    scenario.toml                       the scenario, where the plan itself has it, with its traces
    trials/<engine>/000001.parquet      rows of `table.py`; each file is written whole

A trial is known by the hash of its point, its seed and the engine, so that a sweep that was stopped, or whose plan
has grown, runs only what is not here. Trials of another engine stay where they are and are never read with others.
A file grows until a hundredth of the run, but at least a second, is in it: a killed run loses no more, and a long
one has some hundred files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.errors import RequestError, ResultError
from thalweg.store.folder import reserve
from thalweg.store.whole_file import whole_file
from thalweg.sweep.head import DOCUMENT, read_head
from thalweg.sweep.plan import INLINE, Plan
from thalweg.sweep.table import OF_ALL, Rows

POINTS = "points.parquet"
TEXT = "="
"""What the column with the texts of an axis begins with."""
_TRIALS = "trials"
_KNOWN = {name: OF_ALL[name] for name in ("point", "seed")}
"""The columns that tell trials apart."""


@dataclass
class Store:
    """A folder with trials, open for writing."""

    folder: Path
    engine: str
    """Of the trials that are read and written."""
    _known: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_KNOWN), repr=False)
    _next: int = 1

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
        self._known = self._known.vstack(pl.DataFrame({"point": points, "seed": seeds}, schema=_KNOWN))

    def write(self, rows: Rows) -> None:
        """Writes rows, all with the same columns into one file. Raises RequestError."""
        for frame in rows.frames():
            self.write_frame(frame)

    def write_frame(self, frame: pl.DataFrame) -> None:
        """Writes one file of rows, whole or not at all. Raises RequestError."""
        home = self.folder / _TRIALS / self.engine
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RequestError(f"cannot write {home}: {error.strerror}") from None
        with whole_file(home / f"{self._next:06d}.parquet") as partial:
            frame.write_parquet(partial)
        self._next += 1

    def write_points(self, points: pl.DataFrame) -> None:
        """Writes the points of the plan. Raises RequestError."""
        with whole_file(self.folder / POINTS) as partial:
            points.write_parquet(partial)

    def write_scenario(self, text: bytes) -> None:
        """Writes the plan's own scenario. Raises RequestError."""
        with whole_file(self.folder / INLINE) as partial:
            partial.write_bytes(text)

    def write_document(self, document: dict[str, Any]) -> None:
        """Writes what is known of the sweep; points that belong to an earlier one go. Raises RequestError."""
        (self.folder / POINTS).unlink(missing_ok=True)
        with whole_file(self.folder / DOCUMENT) as partial:
            partial.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")

    def load(self) -> None:
        """Reads which trials there are. Raises ResultError."""
        files = trial_files(self.folder, self.engine)
        self._next = int(files[-1].stem) + 1 if files else 1
        self._known = read(files, lambda found: found.select([*_KNOWN]), _KNOWN)


@contextmanager
def held(folder: Path, writes: Sequence[str]) -> Iterator[None]:
    """Holds a folder for the trials of some engines, for one process at a time.

    Raises RequestError if it holds something else, or a link where a store writes.
    """
    homes = [_TRIALS, *(f"{_TRIALS}/{engine}" for engine in writes)]
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


def engines(folder: Path) -> list[str]:
    """Engines that trials in a folder were run with."""
    home = folder / _TRIALS
    return sorted(entry.name for entry in home.iterdir() if entry.is_dir()) if home.is_dir() else []


def trial_files(folder: Path, engine: str) -> list[Path]:
    """The files with trials of an engine, in the order in which they were written."""
    return sorted(file for file in (folder / _TRIALS / engine).glob("[0-9]*.parquet") if file.stem.isdigit())


def read(
    files: Sequence[Path], query: Callable[[pl.LazyFrame], pl.LazyFrame], schema: dict[str, Any] | None = None
) -> pl.DataFrame:
    """What a query finds in all files; `schema` is that of no files. Raises ResultError."""
    if not files:
        return pl.DataFrame(schema=schema)
    try:
        return query(scan(files)).collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ResultError(_damaged(files, error)) from None


def scan(files: Sequence[Path]) -> pl.LazyFrame:
    """All rows of some files; a column that a file lacks is null there. Raises ResultError."""
    groups: dict[tuple[tuple[str, Any], ...], list[Path]] = {}
    for file in files:
        try:
            groups.setdefault(tuple(pl.read_parquet_schema(file).items()), []).append(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ResultError(_damaged([file], error)) from None
    scans = [pl.scan_parquet(group, glob=False) for group in groups.values()]
    return scans[0] if len(scans) == 1 else pl.concat(scans, how="diagonal_relaxed")


def _damaged(files: Sequence[Path], error: Exception) -> str:
    where = files[0] if len(files) == 1 else files[0].parent
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return (
        f"{where}: the store is damaged: {reason}; remove the file and run the sweep again: its trials run again"
    )
