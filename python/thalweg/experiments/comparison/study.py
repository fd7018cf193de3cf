"""A stored study, or a score, as `compare` reads it: the values of its trials, and the numbers of its rows.

The values of each cell and measure are compared as the criteria of a suite are. A study does not say which end of
a measure is better: it differs.

Rows belong together that say the same in words: a study names its cells by controllers, queues and the like. Rows
that say the same in words are distinguished by their position. A difference of two such numbers has no interval,
and proves nothing.

Limits: a measure that some trial does not define is not compared; one that each trial of a defines, and trials of
b do not more often than chance allows, is named (`lacking`). What a study claims is in its checks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from thalweg.base.errors import ResultError
from thalweg.base.files.document import check, read_hashes, table
from thalweg.base.files.folder import find_file
from thalweg.base.files.regular_file import read_regular
from thalweg.base.files.seal import check_file
from thalweg.base.files.stored import document_in
from thalweg.experiments.comparison.side import Change, Samples, Side
from thalweg.experiments.studies.runner.folder import TRIALS
from thalweg.judging.comparison.row import Row, compare_samples, judge
from thalweg.judging.comparison.sample import Compared, Sample, undefined
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import finite
from thalweg.judging.statistics.rates import chance_of_more

_LARGEST = 32 << 20
"""Bytes of a scenario, which may have its traces in it."""
Numbers = Mapping[str, Any]
"""A row of a table."""


@dataclass(frozen=True)
class StoredStudy(Side):
    """What a folder says about a study."""

    kind = "study"
    knows_better = False
    is_short = False
    name: str
    table: list[Numbers]
    """Its rows."""
    files: Sequence[str]
    """What belongs to it, by names below the folder."""
    n: int
    """Trials of each cell."""
    trials: Path | None
    """The values of all trials, if they are stored."""

    @property
    def has_trials(self) -> bool:
        """Whether values of trials are stored."""
        return self.trials is not None

    @property
    def seeds(self) -> range:
        """Seeds of the trials of each cell."""
        return range(self.seed, self.seed + self.n)

    @property
    def about(self) -> str:
        """Which study it is."""
        return f"{self.name}, version {self.version}"

    @cached_property
    def _samples(self) -> Samples:
        return {} if self.trials is None else samples_of(self.trials)

    def samples(self) -> Samples:
        """Each measure of each cell."""
        return self._samples

    def rows(self, b: StoredStudy, margin: float, *, of_a: bool = False) -> list[Row]:
        """Each measure that all trials of both define."""
        self._check_same(b)
        return judge(compare_trials(self.samples(), b.samples(), margin, of_a=of_a))

    def lacking(self, b: StoredStudy) -> list[str]:
        """The rows that b lacks, and the measures that its trials do not define."""
        others = dict(_named(b.table))
        rows = [name for name, _ in _named(self.table) if name not in others]
        return rows + (lost(self.samples(), b.samples()) if b.has_trials else [])

    def numbers(self, b: StoredStudy) -> list[Change]:
        """Every number of the rows that both have. Raises RequestError if they share no row."""
        others = dict(_named(b.table))
        found = [
            Change(name, column, _number(value), _number(others[name].get(column)))
            for name, row in _named(self.table)
            if name in others
            for column, value in row.items()
            if _number(value) is not None or _number(others[name].get(column)) is not None
        ]
        if not found:
            raise ResultError(f"{self.folder} and {b.folder} have no row in common")
        return found

    def _check_same(self, b: StoredStudy) -> None:
        if self.name != b.name:
            raise ResultError(
                f"{self.folder} is of the study {self.name}, {b.folder} of {b.name}; both must be of one study"
            )

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
        files = [name for name in document["files"] if isinstance(name, str)]
        version, seed, n = (document[key] for key in ("version", "seed", "trials"))
        return StoredStudy(folder, version, seed, str(document["name"]), rows, files, n, trials)


def compare_trials(a: Samples, b: Samples, margin: float, *, of_a: bool = False) -> list[Row]:
    """The numbers that each trial of both defines, by cell; `row.judge` and `worse.find_worse` answer."""
    return [
        compare_samples(cell, sample, b[cell, subject], margin, of_a=of_a)
        for (cell, subject), sample in a.items()
        if (cell, subject) in b and not (undefined(sample) or undefined(b[cell, subject]))
    ]


def lost(a: Samples, b: Samples) -> list[str]:
    """The numbers that each trial of a defines, and trials of b do not more often than chance allows, in words.

    Fisher's exact test, of all these numbers as one family (Bonferroni). A cell that b lacks is not named by its
    numbers.
    """
    cells = {cell for cell, _ in b}
    own = {key: one for key, one in a.items() if key[0] in cells and not undefined(one)}
    return [" ".join(key) for key, one in own.items() if _is_lost(one, b.get(key), len(own))]


def _is_lost(a: Compared, b: Compared | None, family: int) -> bool:
    if b is None or (gone := undefined(b)) == len(b.values):
        return True
    return gone > 0 and chance_of_more(0, len(a.values), gone, len(b.values)) <= RATE / family


def samples_of(file: Path) -> Samples:
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
    keys = columns.select("cell", "measure", "seed")
    if keys.is_duplicated().any() or keys.null_count().sum_horizontal().item():
        raise ResultError(f"{file}: a seed comes twice or is missing; accepted: a table as it was written")
    parts = columns.partition_by("cell", "measure", as_dict=True, maintain_order=True)
    return {
        (str(cell), str(measure)): Sample(str(measure), part.select("seed", pl.col("value").fill_null(math.nan)))
        for (cell, measure), part in parts.items()
    }


def _named(rows: list[Numbers]) -> Iterator[tuple[str, Numbers]]:
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
