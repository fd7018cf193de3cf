"""What pairs of trials in real time say of each metric: whether it is worse by more than its threshold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.judging.measures import MEASURES, Measure
from thalweg.judging.statistics.interval import finite
from thalweg.judging.statistics.quantiles import median
from thalweg.judging.statistics.sequential import Decision, SignTest
from thalweg.judging.thresholds import Threshold, Thresholds
from thalweg.results.gate.baseline import judged


@dataclass
class Comparison:
    """One metric of a scenario, before and now, pair by pair."""

    scenario: str
    flow: str
    measure: Measure
    threshold: Threshold
    test: SignTest
    before: list[float] = field(default_factory=list)
    now: list[float] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)

    def add(self, seed: int, before: float, now: float) -> None:
        """Takes a pair of values; infinite ones did not finish."""
        self.seeds.append(seed)
        self.before.append(before)
        self.now.append(now)
        self.test.add(is_worse(self.measure, self.threshold, before, now))

    @property
    def decision(self) -> Decision:
        """What the pairs say."""
        return self.test.decision

    @property
    def medians(self) -> tuple[float, float]:
        """The medians before and now; NaN without a pair."""
        if not self.seeds:
            return math.nan, math.nan
        return median(np.array(self.before)), median(np.array(self.now))

    def document(self) -> dict[str, Any]:
        """This comparison as JSON."""
        before, now = self.medians
        return {
            "scenario": self.scenario,
            "flow": self.flow,
            "metric": self.measure.name,
            "unit": self.measure.unit,
            "better": self.measure.better,
            "answer": self.decision,
            "pairs": self.test.n,
            "worse_pairs": self.test.worse,
            "before": finite(before),
            "now": finite(now),
            "threshold": {"share": self.threshold.share, "least": self.threshold.least},
        }


def is_worse(measure: Measure, threshold: Threshold, before: float, now: float) -> bool:
    """Whether a pair is worse by more than the threshold.

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


def comparisons(
    flows: Mapping[str, Mapping[str, Any]], thresholds: Thresholds, planned: int | None = None
) -> list[Comparison]:
    """One for each metric with a threshold that real time measures of the judged flow of each scenario.

    `planned` is how many pairs there are to be.
    """
    metrics = [name for name in thresholds if not MEASURES[name].virtual_only]
    measures = [(name, flow, measure) for name, flow in flows.items() for measure in judged(flow, metrics)]
    return [
        Comparison(
            name, str(flow["name"]), measure, thresholds[measure.name], SignTest(len(measures), planned=planned)
        )
        for name, flow, measure in measures
    ]


def of(decision: Decision, metrics: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons with that decision."""
    return [one for one in metrics if one.decision == decision]
