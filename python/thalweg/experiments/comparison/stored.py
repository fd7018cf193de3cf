"""Stored studies side by side: the numbers of their rows, and by what share they differ.

Rows belong together that say the same in words: a study names its cells by controllers, queues and the like. Rows
that say the same in words are distinguished by their position.

A difference of two such numbers has no interval, and proves nothing. What differs is told by the values of trials,
where a study has stored them: the medians of each cell and measure are compared as in suites, in pairs
where both have the same seeds, and all of them are one family (`statistics.discovery`).

Limits: a measure that some trial does not define is not compared; one that each trial of a defines and none of b
is named (`lost`). What a study claims is in its checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from thalweg.base.errors import ResultError
from thalweg.base.files.document import check, read_hashes, table
from thalweg.base.files.folder import find_file
from thalweg.base.files.regular_file import read_regular
from thalweg.base.files.seal import check_file
from thalweg.base.files.stored import document_in
from thalweg.experiments.studies.runner.folder import TRIALS
from thalweg.judging.answer import Comparison, decided
from thalweg.judging.statistics.differences import Difference as Differs
from thalweg.judging.statistics.differences import of_all, sharper
from thalweg.judging.statistics.discovery import RATE, discoveries
from thalweg.judging.statistics.interval import Values, finite
from thalweg.judging.statistics.quantiles import median

if TYPE_CHECKING:
    import numpy.typing as npt


_LARGEST = 32 << 20
"""Bytes of a scenario, which may have its traces in it."""
Row = Mapping[str, Any]
_Sample: TypeAlias = "tuple[npt.NDArray[np.int64], Values]"
"""Seeds and values."""
Samples = Mapping[tuple[str, str], _Sample]
"""By cell and measure."""


@dataclass(frozen=True)
class StoredStudy:
    """What a folder says about a study."""

    folder: Path
    name: str
    version: str
    rows: list[Row]
    samples: Callable[[], Samples] | None = None
    """Reads the values of all trials, if they are stored. Raises ResultError."""
    seeds: range = range(0)
    """Seeds of the trials of each cell."""
    files: Sequence[str] = ()
    """What belongs to it, by names below the folder."""

    def scenarios(self) -> dict[str, str]:
        """The scenarios that ran, by their names. Raises RequestError."""
        found = {}
        for name in self.files:
            file = PurePath(name)
            if file.suffix == ".toml" and (where := find_file(self.folder, file)) is not None:
                found[file.stem] = read_regular(where, _LARGEST, "a scenario").decode(errors="replace")
        return found

    @staticmethod
    def load(folder: Path) -> StoredStudy:
        """Reads a stored study, whose trials are as they were written.

        Raises ResultError, and RequestError as `find_file` does.
        """
        file, document = document_in(folder, "study")
        check(file, "", document, {"rows": (list,), "files": (list,)})
        rows = document["rows"]
        for number, row in enumerate(rows):
            table(file, f"rows.{number}", row)
        hashes, trials = read_hashes(file, document), find_file(folder, f"{TRIALS}.parquet")
        if trials is not None and hashes is not None:
            check_file(trials, hashes, trials.name, "Run the study again")
        samples = None if trials is None else partial(_samples, trials)
        seeds = range(document["seed"], document["seed"] + document["trials"])
        files = [name for name in document["files"] if isinstance(name, str)]
        return StoredStudy(folder, str(document["name"]), document["version"], rows, samples, seeds, files)


@dataclass(frozen=True)
class Difference:
    """One number in both studies."""

    row: str
    """What the row says in words."""
    column: str
    a: float | None
    b: float | None

    @property
    def change(self) -> float | None:
        """By what share b is larger than a; None where one is missing, or a is 0."""
        if self.a is None or self.b is None or self.a == 0:
            return None
        return (self.b - self.a) / abs(self.a)

    def is_beyond(self, margin: float) -> bool:
        """Whether both differ by more than a share of a; a number that one of them lacks differs."""
        if self.change is None:
            return self.a != self.b
        return abs(self.change) > margin

    def document(self) -> dict[str, Any]:
        """This difference as JSON."""
        return {"row": self.row, "column": self.column, "a": self.a, "b": self.b, "change": self.change}


@dataclass(frozen=True)
class Measure:
    """A measure of one cell in both studies, by its trials."""

    cell: str
    name: str
    difference: Differs
    comparison: Comparison
    """Which `differs` or is undecided: studies do not say which end of a measure is better."""

    @property
    def differs(self) -> bool:
        """Whether trials tell a difference beyond the margin."""
        return self.comparison.answer == "differs"

    def document(self) -> dict[str, Any]:
        """This measure as JSON."""
        about = {"cell": self.cell, "measure": self.name}
        return {**about, **self.comparison.document(), "p_differs": self.difference.p_differs}


def compare_trials(a: StoredStudy, others: Sequence[StoredStudy], margin: float) -> list[list[Measure]]:
    """The measures that a shares with each of the others; the margin is a share of the median of a.

    All are one family: where nothing differs, at most one command in twenty says that something does.
    """
    return judge_trials(_read(a), [_read(other) for other in others], margin)


def judge_trials(of_a: Samples, others: Sequence[Samples], margin: float) -> list[list[Measure]]:
    """The same of trials, by cell and measure."""
    each = [
        [
            _measure(key, a, of_b[key], margin)
            for key, a in of_a.items()
            if key in of_b and _is_defined(a, of_b[key])
        ]
        for of_b in others
    ]
    chances = [one.difference.p_differs for measures in each for one in measures]
    differing = iter(discoveries(chances))
    return [[_decided(one, next(differing), len(chances)) for one in measures] for measures in each]


def lost(a: StoredStudy, b: StoredStudy) -> list[str]:
    """The measures that each trial of a defines, and none of b, in words."""
    of_b = _read(b)
    return [
        f"{cell} {measure}"
        for (cell, measure), (_, values) in _read(a).items()
        if not np.isnan(values).any() and ((cell, measure) not in of_b or np.isnan(of_b[cell, measure][1]).all())
    ]


def _read(study: StoredStudy) -> Samples:
    assert study.samples is not None
    return study.samples()


def undecided(compared: Sequence[Sequence[Measure]]) -> int:
    """How many measures so few trials could not tell apart in so large a family, however much they differed."""
    family = sum(map(len, compared))
    return sum(
        not one.differs and 2 * one.difference.p_least > RATE / family for measures in compared for one in measures
    )


def _measure(key: tuple[str, str], a: _Sample, b: _Sample, margin: float) -> Measure:
    (seeds_a, of_a), (seeds_b, of_b) = a, b
    of = (median(of_a), median(of_b))
    size = margin * abs(of[0]) if math.isfinite(of[0]) else 0.0
    same = np.array_equal(seeds_a, seeds_b)
    found, is_paired = sharper(of_a, of_b, size) if same else (of_all(of_a, of_b, size), False)
    return Measure(*key, found, Comparison("undecided", *of, found.interval, size, is_paired, family=1))


def _decided(one: Measure, is_found: bool, family: int) -> Measure:
    """A measure with the answer that it has in its family."""
    compared = one.comparison
    interval, margin = compared.difference, compared.margin
    answer = decided(interval.low, interval.high, margin, "lower")
    if answer != "alike":
        answer = "differs" if is_found and answer != "undecided" else "undecided"
    return replace(one, comparison=replace(compared, answer=answer, family=family))


def _is_defined(a: _Sample, b: _Sample) -> bool:
    return not (np.isnan(a[1]).any() or np.isnan(b[1]).any())


def _samples(file: Path) -> Samples:
    """The trials of each cell and measure in a table. Raises ResultError."""
    try:
        table = pl.read_parquet(file)
        columns = table.select(
            pl.col("cell").cast(pl.String),
            pl.col("measure").cast(pl.String),
            pl.col("seed").cast(pl.Int64),
            pl.col("value").cast(pl.Float64),
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ResultError(f"{file}: this is not a table of trials: {error}") from None
    parts = columns.partition_by("cell", "measure", as_dict=True, maintain_order=True)
    return {
        (str(cell), str(measure)): (part["seed"].to_numpy(), part["value"].to_numpy())
        for (cell, measure), part in parts.items()
    }


def compare_studies(a: StoredStudy, b: StoredStudy) -> list[Difference]:
    """Every number of the rows that both have. Raises ResultError if they are of two studies, or share no row."""
    if a.name != b.name:
        raise ResultError(
            f"{a.folder} is of the study {a.name}, {b.folder} of {b.name}; both must be of one study"
        )
    others = dict(_named(b.rows))
    found = [
        Difference(name, column, _number(value), _number(others[name].get(column)))
        for name, row in _named(a.rows)
        if name in others
        for column, value in row.items()
        if _number(value) is not None or _number(others[name].get(column)) is not None
    ]
    if not found:
        raise ResultError(f"{a.folder} and {b.folder} have no row in common")
    return found


def missing_rows(a: StoredStudy, b: StoredStudy) -> list[str]:
    """The rows of a that b lacks, in words."""
    others = dict(_named(b.rows))
    return [name for name, _ in _named(a.rows) if name not in others]


def _named(rows: list[Row]) -> Iterator[tuple[str, Row]]:
    """Each row under its words, with a number where they come again."""
    count: dict[str, int] = {}
    for row in rows:
        words = ", ".join(value for value in row.values() if isinstance(value, str)) or "row"
        count[words] = count.get(words, 0) + 1
        yield (words if count[words] == 1 else f"{words} ({count[words]})"), row


def _number(value: Any) -> float | None:
    """A value as a number; None if it is none, is not finite, or is larger than a float holds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON knows no largest whole number
        return None
    return finite(number)
