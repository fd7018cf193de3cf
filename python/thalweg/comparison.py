"""Two results side by side, criterion by criterion.

Where both ran the same seeds, trials are compared in pairs: a path does the same in both, whatever the
controllers do. Where pairs tell little, because the trials part ways soon after their start, or where there are
none, all trials of one are compared with all of the other; `statistics.differences` says which is sharper. A
trial that did not finish is infinite in both: it is kept, and worse than all that finished.

A difference has to be larger than a margin, by default 1 % of the smaller median: significance is not size. With
many criteria some would differ by chance; the answers keep the false discovery rate at 5 % over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from thalweg.errors import RequestError
from thalweg.outcome import Outcomes
from thalweg.statistics.differences import (
    Difference,
    in_pairs,
    of_all,
    pairs_are_sharper,
    rank_correlation,
    subtract,
)
from thalweg.statistics.discovery import discoveries
from thalweg.statistics.interval import Values
from thalweg.store.results import SuiteResult
from thalweg.verdict import Statistics, values_of

MARGIN = 0.01
"""Of the smaller median; smaller differences do not count."""
Told = Literal["B is larger", "B is smaller", "alike", "not told apart"]


@dataclass(frozen=True)
class Paired:
    """Differences b - a of trials with the same seed."""

    n: int
    b_better: int
    """Pairs in which b has the smaller value."""
    ties: int
    """Pairs in which both have the same value, or neither finished."""
    rank_correlation: float
    """Of the values of a and of b; 0 if pairing tells nothing."""
    difference: Difference

    def document(self) -> dict[str, Any]:
        """These pairs as JSON."""
        return {
            "n": self.n,
            "b_better": self.b_better,
            "ties": self.ties,
            "rank_correlation": round(self.rank_correlation, 3),
            **_numbers(self.difference),
        }


@dataclass(frozen=True)
class Row:
    """One criterion in both results."""

    scenario: str
    a: Statistics
    b: Statistics
    paired: Paired | None
    """None without common seeds."""
    unpaired: Difference
    """Of all trials of b less all of a."""
    pairs_are_sharper: bool
    margin: float
    """In the unit of the criterion."""
    told: Told = "not told apart"

    @property
    def sharper(self) -> Difference:
        """The difference of which the trials tell more."""
        return self.paired.difference if self.paired and self.pairs_are_sharper else self.unpaired

    def document(self) -> dict[str, Any]:
        """This row as JSON."""
        return {
            "scenario": self.scenario,
            "flow": self.a.flow,
            "stream": self.a.stream,
            "metric": self.a.metric,
            "unit": self.a.unit,
            "a": self.a.document(),
            "b": self.b.document(),
            "paired": self.paired.document() if self.paired else None,
            "unpaired": _numbers(self.unpaired),
            "sharper": "paired" if self.paired and self.pairs_are_sharper else "unpaired",
            "margin": self.margin,
            "p_differs": self.sharper.p_differs,
            "told": self.told,
        }


def compare_results(a: SuiteResult, b: SuiteResult, margin: float = MARGIN) -> list[Row]:
    """Every criterion that both results have. Raises RequestError if there is none."""
    others = {outcomes.scenario.name: outcomes for outcomes in b.outcomes}
    rows = []
    for one in a.outcomes:
        other = others.get(one.scenario.name)
        if other is not None:
            rows += _rows(one, other, margin)
    if not rows:
        raise RequestError(f"{a.folder} and {b.folder} have no scenario with the same criterion in common")
    return judge(rows)


def judge(rows: Sequence[Row]) -> list[Row]:
    """Says which rows differ, so that at most one in twenty of those that are said to differs by chance."""
    found = discoveries([row.sharper.p_differs for row in rows])
    return [replace(row, told=_told(row, differs)) for row, differs in zip(rows, found, strict=True)]


def shared_seeds(a: SuiteResult, b: SuiteResult) -> int:
    """How many trials of b repeat trials of a although the two began from different seeds."""
    if a.seed == b.seed:
        return 0
    others = {outcomes.scenario.name: outcomes for outcomes in b.outcomes}
    common = [
        len(set(one.trials["seed"]) & set(others[one.scenario.name].trials["seed"]))
        for one in a.outcomes
        if one.scenario.name in others
    ]
    return max(common, default=0)


def _rows(a: Outcomes, b: Outcomes, margin: float) -> list[Row]:
    found: dict[str, tuple[Statistics, Values, pl.DataFrame]] = {}
    for statistics, values in _measured(b):
        found.setdefault(statistics.subject, (statistics, values["value"].to_numpy(), values))
    rows, seen = [], set()
    for statistics, values in _measured(a):
        key = statistics.subject
        if key not in found or key in seen:
            continue
        seen.add(key)
        other, of_b, table = found[key]
        of_a = values["value"].to_numpy()
        medians = [one for one in (statistics.median, other.median) if math.isfinite(one)]
        size = margin * abs(min(medians, default=0.0))
        paired = _pair(values, table, size)
        correlation = paired.rank_correlation if paired else 0.0
        sharper = paired is not None and pairs_are_sharper(correlation, paired.n, len(of_a), len(of_b))
        unpaired = of_all(of_a, of_b, size, correlation=correlation)
        rows.append(Row(a.scenario.name, statistics, other, paired, unpaired, sharper, size))
    return rows


def _measured(outcomes: Outcomes) -> list[tuple[Statistics, pl.DataFrame]]:
    """The criteria of a scenario, each with seed and value of all trials."""
    criteria = outcomes.scenario.criteria
    return [
        (statistics, values_of(criterion, outcomes.flows, outcomes.scenario.starts_s))
        for criterion, statistics in zip(criteria, outcomes.verdict().criteria, strict=True)
    ]


def _pair(a: pl.DataFrame, b: pl.DataFrame, margin: float) -> Paired | None:
    pairs = a.select("seed", pl.col("value").alias("a")).join(
        b.select("seed", pl.col("value").alias("b")), on="seed", how="inner", maintain_order="left"
    )
    if pairs.is_empty():
        return None
    left, right = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    differences = subtract(right, left)
    return Paired(
        n=len(differences),
        b_better=int(np.count_nonzero(differences < 0)),
        ties=int(np.count_nonzero(differences == 0)),
        rank_correlation=rank_correlation(left, right),
        difference=in_pairs(left, right, margin),
    )


def _told(row: Row, differs: bool) -> Told:
    interval = row.sharper.interval
    if differs and interval.low > row.margin:
        return "B is larger"
    if differs and interval.high < -row.margin:
        return "B is smaller"
    return "alike" if -row.margin <= interval.low and interval.high <= row.margin else "not told apart"


def _numbers(difference: Difference) -> dict[str, float | None]:
    interval = difference.interval
    low, high = interval.document()
    value = interval.value if math.isfinite(interval.value) else None
    return {"median_difference": value, "low95": low, "high95": high}
