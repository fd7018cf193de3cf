"""What differs between two results, number by number: of suites criterion by criterion.

Trials with the same seeds are compared in pairs: the path draws the same in both, whatever the
controllers. If pairs tell little, because the trials diverge soon after their start, or if there are
none, all trials of one are compared with all of the other; `statistics.differences` says which is sharper. A
trial that did not finish counts as infinite: it is kept, and worse than all that finished.

A difference has to be larger than a margin, by default 1 % of the smaller median: significance is not size. With
many criteria some would differ by chance; the answers keep the false discovery rate at 5 % over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from thalweg.base.quantity import percent
from thalweg.judging.answer import Answer, Comparison, decided
from thalweg.judging.comparison.sample import Compared
from thalweg.judging.measures import Better
from thalweg.judging.statistics.differences import (
    Difference,
    in_pairs,
    least_of_all,
    least_pairs,
    of_all,
    pairs_are_sharper,
    rank_correlation,
    subtract,
)
from thalweg.judging.statistics.discovery import RATE, discoveries
from thalweg.judging.statistics.interval import Values, finite

MARGIN = 0.01
"""A share of the smaller median; smaller differences do not count."""


@dataclass(frozen=True)
class Paired:
    """Differences b - a of trials with the same seed."""

    n: int
    b_better: int | None
    """Pairs in which b has the better value; None where neither end is better."""
    ties: int
    """Pairs in which both have the same value, or neither finished."""
    rank_correlation: float
    """The rank correlation of the values of a and of b; 0 if pairing is useless."""
    difference: Difference
    differences: Values = field(repr=False, compare=False)
    """The difference of each pair."""
    seeds: Sequence[int] = field(repr=False, compare=False)

    def document(self) -> dict[str, Any]:
        """These pairs as JSON."""
        return {
            "n": self.n,
            "b_better": self.b_better,
            "ties": self.ties,
            "rank_correlation": round(self.rank_correlation, 3),
        }


@dataclass(frozen=True)
class Row:
    """One number in both results: of suites, a criterion."""

    scenario: str
    """Or the cell of a study, or the point of a sweep in words."""
    a: Compared
    b: Compared
    paired: Paired | None
    """None without common seeds."""
    unpaired: Difference
    """All trials of b minus all of a."""
    pairs_are_sharper: bool
    margin: float
    """In the unit of the criterion."""
    answer: Answer = "undecided"
    """Whether b is better or worse than a, or differs; `judge` decides it."""
    family: int = 1
    """How many rows share the error."""
    lacks_trials: bool = False
    """Whether so few trials could not show that b is worse, however much it was; `worse.decide` says it."""
    needs: int | None = None
    """Trials of each result that could tell a difference of only this row; None if there are so many."""

    @property
    def better(self) -> Better | None:
        """Which end is better."""
        return self.a.better

    @property
    def comparison(self) -> Comparison:
        """The answer of this row, with what it rests on."""
        return Comparison(
            answer=self.answer,
            a=self.a.median,
            b=self.b.median,
            difference=self.sharper.interval,
            margin=self.margin,
            is_paired=self.pairs_are_sharper,
            family=self.family,
            worst_seed=self.worst_seed,
        )

    @property
    def change(self) -> float | None:
        """The difference as a share of the median of a; see `Comparison.change`."""
        return self.comparison.change

    @property
    def gap(self) -> float:
        """By what share of the median of a the value of b is worse; negative if it is better.

        Infinite if only a finishes, and if its median is 0.
        """
        difference = self.sharper.interval.value
        if difference == 0:
            return 0.0
        sign = 1.0 if self.better == "lower" else -1.0
        if self.a.median == 0 or not math.isfinite(difference):
            return sign * math.copysign(math.inf, difference)
        return sign * difference / abs(self.a.median)

    @property
    def worst_seed(self) -> int | None:
        """The seed of the pair in which b is worse by most, or without pairs, of the worst trial of b.

        None where neither end is better.
        """
        if self.better is None:
            return None
        sign = 1.0 if self.better == "lower" else -1.0
        if self.paired is None:
            return int(self.b.values["seed"][int(np.argmax(sign * self.b.values["value"].to_numpy()))])
        return int(self.paired.seeds[int(np.argmax(sign * self.paired.differences))])

    @property
    def least_seen(self) -> float:
        """The least difference that trials which vary so could have told, in the unit of the criterion."""
        interval = self.sharper.interval
        return self.margin + max(interval.high - interval.value, interval.value - interval.low)

    @property
    def words(self) -> str:
        """The answer, with what difference is alike, or how many trials it takes to tell any."""
        if self.needs:
            return f"needs {self.needs} trials" if self.answer == "undecided" else self.answer
        least = min(abs(self.a.median), abs(self.b.median))
        if self.answer == "alike" and 0 < least < math.inf and self.least_seen:
            return f"alike to {percent(self.least_seen / least)}"
        return self.answer

    @property
    def p_worse(self) -> float:
        """The chance of such trials if b were not worse than a by more than the margin; one-sided.

        Where neither end is better, if b did not differ: of both sides.
        """
        if self.better is None:
            return self.sharper.p_differs
        return self.sharper.p_larger if self.better == "lower" else self.sharper.p_smaller

    @property
    def is_beyond(self) -> bool:
        """Whether the interval lies beyond the margin, on the side that is worse; where neither is, on any."""
        interval = self.sharper.interval
        return decided(interval.low, interval.high, self.margin, self.better) in ("worse", "differs")

    @property
    def sharper(self) -> Difference:
        """The sharper difference."""
        return self.paired.difference if self.paired and self.pairs_are_sharper else self.unpaired

    def document(self) -> dict[str, Any]:
        """This row as JSON."""
        return {
            "scenario": self.scenario,
            "flow": self.a.flow,
            "stream": self.a.stream,
            "metric": self.a.metric,
            "unit": self.a.unit,
            "better": self.better,
            **self.comparison.document(),
            "p_differs": self.sharper.p_differs,
            "p_worse": self.p_worse,
            "pairs": self.paired.document() if self.paired else None,
            "statistics": {"a": self.a.document(), "b": self.b.document()},
            "least_seen": finite(self.least_seen),
            "needs_trials": self.needs,
        }


def compare_samples(
    scenario: str, a: Compared, b: Compared, margin: float, *, of_a: bool = False, least: float = 0.0
) -> Row:
    """One number on both sides; `judge` tells more.

    The margin is a share of the smaller median, with `of_a` of a, and at least `least`, in the unit of the number.
    """
    of_a_values, of_b_values = (side.values["value"].to_numpy() for side in (a, b))
    sizes = [abs(side.median) for side in ((a,) if of_a else (a, b)) if math.isfinite(side.median)]
    size = max(margin * min(sizes, default=0.0), least)
    paired = _pair(a.values, b.values, size, a.better)
    correlation = paired.rank_correlation if paired else 0.0
    sharper = paired is not None and pairs_are_sharper(correlation, paired.n, len(of_a_values), len(of_b_values))
    unpaired = of_all(of_a_values, of_b_values, size, correlation=correlation)
    return Row(scenario, a, b, paired, unpaired, sharper, size)


def judge(rows: Sequence[Row]) -> list[Row]:
    """Marks the rows that differ, with at most one in twenty of them by chance."""
    found = discoveries([row.sharper.p_differs for row in rows])
    alone = RATE / len(rows) if rows else RATE
    return [
        replace(row, answer=_answer(row, differs), family=len(rows), needs=_needs(row, alone))
        for row, differs in zip(rows, found, strict=True)
    ]


def _pair(a: pl.DataFrame, b: pl.DataFrame, margin: float, better: Better | None) -> Paired | None:
    pairs = a.select("seed", pl.col("value").alias("a")).join(
        b.select("seed", pl.col("value").alias("b")), on="seed", how="inner", maintain_order="left"
    )
    if pairs.is_empty():
        return None
    left, right = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    differences = subtract(right, left)
    return Paired(
        n=len(differences),
        b_better=_better(differences, better),
        ties=int(np.count_nonzero(differences == 0)),
        rank_correlation=rank_correlation(left, right),
        difference=in_pairs(left, right, margin),
        differences=differences,
        seeds=pairs["seed"].to_list(),
    )


def _better(differences: Values, better: Better | None) -> int | None:
    if better is None:
        return None
    return int(np.count_nonzero(differences < 0 if better == "lower" else differences > 0))


def _answer(row: Row, differs: bool) -> Answer:
    interval = row.sharper.interval
    answer = decided(interval.low, interval.high, row.margin, row.better)
    return answer if differs or answer == "alike" else "undecided"


def _needs(row: Row, chance: float) -> int | None:
    """How many trials could tell a difference with this chance of both sides; None if there are so many."""
    if 2 * row.sharper.p_least <= chance:
        return None
    return least_pairs(chance) if row.paired and row.pairs_are_sharper else least_of_all(chance)
