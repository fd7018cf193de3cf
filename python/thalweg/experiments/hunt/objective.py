"""What a hunt makes as bad as it can: one number of each trial; larger is worse.

`judging.derived` says what each is; the form of what is taken follows Ware et al., "Beyond Jain's Fairness
Index", HotNets 2019, as `thalweg score` has it. RFC 9743 section 5.2 asks for what starves, and names no bound.

A flow without a rate has 1 bps. Limits: capacity-starvation is of bulk data only, since a sender without data
starves of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import text
from thalweg.base.toml import read_toml, shown
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.judging.derived import NAMED, renamed
from thalweg.judging.measures import METRICS

if TYPE_CHECKING:
    import numpy.typing as npt


Values: TypeAlias = "npt.NDArray[np.float64]"

_STARVED = 0.1
_LEAST_BPS = 1.0
_REFERENCE = "cubic"
_TIME_LIMIT = "10 min"
"""The limit of a scenario that has none: no time is beyond it."""


@dataclass(frozen=True)
class Kind:
    """What can be made as bad as possible."""

    words: str
    """A value in words, after the name of the flow; `{}` is the value."""
    metric: str
    """A metric of criteria: what bounds it in a suite."""
    needs: tuple[str, ...] = ()
    """Keys of a plan that it takes in addition to the flow."""

    @property
    def at_most(self) -> bool:
        """Whether that metric is the worse the larger it is."""
        return METRICS[self.metric].better == "lower"


KINDS: Mapping[str, Kind] = {
    "slowdown": Kind("takes {} times the least that the path allows", "completion"),
    "regret": Kind("has 1/{} of the rate that {reference} gets in its place", "rate", ("reference",)),
    "taken": Kind("costs {victim} {} of the rate that {reference} leaves it", "rate", ("reference", "victim")),
    "capacity-starvation": Kind("starves for {}", "rate"),
    "unfairness": Kind("lacks {} of an equal share", "share"),
    "queue-delay": Kind("waits {} in queues on average", "queue-delay"),
    "loss": Kind("loses {} of its packets", "loss"),
    "missed-frames": Kind("misses {} of its frames", "p95-delay"),
    "frozen": Kind("is frozen for {}", "frozen"),
}


@dataclass(frozen=True)
class Objective:
    """What is made as bad as possible, of which flow."""

    kind: str
    flow: str
    reference: str | None = None
    """A controller that takes the place of the flow's own."""
    victim: str | None = None
    """A flow next to it."""

    @property
    def of(self) -> Kind:
        """What its kind means."""
        return KINDS[self.kind]

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return NAMED[self.kind].unit

    @property
    def is_of_frames(self) -> bool:
        """Whether it needs a flow that sends frames."""
        return METRICS[self.of.metric].of == "stream"

    @property
    def judged_flow(self) -> str:
        """The flow that a criterion bounds, and with which a trial ends."""
        return self.victim or self.flow

    @property
    def flows(self) -> set[str]:
        """Flows that it cannot do without."""
        return {self.flow, *([self.victim] if self.victim else [])}

    def check(self, scenario: Scenario, document: Mapping[str, Any]) -> None:
        """Refuses a scenario in which it cannot be measured. Raises RequestError, whose message lacks the file."""
        names = [str(flow["name"]) for flow in scenario.flows]
        for key, name in (("flow", self.flow), ("victim", self.victim)):
            if name is not None and name not in names:
                raise RequestError(
                    f"{key} = {shown(name)}: the scenario has no such flow{did_you_mean(name, names)}"
                )
        if self.victim == self.flow:
            raise RequestError(f"victim = {shown(self.victim)}: is the flow itself; name another one")
        if self.kind == "unfairness" and len(names) < 2:
            raise RequestError("unfairness needs at least two flows; this scenario has one")
        own = _entry(document, self.flow)
        bulk = "download" in own or "upload" in own
        if self.kind in ("slowdown", "capacity-starvation") and not bulk:
            raise RequestError(f"{self.kind} requires a download or an upload; {self.flow} is neither")
        if self.is_of_frames and not ("call" in own or "media" in own):
            raise RequestError(f"{self.kind} requires a flow with call or media; {self.flow} sends no frames")

    def criterion(self, document: Mapping[str, Any], bound: float | None = None) -> dict[str, Any]:
        """What a suite would judge; without a bound, one that bounds nothing.

        It says with which flow a trial ends, so that a scenario in a suite has the trials of the hunt.
        """
        kind = self.of
        side = "at_most" if kind.at_most else "at_least"
        idle = {"share": "100 %" if kind.at_most else "0 %", "bps": "0 bps"}
        value = idle.get(METRICS[kind.metric].unit, document.get("time_limit", _TIME_LIMIT))
        if bound is not None:
            value = _bound(kind, bound)
        found = {"flow": self.judged_flow, "metric": kind.metric, side: value}
        if self.is_of_frames:
            found["stream"] = _first_stream(_entry(document, self.flow))
        return found

    def values(self, scenario: Scenario, outcomes: Outcomes, reference: Outcomes | None = None) -> Values:
        """One value of each trial; `reference` has the trials of the reference controller."""
        if reference is not None:
            judged, usual = (_rate(scenario, trials, self.judged_flow) for trials in (outcomes, reference))
            return 1 - judged / usual if self.kind == "taken" else usual / judged
        if self.kind == "frozen":
            return _of_stream(outcomes, self.flow, _first_stream(_document(scenario, self.flow)), "frozen_s")
        if self.kind in (self.of.metric, "unfairness"):
            values = of_flow(scenario, outcomes, self.flow, METRICS[self.of.metric].column)
            lacks = 1 - values * len(scenario.flows) if self.kind == "unfairness" else values
            return np.nan_to_num(lacks, nan=0.0)
        if self.kind == "slowdown":
            return _slowdown(scenario, outcomes, self.flow)
        if self.kind == "capacity-starvation":
            return np.array([_starvation(scenario, outcomes, self.flow, n) for n in range(outcomes.n)])
        return _missed(outcomes, self.flow)

    def ratio(self, least: float, value: float) -> float:
        """What the metric of its criterion would be at one value of the objective over what it is at another."""
        if self.kind in ("taken", "unfairness"):
            return (1 - least) / max(1 - value, 1e-3)  # of what is left, not of what is missing
        return least / value if self.of.at_most else value / least

    def in_words(self, value: float) -> str:
        """A value in words: `takes 9.3 times the least that the path allows`."""
        shown = text(value, self.unit, 3) if self.unit else f"{value:.3g}"
        return self.of.words.replace("{}", shown).format(reference=self.reference, victim=self.victim)

    def document(self) -> dict[str, str]:
        """As JSON has it."""
        keys = ("kind", "flow", "reference", "victim")
        return {key: value for key in keys if (value := getattr(self, key)) is not None}


def read_objective(given: Any, flows: Sequence[str]) -> Objective:
    """The objective that a plan names. Raises RequestError, whose message lacks the key."""
    table = {"kind": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not all(isinstance(value, str) for value in table.values()):
        raise RequestError('accepted: "slowdown", or { kind = "taken", flow = "main", victim = "other" }')
    kind = table.get("kind", "")
    if told := renamed("hunt", kind):
        raise RequestError(f"kind = {shown(kind)}: {told}")
    if kind not in KINDS:
        raise RequestError(f"kind = {shown(kind)}{did_you_mean(kind, KINDS)}; accepted: {', '.join(KINDS)}")
    needs = KINDS[kind].needs
    for key in table:
        if key not in ("kind", "flow", *needs):
            raise RequestError(f"{kind} has no key {key!r}{did_you_mean(key, ('kind', 'flow', *needs))}")
    flow = table.get("flow", flows[0])
    others = [name for name in flows if name != flow]
    victim = table.get("victim", others[0] if others else None) if "victim" in needs else None
    if "victim" in needs and victim is None:
        raise RequestError("taken needs at least two flows, one of them the victim; this scenario has one")
    return Objective(kind, flow, table.get("reference", _REFERENCE) if "reference" in needs else None, victim)


def _document(scenario: Scenario, flow: str) -> Mapping[str, Any]:
    return _entry(read_toml(scenario.toml, scenario.name), flow)


def _entry(document: Mapping[str, Any], flow: str) -> Mapping[str, Any]:
    return next((entry for entry in document.get("flow", []) if entry.get("name") == flow), {})


def _first_stream(flow: Mapping[str, Any]) -> str:
    return "video" if "call" in flow else str(flow["media"][0]["name"])


def _bound(kind: Kind, bound: float) -> str:
    """A bound as a scenario has it, to three digits, on the side on which what is at the bound itself fails.

    >>> _bound(KINDS["loss"], 0.3195), _bound(KINDS["loss"], 0.25), _bound(KINDS["regret"], 3.1415e5)
    ('31.9 %', '24.9 %', '315 kbps')
    """
    unit = METRICS[kind.metric].unit
    exact = Decimal(repr(max(bound, 1.0 if unit == "bps" else 1e-6)))
    digit = Decimal(1).scaleb(exact.adjusted() - 2)
    count = exact / digit
    steps = (
        count.to_integral_value(ROUND_CEILING) - 1 if kind.at_most else count.to_integral_value(ROUND_FLOOR) + 1
    )
    return text(float(steps * digit), unit, 3)


def of_flow(scenario: Scenario, outcomes: Outcomes, flow: str, column: str) -> Values:
    """A column of outcomes for one flow: a value of each trial."""
    names = [str(known["name"]) for known in scenario.flows]
    return np.asarray(outcomes.flows[column], dtype=np.float64)[names.index(flow) :: len(names)]


def _rate(scenario: Scenario, outcomes: Outcomes, flow: str) -> Values:
    return np.maximum(np.nan_to_num(of_flow(scenario, outcomes, flow, "mean_rate_bps")), _LEAST_BPS)


def _planned_s(scenario: Scenario, flow: str) -> float:
    return next(float(known["start_s"]) for known in scenario.flows if known["name"] == flow)


def _slowdown(scenario: Scenario, outcomes: Outcomes, flow: str) -> Values:
    """Both times from the start of the flow."""
    criterion = next(one for one in scenario.criteria if one["metric"] == "completion")
    start_s = of_flow(scenario, outcomes, flow, "start_s")
    end_s = np.asarray(outcomes.trials["end_s"], dtype=np.float64)
    completion_s = of_flow(scenario, outcomes, flow, "completion_s")
    taken_s = np.where(np.isfinite(completion_s), completion_s, end_s) - start_s
    floor_s = float(criterion["floor"] or 0.0) - _planned_s(scenario, flow)
    return np.maximum(taken_s, 0.0) / max(floor_s, 1e-9)


def _starvation(scenario: Scenario, outcomes: Outcomes, flow: str, trial: int) -> float:
    series = outcomes.series(trial, flow)
    every_s, flows = series.every_s, len(scenario.flows)
    could = np.min([outcomes.capacity(trial, link) for link in _links(scenario, outcomes, flow)], axis=0)
    start_s = float(of_flow(scenario, outcomes, flow, "start_s")[trial])
    completion_s = float(of_flow(scenario, outcomes, flow, "completion_s")[trial])
    last_s = completion_s if np.isfinite(completion_s) else float(outcomes.trials["end_s"][trial])
    starved = series.received < _STARVED * could / flows
    # Only whole bins of the flow.
    starved = starved[int(np.ceil(start_s / every_s)) : int(last_s / every_s)]
    return every_s * _longest_run(starved)


def _longest_run(holds: npt.NDArray[np.bool_]) -> int:
    """The most neighbours that hold.

    >>> _longest_run(np.array([True, False, True, True])), _longest_run(np.array([], dtype=bool))
    (2, 0)
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max()) if len(edges) else 0


def _links(scenario: Scenario, outcomes: Outcomes, flow: str) -> list[str]:
    """The links that carry the data of a flow: the links of all hops where there is no route."""
    names = [str(name) for name in outcomes.links["link"].unique(maintain_order=True)]
    own = _document(scenario, flow)
    up = "upload" in own
    hops = own.get("route") or [name for name in names if name not in ("up", "down") and not name.endswith(" up")]
    return [f"{hop} up" if up else hop for hop in hops] or ["up" if up else "down"]


def _of_stream(outcomes: Outcomes, flow: str, stream: str, column: str) -> Values:
    """A column of a stream of the flow: a value of each trial."""
    own = outcomes.streams.filter((pl.col("flow") == flow) & (pl.col("stream") == stream)).sort("trial")
    return own[column].to_numpy().astype(np.float64)


def _missed(outcomes: Outcomes, flow: str) -> Values:
    """Over all streams of the flow."""
    own = outcomes.streams.filter(pl.col("flow") == flow)
    trial = own["trial"].to_numpy().astype(np.int64)
    late, skipped, frames = (
        np.bincount(trial, own[name].to_numpy().astype(np.float64), outcomes.n)
        for name in ("late", "skipped", "frames")
    )
    return (late + skipped) / np.maximum(frames, 1.0)
