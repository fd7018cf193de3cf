"""By how much one side of a bench differs from the other in one metric of a condition, pair by pair."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from thalweg.judging.measures import Measure
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.quantiles import median
from thalweg.judging.statistics.sequential import median_interval
from thalweg.judging.thresholds import Threshold

Answer = Literal["worse", "better", "alike", "not told apart"]


@dataclass
class Effect:
    """One metric of a condition."""

    condition: str
    measure: Measure
    threshold: Threshold
    is_ratio: bool
    """Whether sides are compared by their ratio; else, where zero is usual, by their difference."""
    flow: str
    """Whose metric it is."""
    a: list[float] = field(default_factory=list)
    b: list[float] = field(default_factory=list)
    """Empty if there is one side."""

    def add(self, a: float, b: float | None) -> None:
        """Takes a pair of values, or that of the only side."""
        self.a.append(a)
        if b is not None:
            self.b.append(b)

    @property
    def n(self) -> int:
        """Pairs so far."""
        return len(self.a)

    @property
    def medians(self) -> tuple[float, float | None]:
        """The medians of both sides; NaN without trials."""
        if not self.a:
            return math.nan, None
        return median(np.array(self.a)), median(np.array(self.b)) if self.b else None

    @property
    def interval(self) -> Interval:
        """The interval of the median ratio b/a, or difference b - a; of the metric itself if there is one side.

        It holds however often one looks.
        """
        if not self.b:
            return median_interval(self.a)
        compare = _ratio if self.is_ratio else _difference
        return median_interval([compare(a, b) for a, b in zip(self.a, self.b, strict=True)])

    @property
    def width(self) -> float:
        """Half of the interval, as a share."""
        interval = self.interval
        if not interval.is_bounded:
            return math.inf
        half = (interval.high - interval.low) / 2
        if self.b and self.is_ratio:
            return half
        return half / interval.value if interval.value else math.inf

    @property
    def answer(self) -> Answer:
        """Whether b is worse than a by more than the threshold: the whole interval is."""
        interval = self.interval
        if self.is_ratio:
            allowed, middle = self.threshold.share, 1.0
        else:
            share = self.threshold.share * abs(self.medians[0])
            allowed, middle = max(self.threshold.least, share if math.isfinite(share) else 0.0), 0.0
        low, high = interval.low - middle, interval.high - middle
        if self.measure.better == "higher":
            low, high = -high, -low
        if low > allowed:
            return "worse"
        if high < -allowed:
            return "better"
        return "alike" if interval.is_bounded and max(-low, high) <= allowed else "not told apart"

    def document(self) -> dict[str, Any]:
        """This effect as JSON."""
        a, b = self.medians
        interval = self.interval
        return {
            "condition": self.condition,
            "flow": self.flow,
            "metric": self.measure.name,
            "unit": self.measure.unit,
            "better": self.measure.better,
            "a": finite(a),
            "b": None if b is None else finite(b),
            "by": None if b is None else "ratio" if self.is_ratio else "difference",
            "value": finite(interval.value),
            "interval": interval.document(),
            "n": self.n,
            "answer": self.answer if self.b else None,
            "values": {"a": list(map(finite, self.a)), "b": list(map(finite, self.b))},
        }


def _ratio(a: float, b: float) -> float:
    """The ratio b / a; of two that did not finish nothing tells which is larger.

    >>> _ratio(2.0, 3.0), _ratio(0.0, 0.0), _ratio(math.inf, math.inf), _ratio(2.0, math.inf)
    (1.5, 1.0, 1.0, inf)
    """
    if a == b:
        return 1.0
    return math.inf if a == 0 else b / a


def _difference(a: float, b: float) -> float:
    return 0.0 if a == b else b - a
