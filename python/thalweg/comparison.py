"""Two results side by side, criterion by criterion.

Where both ran the same seeds, trials are compared in pairs: a path does the same in both, whatever the
controllers do, so a difference within a pair is due to what was changed. The confidence interval of the
median difference is the one of the sign test: order statistics of the differences, without any
assumption on their distribution.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from thalweg.errors import RequestError
from thalweg.outcome import Outcomes
from thalweg.results import SuiteResult
from thalweg.verdict import Statistics, percentile


@dataclass(frozen=True)
class Paired:
    """Differences b - a of trials with the same seed in which both finished."""

    n: int
    b_better: int
    """Pairs in which b has the smaller value."""
    median_difference: float
    low95: float | None
    high95: float | None
    """Bounds of the median difference; None with too few pairs for 95 %."""


@dataclass(frozen=True)
class Row:
    """One criterion in both results."""

    scenario: str
    a: Statistics
    b: Statistics
    paired: Paired | None

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
            "paired": asdict(self.paired) if self.paired else None,
        }


def compare_results(a: SuiteResult, b: SuiteResult) -> list[Row]:
    """Every criterion that both results have. Raises RequestError if there is none."""
    others = {outcomes.scenario.name: outcomes for outcomes in b.outcomes}
    rows = []
    for one in a.outcomes:
        other = others.get(one.scenario.name)
        if other is not None:
            rows += _rows(one, other)
    if not rows:
        raise RequestError(f"{a.folder} and {b.folder} have no scenario with the same criterion in common")
    return rows


def _rows(a: Outcomes, b: Outcomes) -> list[Row]:
    found: dict[str, Statistics] = {}
    for statistics in b.verdict().criteria:
        found.setdefault(statistics.subject, statistics)
    rows, seen = [], set()
    for statistics in a.verdict().criteria:
        key = statistics.subject
        if key in found and key not in seen:
            seen.add(key)
            rows.append(Row(a.scenario.name, statistics, found[key], _pair(a, b, statistics, found[key])))
    return rows


def _pair(a: Outcomes, b: Outcomes, of_a: Statistics, of_b: Statistics) -> Paired | None:
    left = _values(a, of_a).rename({"value": "a"})
    pairs = left.join(_values(b, of_b).rename({"value": "b"}), on="seed", how="inner").drop_nulls()
    pairs = pairs.filter(pl.col("a").is_finite() & pl.col("b").is_finite())
    if pairs.is_empty():
        return None
    differences = np.sort((pairs["b"] - pairs["a"]).to_numpy())
    n = len(differences)
    from scipy.special import bdtr  # noqa: PLC0415 - as in `verdict.rate_upper_bound`

    # The sign test: the median lies between order statistics k and n-1-k unless fewer than k+1 of n fair
    # coins fall on one side; the largest k for which that has a chance of at most 2.5 % on each side.
    tails = bdtr(np.arange(n), n, 0.5)
    k = int(np.searchsorted(tails, 0.025)) - 1
    return Paired(
        n=n,
        b_better=int(np.count_nonzero(differences < 0)),
        median_difference=percentile(differences, 0.5),
        low95=float(differences[k]) if k >= 0 else None,
        high95=float(differences[n - 1 - k]) if k >= 0 else None,
    )


def _values(outcomes: Outcomes, statistics: Statistics) -> pl.DataFrame:
    rows = outcomes.flows.filter(pl.col("flow") == statistics.flow)
    return rows.select("seed", pl.col(statistics.column).cast(pl.Float64).fill_nan(math.inf).alias("value"))
