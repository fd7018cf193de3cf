"""Panels of lines over time: series of flows with a common unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from thalweg.base.quantity import scale
from thalweg.engine.trace import Trace
from thalweg.pages.figures.downsample import Grouped, changes
from thalweg.pages.figures.spec import Spec, colour, dash, table, titled, values, word
from thalweg.pages.figures.theme import GREY, LOOKS, distinct, hue

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
HEIGHT = 125
CAPACITY = "capacity"
_MOST_CAPACITIES = 6


@dataclass(frozen=True)
class Panel:
    """A part of a figure with its own vertical axis."""

    name: str
    """The name of its data, unique within the figure."""
    spec: Spec
    """Without its time axis."""
    reading: Spec = field(default_factory=dict)
    """What a cursor reads of its data."""


@dataclass(frozen=True)
class Plan:
    """Series with a common unit."""

    name: str
    title: str
    unit: str
    columns: Mapping[str, tuple[str, str]]
    """Column of the trace -> name in the legend, and colour in a figure of one flow."""


def _plan(name: str) -> Plan:
    panel = LOOKS["panels"][name]
    series = {column: (str(said), hue(shade)) for column, (said, shade) in panel["series"].items()}
    return Plan(name, str(panel["title"]), str(panel["unit"]), series)


WINDOW, RTT, RATE, ENCODER = map(_plan, ("window", "rtt", "rate", "encoder"))
TITLES = {name: str(panel["title"]) for name, panel in LOOKS["panels"].items()}


def link_called(link: str) -> str:
    """What a link is called: `downlink` for the one that scenarios name `down`."""
    return str(LOOKS["ways"].get(link, link))


class Flows:
    """The series of flows, thinned: which rows belong to a flow is found once for all panels."""

    def __init__(self, trace: Trace, called: Mapping[str, str], buckets: int) -> None:
        self._trace = trace
        self._buckets = buckets
        self._grouped = Grouped.of(trace.flows, ["flow"])
        self._names = [str(trace.flows["flow"][int(rows[0])]) for rows in self._grouped.rows if len(rows)]
        self._places = np.empty(trace.flows.height, np.uint32)
        for index, rows in enumerate(self._grouped.rows):
            self._places[rows] = index
        self._called = dict(called)
        self.labels = list(dict.fromkeys(called.values()))

    def lines(self, plan: Plan) -> Panel:
        """One line for each flow and series; capacities are grey."""
        shown = dict(own for column, own in plan.columns.items() if column in self._trace.flows.columns)
        return lines(plan, self._series(plan), shown, self.labels)

    def _series(self, plan: Plan) -> pl.DataFrame:
        """The series of a panel, thinned, in one column: time_s, flow, label, series, value."""
        flows, parts = self._trace.flows, []
        for column, (name, _) in plan.columns.items():
            if column in flows.columns:
                series = flows[column]
                numbers = (series if series.dtype == pl.Float64 else series.cast(pl.Float64)).to_numpy()
                rows, drawn = self._grouped.line(numbers, self._buckets)
                parts.append((self._grouped.times[rows], self._places[rows], name, drawn))
        names = [*self._names]
        if plan is RATE:
            steps = capacities(self._trace)
            links = steps["link"].unique(maintain_order=True).to_list()
            places = np.array([len(names) + links.index(link) for link in steps["link"]], np.uint32)
            parts.append((steps["time_s"].to_numpy(), places, CAPACITY, steps["capacity_bps"].to_numpy()))
            names += links
        labels = [called(self._called, name) for name in self._names] + [CAPACITY] * (
            len(names) - len(self._names)
        )
        which = pl.Series(np.concatenate([places for _, places, _, _ in parts]).astype(np.uint32))
        kinds = pl.Series(np.repeat(np.arange(len(parts), dtype=np.uint32), [len(part[0]) for part in parts]))
        return pl.DataFrame(
            {
                "time_s": np.concatenate([times for times, *_ in parts]),
                "flow": pl.Series(names, dtype=pl.String).gather(which),
                "label": pl.Series(labels, dtype=pl.String).gather(which),
                "series": pl.Series([part[2] for part in parts], dtype=pl.String).gather(kinds),
                "value": np.concatenate([drawn for *_, drawn in parts]).astype(np.float64),
            }
        )


def lines(plan: Plan, series: pl.DataFrame, shown: Mapping[str, str], labels: Sequence[str]) -> Panel:
    """One line for each flow and series of a table: time_s, flow, label, series, value.

    `shown` has the series by their names, with their colours if there is one label.
    """
    value, is_capacity = series["value"].to_numpy(), (series["series"] == CAPACITY).to_numpy()
    top = _top(value[~is_capacity], value[is_capacity])
    factor, unit = scale(top, plan.unit)
    single = len(labels) == 1
    names, keys = list(shown), list(shown) if single else list(labels)
    shades = list(shown.values()) if single else distinct(len(keys))
    if plan in (RATE, ENCODER):
        names, keys, shades = [*names, CAPACITY], [*keys, CAPACITY], [*shades, GREY]
    label = series["series" if single else "label"].alias("label")
    data = series.with_columns(pl.Series("value", value / factor), label)
    encoding: Spec = {
        "y": values(unit, top / factor * 1.04),
        "color": colour(keys, shades, values=keys if single else list(labels), **titled(plan.title)),
        "detail": [word("flow"), word("series")],
    }
    if not single:
        encoding["strokeDash"] = dash(names)
    spec: Spec = {
        "data": table(data, plan.name),
        "height": HEIGHT,
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.3, "clip": True},
        "encoding": encoding,
    }
    by = ["series"] if single else ["flow", "series"]
    return Panel(plan.name, spec, {"kind": "steps", "by": by, "value": "value", "unit": unit})


def capacities(trace: Trace) -> pl.DataFrame:
    """The capacity of each link when it changes; none of a path with many links."""
    steps = changes(trace.links, "capacity_bps", ["link"])
    return steps if steps["link"].n_unique() <= _MOST_CAPACITIES else steps.clear()


def called(names: Mapping[str, str], flow: str) -> str:
    """What a flow is called; requests, as `web/17`, like the flow that makes them."""
    return names.get(flow) or names.get(re.sub(r"/\d+$", "", flow)) or flow


def _top(drawn: Floats, capacities: Floats) -> float:
    """The top of a vertical axis: the capacity is in sight, and a short spike does not flatten the rest."""
    largest = float(np.fmax.reduce(drawn, initial=0.0))
    if not len(capacities):
        return largest or 1.0
    capacity = float(capacities.max())
    return max(min(largest, 3 * capacity), capacity) or 1.0


def moments(marks: Sequence[tuple[str, float]], end: float) -> list[Spec]:
    """Upright lines at times that have a name, with the names next to them, one below the other."""
    layers: list[Spec] = []
    for index, (name, at) in enumerate((name, at) for name, at in marks if at <= end):
        data: Spec = {"values": [{"time_s": at, "name": name}]}
        rule: Spec = {"type": "rule", "strokeDash": [4, 3], "color": GREY, "clip": True}
        text: Spec = {"type": "text", "align": "right", "baseline": "top", "dx": -3, "dy": 2 + 12 * index}
        layers.append({"data": data, "mark": rule})
        layers.append({"data": data, "mark": text, "encoding": {"text": word("name"), "y": {"value": 0}}})
    return layers
