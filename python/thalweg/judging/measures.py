"""What a verdict by comparison compares, and which end of it is better.

docs/reference/metrics.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["transfer", "requests", "call"]
"""Of a workload."""
_DATA: tuple[Kind, ...] = ("transfer", "requests")
_ANY: tuple[Kind, ...] = ("transfer", "requests", "call")


@dataclass(frozen=True)
class Measure:
    """One metric of a flow."""

    name: str
    unit: str
    column: str
    better: Literal["lower", "higher"] | None
    """None: neither end is better; it has bands, the bounds of the criteria of its scenario."""
    of: tuple[Kind, ...]
    """The workloads that it judges: a call is judged by its frames, and not by when it ends."""

    def criterion(self, flow: str) -> dict[str, Any]:
        """A criterion that every value of a flow keeps, for its statistics."""
        bound = {"at_least": -math.inf} if self.better == "higher" else {"at_most": math.inf}
        about = {"metric": self.name, "column": self.column, "unit": self.unit, "informative": True}
        return {"flow": flow, **about, **bound}


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("completion", "s", "completion_s", "lower", _DATA),
        Measure("closed", "s", "closed_s", "lower", ("transfer",)),
        Measure("rate", "bps", "mean_rate_bps", "higher", _DATA),
        Measure("loss", "share", "loss", "lower", _ANY),
        Measure("rtt", "s", "mean_rtt_s", "lower", _ANY),
        Measure("queue-delay", "s", "mean_queue_delay_s", "lower", _ANY),
        Measure("p95-queue-delay", "s", "p95_queue_delay_s", "lower", _ANY),
        Measure("p99-queue-delay", "s", "p99_queue_delay_s", "lower", _ANY),
        Measure("event-rtt", "s", "event_rtt_s", "lower", _ANY),
        Measure("event-rtt-high", "s", "event_rtt_high_s", "lower", _ANY),
        Measure("frame-delay", "s", "frame_delay_s", "lower", ("call",)),
        Measure("max-frame-delay", "s", "max_frame_delay_s", "lower", ("call",)),
        Measure("load", "share", "load", None, _ANY),
        Measure("share", "share", "share", None, _ANY),
        Measure("starvation", "s", "starvation_s", "lower", _ANY),
        Measure("convergence", "s", "convergence_s", "lower", _ANY),
        Measure("oscillation", "share", "oscillation", "lower", _ANY),
        Measure("utilisation", "share", "utilisation", "higher", _DATA),
        Measure("drops", "share", "drops", "lower", _ANY),
        Measure("marks", "share", "marks", "lower", _ANY),
        Measure("spurious-loss", "share", "spurious_loss", "lower", _ANY),
        Measure("max-rtt", "s", "max_rtt_s", "lower", _ANY),
    )
}
"""All of them by name."""
USUAL: Mapping[Kind, tuple[str, ...]] = {
    "transfer": ("closed", "event-rtt", "load"),
    "requests": ("completion", "event-rtt", "load"),
    "call": ("frame-delay", "max-frame-delay", "load"),
}
"""What is compared where nothing is chosen: the metrics of the tests of C4 after draft -04."""


def kind_of(workload: str) -> Kind:
    """The kind of a workload in words.

    >>> kind_of("call: audio, video"), kind_of("3 requests"), kind_of("download 10 MB")
    ('call', 'requests', 'transfer')
    """
    if workload.startswith("call:"):
        return "call"
    return "requests" if workload.endswith(" requests") else "transfer"


def bounds_of(criteria: Sequence[Mapping[str, Any]], flow: str, metric: str) -> tuple[list[float], list[float]]:
    """What the criteria of a scenario have the metric of a flow be at least, and at most; both ascending."""
    own = [one for one in criteria if one["flow"] == flow and one["metric"] == metric]
    least, most = (
        [float(one[side]) for one in own if one.get(side) is not None] for side in ("at_least", "at_most")
    )
    return sorted(least), sorted(most)


def measures_of(
    workload: str, criteria: Sequence[Mapping[str, Any]], flow: str, wanted: Sequence[str] = ()
) -> list[Measure]:
    """What is compared of a flow: the `wanted` metrics that judge it, or the usual ones.

    A metric without a better end is compared only where the scenario has bands of it.
    """
    kind = kind_of(workload)
    found = [MEASURES[name] for name in wanted or USUAL[kind]]
    return [
        measure
        for measure in found
        if kind in measure.of and (measure.better or any(bounds_of(criteria, flow, measure.name)))
    ]
