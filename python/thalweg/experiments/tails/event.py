"""The event whose probability is asked for: one number of each trial beyond a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from thalweg.base.columns import frame
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import measure as measured
from thalweg.base.quantity import plain, text
from thalweg.engine.scenario import Scenario
from thalweg.judging.measures import METRICS, Measure
from thalweg.judging.verdict import values_of

if TYPE_CHECKING:
    from thalweg import _native
    from thalweg.experiments.tails.subset import Values

_STREAM = "video"


@dataclass(frozen=True)
class Event:
    """A metric of a flow, or of a stream of it, above a bound or below it."""

    measure: Measure
    flow: str
    stream: str | None
    bound: float
    is_above: bool
    criterion: dict[str, Any]
    """Says where outcomes have the metric: the criterion of the scenario on it, or one that bounds nothing."""

    @property
    def sentence(self) -> str:
        """What happens: `max-delay of main video above 400 ms`."""
        of = " ".join(filter(None, (self.flow, self.stream)))
        return f"{self.measure.name} of {of} {self.side} {self.shown(self.bound)}"

    @property
    def side(self) -> str:
        """On which side of the bound it is."""
        return "above" if self.is_above else "below"

    def shown(self, value: float) -> str:
        """A value of the metric with its unit."""
        if not math.isfinite(value):
            return "unfinished" if self.measure.unit == "s" else "no value"
        return text(value, self.measure.unit, 4) if self.measure.unit else plain(value)

    @property
    def threshold(self) -> float:
        """The bound among the values of trials."""
        return self.towards(self.bound)

    def towards(self, value: float) -> float:
        """A value of the metric as one that is larger the nearer it is to the event; the same way back."""
        return value if self.is_above else -value

    def values(self, scenario: Scenario, trials: Sequence[_native.Outcomes]) -> Values:
        """The values of outcomes of one trial each, larger towards the event."""
        column = self.measure.column
        about = ("start_s", "finished")
        flows = _rows(
            [one.flows for one in trials], {"flow": self.flow}, about if self.stream else (*about, column)
        )
        streams = None
        if self.stream:
            whose = {"flow": self.flow, "stream": self.stream}
            streams = _rows([one.streams for one in trials], whose, (column,))
        found = values_of(self.criterion, flows, streams, scenario.description.starts_s)["value"].to_numpy()
        return found if self.is_above else -found


def _rows(
    tables: Sequence[Mapping[str, _native.Column]], whose: Mapping[str, str], names: Sequence[str]
) -> pl.DataFrame:
    """A row of each table, which has one trial: the row of a flow or stream, whose place is the same in all."""
    first = frame({name: tables[0][name] for name in whose}).with_row_index("place")
    found = first.filter(**whose)["place"]
    if found.is_empty():
        known = ", ".join(" ".join(map(str, row)) for row in first.select(list(whose)).iter_rows()) or "none"
        raise RequestError(f"the trials have no {' '.join(whose.values())}; accepted: {known}")
    place = int(found[0])
    columns = {name: [np.asarray(table[name])[place].item() for table in tables] for name in names}
    said = {name: [value] * len(tables) for name, value in whose.items()}
    return pl.DataFrame({"trial": range(len(tables)), **said, **columns})


def read_event(
    scenario: Scenario, metric: str, flow: str | None, stream: str | None, above: str | None, below: str | None
) -> Event:
    """The event that options name. Raises RequestError."""
    known = {name: one for name, one in METRICS.items() if one.of in ("flow", "stream") and one.column}
    if metric not in known:
        hint = did_you_mean(metric, known)
        raise RequestError(f"--metric {metric!r}: accepted: a metric of flows or streams{hint}")
    measure = known[metric]
    names = [str(one["name"]) for one in scenario.flows]
    chosen = names[0] if flow is None else flow
    if chosen not in names:
        raise RequestError(f"--flow {chosen!r}: the scenario has no such flow{did_you_mean(chosen, names)}")
    if measure.of == "stream":
        stream = stream or _STREAM
    elif stream is not None:
        raise RequestError(f"--stream cannot be combined with {metric}, which is of a flow")
    if above is not None and below is not None:
        raise RequestError("--above cannot be combined with --below")
    if above is None and below is None:
        raise RequestError(f'one of --above and --below is required, such as --above "{_example(measure)}"')
    words = above if above is not None else str(below)
    option = "--above" if above is not None else "--below"
    own = (
        one
        for one in scenario.criteria
        if (one["flow"], one.get("stream"), one["metric"]) == (chosen, stream, metric)
    )
    usual = measure.criterion(chosen, stream, awaited=scenario.description.awaits(chosen))
    criterion = dict(next(own, usual))
    if measure.better is None:
        # Neither end is worse: a trial without a value is away from the event.
        criterion |= {"at_least": -math.inf, "at_most": None} if above is not None else {"at_least": None}
    return Event(measure, chosen, stream, _bound(words, option, measure), above is not None, criterion)


def _example(measure: Measure) -> str:
    return {"s": "400 ms", "bps": "1 Mbps", "share": "5 %"}.get(measure.unit, "3")


def _bound(words: str, option: str, measure: Measure) -> float:
    """A bound in the unit of the metric. Raises RequestError."""
    value, unit = measured(words) or (math.nan, "")
    if not measure.unit:
        value = math.nan
        with suppress(ValueError):
            value, unit = float(words), ""
    if not math.isfinite(value) or value < 0 or unit != measure.unit.replace("share", ""):
        raise RequestError(
            f'{option} {words!r}: accepted: a value of {measure.name}, such as "{_example(measure)}"'
        )
    return value
