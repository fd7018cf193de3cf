"""Where the main controller stands in one scenario by one metric: *best*, *between*, *worst*, *alike*.

Each rival is compared by the statistics of `judging/comparison`: the median difference, in pairs where trials with
a common seed tell more. *best* is better than every rival, *worst* worse than every rival, *alike* within the
margin of every rival, and *between* told apart from some: a controller that shares the first place with one rival
and is better than the others is *between*. Where the trials do none of that, it is *undecided*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thalweg.base.quantity import text
from thalweg.judging.comparison.row import Row
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.verdict import Statistics

Rank = Literal["best", "between", "worst", "alike", "undecided"]
"""From the answers of the comparisons with all rivals."""
RANKS: tuple[Rank, ...] = ("best", "between", "worst", "alike", "undecided")


@dataclass(frozen=True)
class Place:
    """One scenario and metric."""

    scenario: str
    measure: Measure
    rivals: Mapping[str, Row]
    """By their controllers: `a` is the rival, `b` the main controller."""

    @property
    def main(self) -> Statistics:
        """The statistics of the main controller."""
        found = next(iter(self.rivals.values())).b
        assert isinstance(found, Statistics)
        return found

    @property
    def best_rival(self) -> str:
        """The rival that the main controller is furthest behind; the first of equals."""
        return max(self.rivals, key=lambda name: self.rivals[name].gap)

    @property
    def gap(self) -> float:
        """How far the main controller is behind the best rival; see `Row.gap`."""
        return self.rivals[self.best_rival].gap

    @property
    def rank(self) -> Rank:
        """Where the main controller stands."""
        answers = {row.answer for row in self.rivals.values()}
        if answers == {"better"}:
            return "best"
        if answers == {"worse"}:
            return "worst"
        if answers == {"alike"}:
            return "alike"
        return "between" if answers & {"better", "worse"} else "undecided"

    def document(self) -> dict[str, Any]:
        """This place as JSON."""
        return {
            **_subject(self.scenario, self.measure, self.main),
            "better": self.measure.better,
            "rank": self.rank,
            **_median(self.main),
            "best_rival": self.best_rival,
            "gap": finite(self.gap),
            "rivals": [
                {
                    "controller": name,
                    **row.comparison.document(),
                    "p_differs": row.sharper.p_differs,
                    "p_worse": row.p_worse,
                }
                for name, row in self.rivals.items()
            ],
        }


@dataclass(frozen=True)
class Banded:
    """A metric with no better end: in which band of its criteria each controller is."""

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
