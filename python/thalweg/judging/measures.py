"""The metrics, as the engine describes them: what each is of, its unit, and which end of it is better.

docs/reference/metrics.md has the formulas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thalweg import _native

Kind = Literal["transfer", "requests", "call"]
"""The kind of a workload."""
Of = Literal["flow", "stream", "controller", "link", "flows", "pair"]
"""A pair is of a trial and one with another controller and the same seed."""
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Measure:
    """One metric. `judging.derived` has those that are made of others in Python."""

    name: str
    unit: str
    of: Of
    better: Better | None
    """None: neither end is better; it has bands, the bounds of the criteria of its scenario."""
    meaning: str
    column: str = ""
    """A column of outcomes; empty for one of a controller, whose criterion says the column."""
    compares: tuple[Kind, ...] = ()
    """The workloads that it judges: a call is judged by its frames, and not by when it ends."""
    virtual_only: bool = False
    """Real time does not measure it."""
    from_start: bool = False
    """A time from the start of the trial."""
    until_the_end: bool = False
    """A flow has it which does not finish."""
    words: str = ""
    """The words of its heading, if they are not the name's."""

    @property
    def heading(self) -> str:
        """In tables.

        >>> METRICS["queue-delay"].heading, METRICS["max-rtt"].heading
        ('queue delay', 'max RTT')
        """
        own = self.name.removeprefix(f"{self.of}-").replace("-", " ")
        return self.words or re.sub(r"\brtt\b", "RTT", own)

    def criterion(self, flow: str, stream: str | None = None, *, awaited: bool = True) -> dict[str, Any]:
        """A criterion that every value of a flow, or of its stream, keeps, for its statistics.

        The frames of a call that no trial waits for are judged until the end of the trial.
        """
        of_frames = self.of == "stream" or self.compares == ("call",)
        until_the_end = self.until_the_end or (of_frames and not awaited)
        bound = {"at_least": -math.inf} if self.better == "higher" else {"at_most": math.inf}
        about = {"metric": self.name, "column": self.column, "unit": self.unit, "informative": True}
        return {"flow": flow, "stream": stream, "until_the_end": until_the_end, **about, **bound}


@dataclass(frozen=True)
class Limit:
    """What limits a sender, which a criterion on `limited` names."""

    name: str
    column: str
    """The share of time that it held the sender back, in outcomes."""
    meaning: str


_DESCRIBED = _native.metrics()
LIMITS = {str(one["name"]): Limit(**one) for metric in _DESCRIBED for one in metric.pop("by")}
"""All limits of the engine by name."""
_WORDS = {"link-mean-queue-delay": "queue delay"}
METRICS = {
    str(one["name"]): Measure(
        **{**one, "compares": tuple(one["compares"]), "words": _WORDS.get(str(one["name"]), "")}
    )
    for one in _DESCRIBED
}
"""All metrics of the engine by name."""
MEASURES = {name: measure for name, measure in METRICS.items() if measure.compares}
"""The metrics that gates and verdicts by comparison know."""
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
        if kind in measure.compares and (measure.better or any(bounds_of(criteria, flow, measure.name)))
    ]
