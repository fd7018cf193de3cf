"""Where the main controller stands in one scenario by one metric: *best*, *between*, *worst*, *alike*.

Each rival is compared by the statistics of `results/comparison`: the median difference, in pairs where trials with
a common seed tell more. *best* is better than every rival, *worst* worse than every rival, *alike* within the
margin of every rival, and *between* told apart from some: a controller that shares the first place with one rival
and is better than the others is *between*. Where the trials do none of that, the answer is *not told apart*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thalweg.base.quantity import text
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.verdict import Statistics
from thalweg.results.comparison import Row

Answer = Literal["best", "between", "worst", "alike", "not told apart"]
ANSWERS: tuple[Answer, ...] = ("best", "between", "worst", "alike", "not told apart")
Conclusion = Literal["better", "worse", "alike", "not told apart"]


@dataclass(frozen=True)
class Against:
    """The main controller and one rival: `row.a` is the rival, `row.b` the main one."""

    rival: str
    row: Row
    is_worse: bool
    """Whether the trials say that the main controller is worse; `standing` decides it."""

    @property
    def conclusion(self) -> Conclusion:
        """What the trials say of the main controller."""
        if self.is_worse:
            return "worse"
        if self.row.conclusion == ("B is smaller" if self.row.a.side == "at_most" else "B is larger"):
            return "better"
        return "alike" if self.row.conclusion == "alike" else "not told apart"

    @property
    def gap(self) -> float:
        """By what share of the rival's median the main controller is worse; negative if it is better.

        Infinite if only the rival finishes, and if its median is 0.
        """
        theirs, difference = self.row.a.median, self.row.sharper.interval.value
        if difference == 0:
            return 0.0
        sign = 1.0 if self.row.a.side == "at_most" else -1.0
        if theirs == 0 or not math.isfinite(difference):
            return sign * math.copysign(math.inf, difference)
        return sign * difference / abs(theirs)

    def document(self) -> dict[str, Any]:
        """This comparison as JSON; differences are of the main controller minus the rival."""
        row, interval = self.row, self.row.sharper.interval
        low, high = interval.document()
        return {
            "controller": self.rival,
            **_median(row.a),
            "told": self.conclusion,
            "difference": finite(interval.value),
            "low95": low,
            "high95": high,
            "of": "pairs" if row.pairs_are_sharper else "all with all",
            "margin": row.margin,
            "p_differs": row.sharper.p_differs,
            "p_worse": row.p_worse,
        }


@dataclass(frozen=True)
class Place:
    """One scenario and metric."""

    scenario: str
    measure: Measure
    against: tuple[Against, ...]

    @property
    def main(self) -> Statistics:
        """The statistics of the main controller."""
        return self.against[0].row.b

    @property
    def best_rival(self) -> Against:
        """The rival that the main controller is furthest behind; the first of equals."""
        return max(self.against, key=lambda one: one.gap)

    @property
    def answer(self) -> Answer:
        """Where the main controller stands."""
        conclusions = {one.conclusion for one in self.against}
        if conclusions == {"better"}:
            return "best"
        if conclusions == {"worse"}:
            return "worst"
        if conclusions == {"alike"}:
            return "alike"
        return "between" if conclusions & {"better", "worse"} else "not told apart"

    def document(self) -> dict[str, Any]:
        """This place as JSON."""
        return {
            **_subject(self.scenario, self.measure, self.main),
            "better": self.measure.better,
            "answer": self.answer,
            **_median(self.main),
            "best_rival": self.best_rival.rival,
            "gap": finite(self.best_rival.gap),
            "rivals": [one.document() for one in self.against],
        }


@dataclass(frozen=True)
class Banded:
    """A metric of which neither end is better: in which band of its criteria each controller is."""

    scenario: str
    measure: Measure
    least: Sequence[float]
    """Bounds from below, ascending."""
    most: Sequence[float]
    """Bounds from above, ascending."""
    main: Statistics
    rivals: Sequence[tuple[str, Statistics]]

    def band(self, value: float) -> str:
        """Where a value is, in words: beyond which bound, or within which.

        >>> from thalweg.judging.measures import MEASURES
        >>> load = Banded("vs-bbr", MEASURES["load"], (0.3,), (0.7, 0.8), None, ())
        >>> [load.band(value) for value in (0.24, 0.51, 0.78, 0.82)]
        ['under 30 %', '30 % to 70 %', 'over 70 %', 'over 80 %']
        """
        unit = self.measure.unit
        under = [bound for bound in self.least if value < bound]
        over = [bound for bound in self.most if value > bound]
        if under:
            return f"under {text(under[0], unit)}"
        if over:
            return f"over {text(over[-1], unit)}"
        within = [text(bounds[at], unit) for bounds, at in ((self.least, -1), (self.most, 0)) if bounds]
        if len(within) == 2:
            return " to ".join(within)
        return f"{'at least' if self.least else 'at most'} {within[0]}"

    def document(self) -> dict[str, Any]:
        """These bands as JSON."""
        return {
            **_subject(self.scenario, self.measure, self.main),
            **_median(self.main),
            "band": self.band(self.main.median),
            "rivals": [
                {"controller": name, **_median(statistics), "band": self.band(statistics.median)}
                for name, statistics in self.rivals
            ],
        }


def _subject(scenario: str, measure: Measure, main: Statistics) -> dict[str, Any]:
    return {"scenario": scenario, "flow": main.flow, "metric": measure.name, "unit": measure.unit}


def _median(statistics: Statistics) -> dict[str, Any]:
    """The median with its interval, and the mean, which few trials may dominate."""
    interval: Interval = statistics.median_interval
    return {
        "n": statistics.n,
        "median": finite(interval.value),
        "interval95": interval.document(),
        "mean": finite(float(statistics.values["value"].to_numpy().mean())),
    }
