"""One metric of A and of B in real time, pair by pair: a comparison that may be looked at after each.

A pair is two trials of one seed. Where a comparison has a sign test, it says whether B is worse by more than the
threshold in more than half of the pairs: `worse`, or else it `holds` that B is not. Without one, the whole
interval of the median ratio or difference has to lie beyond the threshold. Both hold however often one looks
(`statistics.sequential`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.judging.answer import Answer, Comparison, decided
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.quantiles import median
from thalweg.judging.statistics.sequential import SignTest, median_interval
from thalweg.judging.thresholds import Threshold


@dataclass
class Pairs:
    """The values of one metric of a flow."""

    scenario: str
    flow: str
    measure: Measure
    threshold: Threshold
    is_ratio: bool = False
    """Whether B is compared by its ratio to A; else, where zero is usual, by its difference."""
    test: SignTest | None = None
    a: list[float] = field(default_factory=list)
    b: list[float] = field(default_factory=list)
    """Empty if there is only A."""
    seeds: list[int] = field(default_factory=list)

    def add(self, seed: int, a: float, b: float | None) -> None:
        """Takes a pair of values, or the value of A; infinite ones did not finish."""
        self.seeds.append(seed)
        self.a.append(a)
        if b is None:
            return
        self.b.append(b)
        if self.test:
            self.test.add(is_worse(self.measure, self.threshold, a, b))

    @property
    def n(self) -> int:
        """Pairs so far."""
        return len(self.a)

    @property
    def medians(self) -> tuple[float, float]:
        """The medians of A and B; NaN without values."""
        a, b = (median(np.array(values)) if values else math.nan for values in (self.a, self.b))
        return a, b

    @property
    def interval(self) -> Interval:
        """The interval of the median ratio B/A, or difference B - A; of the metric itself if there is only A."""
        return median_interval(self._differences if self.b else self.a)

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
    def margin(self) -> float:
        """The threshold as a ratio, or in the unit of the metric."""
        if self.is_ratio:
            return self.threshold.share
        share = self.threshold.share * abs(self.medians[0])
        return max(self.threshold.least, share if math.isfinite(share) else 0.0)

    @property
    def answer(self) -> Answer:
        """What the pairs say of B."""
        return self.test.answer if self.test else self._answer_of_interval()

    @property
    def comparison(self) -> Comparison:
        """The answer, with what it rests on."""
        differences = self._differences
        sign = 1.0 if self.measure.better == "lower" else -1.0
        a, b = self.medians
        return Comparison(
            answer=self.answer,
            a=a,
            b=b,
            difference=self.interval,
            margin=self.margin,
            is_paired=True,
            family=self.test.family if self.test else 1,
            correction="sequential",
            worst_seed=self.seeds[int(np.argmax(sign * np.array(differences)))] if differences else None,
            is_ratio=self.is_ratio,
        )

    @property
    def worse_pairs(self) -> int:
        """In how many pairs B is worse by more than the threshold."""
        return self.test.worse if self.test else 0

    def can_become_worse(self, left: int) -> bool:
        """Whether so many pairs more could still say that B is worse; see `SignTest`."""
        return self.test is not None and self.test.can_become_worse(left)

    @property
    def lacks_pairs(self) -> bool:
        """Whether pairs are missing that could have said that B is worse; see `SignTest`."""
        return self.test is not None and self.test.lacks_pairs

    def document(self) -> dict[str, Any]:
        """These pairs as JSON."""
        about = {"scenario": self.scenario, "flow": self.flow, "metric": self.measure.name}
        values = {"seeds": self.seeds, "a": list(map(finite, self.a)), "b": list(map(finite, self.b))}
        only_a = {"a": finite(self.medians[0]), "interval95": self.interval.document(), "n": self.n}
        return {
            **about,
            "unit": self.measure.unit,
            "better": self.measure.better,
            **(self.comparison.document() if self.b or self.test else only_a),
            **({"worse_pairs": self.worse_pairs} if self.test else {}),
            "values": values,
        }

    @property
    def _differences(self) -> list[float]:
        compare = _ratio if self.is_ratio else _difference
        return [compare(a, b) for a, b in zip(self.a, self.b, strict=False)]

    def _answer_of_interval(self) -> Answer:
        interval, middle = self.interval, float(self.is_ratio)
        return decided(interval.low - middle, interval.high - middle, self.margin, self.measure.better or "lower")


def is_worse(measure: Measure, threshold: Threshold, before: float, now: float) -> bool:
    """Whether a pair is worse by more than the threshold.

    >>> from thalweg.judging.measures import MEASURES
    >>> times, rates = MEASURES["completion"], MEASURES["rate"]
    >>> is_worse(times, Threshold(0.01), 1.0, 1.02), is_worse(times, Threshold(0.01, 0.1), 1.0, 1.02)
    (True, False)
    >>> is_worse(rates, Threshold(0.01), 1e6, 0.98e6), is_worse(times, Threshold(0.01), 1.0, math.inf)
    (True, True)
    >>> is_worse(times, Threshold(0.01), math.inf, math.inf)
    False
    """
    if before == now or not math.isfinite(before):
        return False
    loss = now - before if measure.better == "lower" else before - now
    return loss > max(threshold.share * abs(before), threshold.least)


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
