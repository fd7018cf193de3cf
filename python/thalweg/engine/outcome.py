"""Outcomes of trials, as tables, together with their scenario.

Times are seconds, sizes bytes, rates bits per second. Trial `i` of a run that started from seed `s` has
seed `s + i`: any trial can be repeated from only its seed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NotRequired, Protocol, TypedDict

import numpy as np
import polars as pl

from thalweg import _native
from thalweg.base.columns import frame
from thalweg.base.described import Described, listed
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import text
from thalweg.engine.trace import Trace
from thalweg.judging.measures import METRICS
from thalweg.judging.verdict import Verdict, judge

if TYPE_CHECKING:
    import numpy.typing as npt

    from thalweg.engine.controllers.definition import Definition
    from thalweg.pages.figures import Figure

TABLES = ("flows", "links", "trials", "requests", "streams")
"""The tables of outcomes; each is stored as a file of its name."""
_NAMED = 10
"""Flows that a message lists."""


class FlowDescription(TypedDict):
    """A flow as its scenario has it."""

    name: str
    controller: str
    workload: str | None
    """In words: `download 10 MB`; None in a stored result that does not say."""
    start_s: float
    """Before noise."""
    awaited: NotRequired[bool]
    """Whether a trial ends only with it; a stored result need not say."""


@dataclass(frozen=True)
class Description:
    """A scenario as plain data: all that a verdict or a figure needs to know of it."""

    name: str
    suite: str | None
    """Name of the shipped suite that it belongs to."""
    title: str
    source: str | None
    note: str | None
    toml: str
    """The scenario file as it ran, overrides included."""
    flows: list[FlowDescription]
    criteria: list[dict[str, Any]]
    floor_s: float | None
    time_limit_s: float
    """Simulated time at which a trial ends whatever has finished."""
    controllers: list[dict[str, Any]] = field(default_factory=list)
    """The controllers in Python: name, and file, sha256 and source, which a class without a file lacks."""
    rival: dict[str, Any] | None = None
    """Where a rival plays a scenario once more: `of` which, its `flow` and `controller`, what `metrics` count."""

    @property
    def reference(self) -> str:
        """Its name after the name of its suite."""
        return f"{self.suite}/{self.name}" if self.suite else self.name

    @property
    def starts_s(self) -> dict[str, float]:
        """When each flow starts, before noise."""
        return {flow["name"]: float(flow["start_s"]) for flow in self.flows}

    def awaits(self, flow: str) -> bool:
        """Whether a trial ends only with this flow, or its stored result does not say."""
        return any(one["name"] == flow and one.get("awaited", True) for one in self.flows)

    @staticmethod
    def of(
        native: _native.Scenario, name: str, suite: str | None, definitions: Mapping[str, Definition] | None = None
    ) -> Description:
        """Takes the description out of a checked scenario."""
        return Description(
            name=name,
            suite=suite,
            title=native.title,
            source=native.source,
            note=native.note,
            toml=native.toml,
            flows=native.flows,
            criteria=[dict(criterion) for criterion in native.criteria],
            floor_s=native.floor_s,
            time_limit_s=native.time_limit_s,
            controllers=[definition.document() for definition in (definitions or {}).values()],
        )


@dataclass(frozen=True)
class Series:
    """One flow in bins of equal length from the start of the trial: its bytes, and what its sender saw.

    Bytes are those that links count, in the direction of its data: headers and retransmissions are in them.
    """

    every_s: float
    """Length of a bin."""
    sent: npt.NDArray[np.float64]
    """Handed to the first link of the route, drops included."""
    received: npt.NDArray[np.float64]
    """Out of the last link of the route."""
    lost: npt.NDArray[np.float64]
    """Packets that the sender declared lost; empty in real time."""
    rtt_s: npt.NDArray[np.float64]
    """Its largest RTT sample, NaN in a bin without one; empty in real time."""


class SeriesSource(Protocol):
    """Where the series of trials come from."""

    def series(self, trial: int, flow: int) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None:
        """Length of a bin in seconds, and what a flow (by number) sent and received; None without series."""

    def sender_series(
        self, trial: int, flow: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]] | None:
        """Packets that a flow (by number) declared lost, and its largest RTT sample in s, by bin; None without."""

    def capacity(self, trial: int, link: int) -> npt.NDArray[np.uint64] | None:
        """What a link (by number) could have transmitted in each bin; None without series."""


@dataclass(frozen=True, repr=False)
class Outcomes(Described):
    """Outcomes of the trials of one scenario."""

    scenario: Description
    flows: pl.DataFrame
    """One row for each trial and flow."""
    links: pl.DataFrame
    """One row for each trial and link."""
    trials: pl.DataFrame
    """One row for each trial: seed, simulated time, events, trace hash."""
    requests: pl.DataFrame = field(default_factory=lambda: pl.DataFrame({}))
    """One row for each trial, flow of requests and request; empty without such flows."""
    streams: pl.DataFrame = field(default_factory=lambda: pl.DataFrame({}))
    """One row for each trial, flow and stream of media; empty without calls."""
    handle: SeriesSource | None = field(default=None, repr=False, compare=False)
    """Holds the series, which are not stored with results."""

    @staticmethod
    def of(native: _native.Outcomes, scenario: Description) -> Outcomes:
        """Makes tables of the columns that the simulator hands over."""
        return Outcomes(scenario, **{name: frame(getattr(native, name)) for name in TABLES}, handle=native)

    def described(self) -> Iterator[tuple[str, str]]:
        """Trials, verdict, the criteria that decide, medians of flows, tables."""
        seeds = f", from seed {self.seed} on" if self.n else ""
        yield "Outcomes", f"of {self.scenario.reference}: {self.n} trial{'s' if self.n != 1 else ''}{seeds}"
        yield "verdict", self.verdict().answer or "nothing was asked"
        deciding = [one for one in self.verdict().criteria if not one.informative]
        yield "criteria", listed([f"{one.subject} {text(one.median, one.unit)}" for one in deciding])
        yield "flows", listed(self.flows_described())
        sizes = ((name, getattr(self, name).height) for name in TABLES)
        yield "tables", ", ".join(f".{name} ({height})" for name, height in sizes if height)

    def flows_described(self) -> list[str]:
        """Each flow with its rate and its loss, medians of the trials."""
        lines = []
        for (name, controller), rows in self.flows.group_by("flow", "controller", maintain_order=True):
            numbers = [
                f"{of.name} {text(float(rows[of.column].median()), of.unit)}"  # type: ignore[arg-type]
                for of in (METRICS["rate"], METRICS["loss"])
                if of.column in rows.columns and rows[of.column].median() is not None
            ]
            lines.append(f"{name} ({controller}) {', '.join(numbers)}".rstrip())
        return lines

    @property
    def n(self) -> int:
        """Number of trials."""
        return self.trials.height

    @property
    def seed(self) -> int:
        """Seed of the first trial."""
        return int(self.trials["seed"][0])

    @property
    def core_s(self) -> float:
        """Seconds of processor time that the trials took."""
        return float(self.trials["core_s"].sum())

    def trace_hash(self, trial: int) -> str:
        """Fingerprint of all that happened in a trial: equal if and only if the trials are."""
        return str(self._trial(trial)["trace_hash"])

    def seed_of(self, trial: int) -> int:
        """Seed of a trial."""
        return int(self._trial(trial)["seed"])

    def _trial(self, trial: int) -> dict[str, Any]:
        return self.trials.row(by_predicate=pl.col("trial") == trial, named=True)

    def series(self, trial: int, flow: str) -> Series:
        """A flow over time. Needs `sample` in the scenario; raises RequestError.

        >>> from thalweg import Scenario
        >>> outcomes = Scenario.load("c4/simple-20mbps", {"sample": "1 s"}).trials(1)
        >>> series = outcomes.series(0, "main")
        >>> bool(series.received.sum() > 10e6), len(series.sent) == len(outcomes.capacity(0, "down"))
        (True, True)
        """
        names = [str(known["name"]) for known in self.scenario.flows]
        if flow not in names:
            raise RequestError(f"{self.scenario.name} has no flow {flow!r}{did_you_mean(flow, names)}")
        number = names.index(flow)
        found = self.handle.series(trial, number) if self.handle else None
        if self.handle is None or found is None:
            raise self._no_series(trial)
        every_s, *carried = found
        lost, rtt_s = self.handle.sender_series(trial, number) or (np.empty(0, np.uint64), np.empty(0))
        sent, received, gone = (counted.astype(np.float64) for counted in (*carried, lost))
        return Series(every_s, sent, received, gone, np.where(rtt_s > 0, rtt_s, np.nan))

    def capacity(self, trial: int, link: str) -> npt.NDArray[np.float64]:
        """Bytes that a link could have transmitted in each bin of the series: the bandwidth that there was.

        Raises RequestError.
        """
        names = self.links.filter(pl.col("trial") == self.links["trial"][0])["link"].to_list()
        if link not in names:
            raise RequestError(f"{self.scenario.name} has no link {link!r}{did_you_mean(link, names)}")
        found = self.handle.capacity(trial, names.index(link)) if self.handle else None
        if found is None:
            raise self._no_series(trial)
        return found.astype(np.float64)

    def _no_series(self, trial: int) -> RequestError:
        if self.handle is None:
            return RequestError(
                f"{self.scenario.name}: series are not stored with results; run the scenario again"
            )
        if trial >= self.n:
            return RequestError(f"{self.scenario.name} has no trial {trial}; accepted: 0 to {self.n - 1}")
        return RequestError(
            f'{self.scenario.name} records no series, which require sample = "10 ms" in the scenario'
        )

    def verdict(self) -> Verdict:
        """Sets the outcomes against the pass criteria of the scenario."""
        return self._verdict

    @cached_property
    def _verdict(self) -> Verdict:
        return judge(self.scenario.criteria, self.flows, self.streams, self.scenario.starts_s)

    def unfinished(self) -> str | None:
        """Which flows that count did not finish, in how many trials; None if all did.

        A flow counts if the trial waits for it.
        """
        counted = [flow["name"] for flow in self.scenario.flows if flow.get("awaited", True)]
        late = self.flows.filter(~pl.col("finished") & pl.col("flow").is_in(counted))
        if late.is_empty():
            return None
        names = [f"flow {name}" for name in late["flow"].unique(maintain_order=True)]
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED + 1 else []
        whose = " and ".join([*names[:_NAMED], *more] if more else names)
        share = f"{late['trial'].n_unique()} of {self.n} trials: " if self.n > 1 else ""
        limit = text(self.scenario.time_limit_s, "s")
        return f"{share}{whose} did not finish within the simulated time limit of {limit}"

    def plot(self) -> Figure:
        """The distribution of the first metric that decides, against its target and its floor."""
        from thalweg import plot_distribution  # noqa: PLC0415 - most programs draw nothing

        return plot_distribution(self)


def together(parts: Sequence[Outcomes]) -> Outcomes:
    """Trials of one scenario that ran in parts, in the order of their seeds, as one run."""
    if len(parts) == 1:
        return parts[0]
    ordered = sorted(parts, key=lambda part: part.seed)
    first = [0, *accumulate(part.n for part in ordered)]
    tables = {
        name: pl.concat(
            [_renumbered(getattr(part, name), part, first[number]) for number, part in enumerate(ordered)],
            how="vertical_relaxed",
        )
        for name in TABLES
    }
    return Outcomes(parts[0].scenario, **tables, handle=_SeriesOfParts(ordered, first))


def _renumbered(table: pl.DataFrame, part: Outcomes, first: int) -> pl.DataFrame:
    """A table whose trials are counted from `first` on."""
    if not table.width:
        return table
    numbers = part.trials["trial"]
    counted = pl.Series(range(first, first + len(numbers)), dtype=pl.Int64)
    return table.with_columns(trial=pl.col("trial").cast(pl.Int64).replace_strict(numbers, counted))


@dataclass(frozen=True)
class _SeriesOfParts:
    """The series of trials that ran in parts."""

    parts: Sequence[Outcomes]
    first: Sequence[int]
    """The number of the first trial of each part."""

    def series(self, trial: int, flow: int) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None:
        handle, number = self._of(trial)
        return handle.series(number, flow) if handle else None

    def sender_series(
        self, trial: int, flow: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]] | None:
        handle, number = self._of(trial)
        return handle.sender_series(number, flow) if handle else None

    def capacity(self, trial: int, link: int) -> npt.NDArray[np.uint64] | None:
        handle, number = self._of(trial)
        return handle.capacity(number, link) if handle else None

    def _of(self, trial: int) -> tuple[SeriesSource | None, int]:
        part = bisect_right(self.first, trial) - 1
        return (self.parts[part].handle, trial - self.first[part]) if part < len(self.parts) else (None, 0)


@dataclass(frozen=True, repr=False)
class Trial(Described):
    """One trial: its outcomes and, if it was asked for, its trace."""

    outcomes: Outcomes
    trace: Trace | None

    def described(self) -> Iterator[tuple[str, str]]:
        """Verdict, flows, the trace, the hash."""
        yield "Trial", f"of {self.outcomes.scenario.reference} with seed {self.seed}"
        yield "verdict", self.verdict().answer or "nothing was asked"
        yield "flows", listed(self.outcomes.flows_described())
        yield (
            "trace",
            f"{self.trace.flows.height} rows of flows" if self.trace else "none without run(trace=True)",
        )
        yield "hash", self.trace_hash

    @property
    def flows(self) -> pl.DataFrame:
        """One row for each flow."""
        return self.outcomes.flows

    @property
    def links(self) -> pl.DataFrame:
        """One row for each link."""
        return self.outcomes.links

    @property
    def streams(self) -> pl.DataFrame:
        """One row for each stream of media."""
        return self.outcomes.streams

    @cached_property
    def seed(self) -> int:
        """The seed of this trial."""
        return self.outcomes.seed

    @cached_property
    def trace_hash(self) -> str:
        """Fingerprint of all that happened."""
        return str(self.outcomes.trials["trace_hash"][0])

    def verdict(self) -> Verdict:
        """Sets this one trial against the pass criteria."""
        return self.outcomes.verdict()

    def plot(self) -> Figure:
        """The time series of this trial. Needs a trace: `run(seed, trace=True)`."""
        from thalweg import plot_trial  # noqa: PLC0415 - most programs draw nothing

        return plot_trial(self)
