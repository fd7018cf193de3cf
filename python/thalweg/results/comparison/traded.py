"""What a call paid in rate for being better: a controller that sends a tenth has fewer freezes.

For each stream of a call whose delays, freezes or late frames differ between two results, its rate in both: the
medians over trials of the rate of the frames delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from thalweg.base.quantity import percent
from thalweg.engine.outcome import Outcomes
from thalweg.judging.comparison.row import Row
from thalweg.judging.measures import METRICS
from thalweg.results.suite_result import SuiteResult

LEAST = 0.1
"""A difference in rate below this share of the larger rate is not worth a sentence."""
_BENEFITS = {
    name
    for name, metric in METRICS.items()
    if metric.of == "stream" and metric.better == "lower" and metric.unit in ("s", "")
}
"""What a lower rate buys: shorter delays, fewer and shorter freezes, fewer late frames."""


@dataclass(frozen=True)
class Traded:
    """One stream that is better in one result, at a lower rate."""

    scenario: str
    stream: str
    """Flow and stream."""
    better: str
    """A or B."""
    metrics: tuple[str, ...]
    """In which it is better."""
    rate: float
    """Its rate over the rate in the other result."""

    def text(self, b: str = "B") -> str:
        """One sentence, with `b` for B."""
        here, there = (b, "A") if self.better == "B" else ("A", b)
        share = percent(self.rate)
        metrics = ", ".join(self.metrics)
        return f"{here} is better for {self.stream} ({metrics}), at {share} of the rate of {there}."

    def document(self) -> dict[str, object]:
        """As JSON."""
        return {
            "scenario": self.scenario,
            "stream": self.stream,
            "better": self.better.lower(),
            "metrics": list(self.metrics),
            "rate": self.rate,
        }


def traded(rows: Sequence[Row], a: SuiteResult, b: SuiteResult) -> list[Traded]:
    """The streams of calls that are better on one side at a lower rate there, from the rows of the comparison."""
    ours, theirs = (_rates(result) for result in (a, b))
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        if row.a.metric in _BENEFITS and row.a.flow and row.a.stream and row.answer in ("better", "worse"):
            better = "B" if row.answer == "better" else "A"
            found.setdefault((row.scenario, row.a.flow, row.a.stream, better), []).append(row.a.metric)
    kept = []
    for (scenario, flow, stream, better), metrics in found.items():
        rates = [side.get((scenario, flow, stream)) for side in (ours, theirs)]
        own, other = reversed(rates) if better == "B" else rates
        if own is not None and other and own < (1 - LEAST) * other:
            kept.append(Traded(scenario, f"{flow} {stream}", better, tuple(metrics), own / other))
    return kept


def _rates(result: SuiteResult) -> dict[tuple[str, str, str], float]:
    """The median rate of each stream, by scenario, flow and stream."""
    return {
        (outcomes.scenario.name, flow, stream): rate
        for outcomes in result.outcomes
        for flow, stream, rate in _medians(outcomes)
    }


def _medians(outcomes: Outcomes) -> Sequence[tuple[str, str, float]]:
    column = METRICS["media-rate"].column
    if column not in outcomes.streams.columns:
        return []
    median = pl.col(column).cast(pl.Float64).fill_nan(None).median()
    return outcomes.streams.group_by("flow", "stream", maintain_order=True).agg(median).drop_nulls().rows()
