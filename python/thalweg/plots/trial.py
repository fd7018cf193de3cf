"""The figure of one trial: panels over one time axis.

Window and bytes in flight, round-trip times, rates against the capacity of the links, queues with drops as
marks, and the states of the controllers. With one flow, colour tells the series of a panel apart and the
states shade the first panel; with several, colour is the flow, the dash is the series, and the states have
panels of their own. Series are thinned before they are drawn; peaks stay. Where a value is not known, as the
pacing rate of a flow that is not paced, there is no line.
"""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import numpy as np
import polars as pl

from thalweg.errors import RequestError
from thalweg.outcome import Trial
from thalweg.plots.data import rows, told
from thalweg.plots.downsample import changes, downsample, gaps
from thalweg.plots.theme import BLUE, CONFIG, GREEN, GREY, ORANGE, PURPLE, SERIES, SKY, STATES, VERMILION, WIDTH
from thalweg.quantity import scale, text
from thalweg.trace import Trace
from thalweg.verdict import without_offset

_HEIGHT = 125
_STRIP = 16
"""Height of the states of one flow; their names stand where other panels have a title."""
_DASHES: list[list[float]] = [[1, 0], [5, 3], [1, 2.5]]
_DROPS = [VERMILION, PURPLE, ORANGE, GREEN, SKY, BLUE]
_CAPACITY = "capacity"
_MOST_STATES = 1500
_AXIS_EXTENT = 46
"""Room for the labels of every vertical axis, so that the panels stand in line."""

_Panel = alt.Chart | alt.LayerChart


@dataclass(frozen=True)
class _Plan:
    """Series with a common unit."""

    title: str
    unit: str
    columns: dict[str, str]
    """Column of the trace -> name in the legend."""


_WINDOW = _Plan("data", "B", {"window_bytes": "congestion window", "in_flight_bytes": "in flight"})
_RTT = _Plan("RTT", "s", {"latest_rtt_s": "latest RTT", "smoothed_rtt_s": "smoothed RTT"})
_RATE = _Plan("rate", "bps", {"delivery_bps": "delivery rate", "pacing_bps": "pacing rate"})


def plot_trial(trial: Trial, title: str | None = None, buckets: int = 600) -> alt.VConcatChart:
    """Draws the time series of a trial, thinned to `buckets` of time. Raises RequestError without a trace."""
    trace = trial.trace
    if trace is None:
        raise RequestError("this trial has no trace; run it with trace=True")
    flows: list[str] = trial.flows["flow"].unique(maintain_order=True).to_list()
    end = _end(trace)
    states = _states(trace.flows)

    panels: list[_Panel] = [_lines(_series(trace, plan, buckets), plan, flows) for plan in (_WINDOW, _RTT, _RATE)]
    queues = _queues(trace, end, buckets)
    if queues is not None:
        panels.append(queues)
    if not states.is_empty():
        if len(flows) == 1:
            panels[0] = alt.layer(_shades(states), panels[0]).resolve_scale(color="independent")
        else:
            panels.append(_strip(states, flows))
    placed = [
        panel.properties(width=WIDTH).encode(x=_time(end, last=number == len(panels)))
        for number, panel in enumerate(panels, start=1)
    ]
    head = alt.TitleParams(title or trial.outcomes.scenario.title, subtitle=_subtitle(trial))
    chart: alt.VConcatChart = alt.vconcat(*placed, spacing=12, title=head)
    chart = chart.resolve_scale(color="independent", strokeDash="independent", x="shared")
    return chart.configure(**CONFIG)


def _subtitle(trial: Trial) -> str:
    flows = without_offset(trial.flows, trial.outcomes.scenario.starts_s).unique("flow", maintain_order=True)
    parts = []
    for row in flows.iter_rows(named=True):
        done = f"completes in {text(row['completion_s'], 's')}" if row["finished"] else "does not finish"
        parts.append(f"{row['flow']}: {row['controller']}, {done}")
    shown = parts[:4] + ([f"and {len(parts) - 4} more"] if len(parts) > 4 else [])
    return " · ".join([f"seed {trial.seed}", *shown])


def _end(trace: Trace) -> float:
    ends = [float(series["time_s"].to_numpy().max()) for series in (trace.flows, trace.links) if series.height]
    return max(ends, default=1.0)


def _time(end: float, *, last: bool) -> alt.X:
    axis = alt.Axis(title="time (s)" if last else None, labels=last, ticks=last, domain=last, tickCount=12)
    return alt.X("time_s:Q", axis=axis, scale=alt.Scale(domain=[0, end], nice=False))


def _series(trace: Trace, plan: _Plan, buckets: int) -> pl.DataFrame:
    """The series of a panel, thinned, in one column: time_s, flow, series, value."""
    parts = []
    for column, name in plan.columns.items():
        if column in trace.flows.columns:
            thin = downsample(trace.flows, column, ["flow"], buckets)
            ends = gaps(trace.flows, column, ["flow"], buckets)
            thin = pl.concat([thin, ends]).sort("time_s", maintain_order=True)
            parts.append(
                thin.select(
                    "time_s", "flow", pl.lit(name).alias("series"), pl.col(column).cast(float).alias("value")
                )
            )
    if plan is _RATE:
        steps = changes(trace.links, "capacity_bps", ["link"]).select(
            "time_s", pl.col("link").alias("flow"), pl.col("capacity_bps").alias("value")
        )
        if steps["flow"].n_unique() <= len(SERIES):
            parts.append(
                steps.select("time_s", "flow", pl.lit(_CAPACITY).alias("series"), pl.col("value").cast(float))
            )
    return pl.concat(parts)


def _lines(series: pl.DataFrame, plan: _Plan, flows: list[str]) -> _Panel:
    """One line for each flow and series; capacities are grey."""
    single = len(flows) == 1
    names = [*plan.columns.values()]
    largest = float(series.filter(pl.col("series") != _CAPACITY)["value"].max() or 0)  # type: ignore[arg-type]
    limit = _limit(series, largest)
    factor, unit = scale(limit, plan.unit)
    label = pl.col("series") if single else pl.when(pl.col("series") == _CAPACITY).then("series").otherwise("flow")
    table = series.with_columns((pl.col("value") / factor), label.alias("label"))
    keys = names if single else flows
    colours = [SERIES[index % len(SERIES)] for index in range(len(keys))]
    if plan is _RATE:
        keys, colours = [*keys, _CAPACITY], [*colours, GREY]
        names = [*names, _CAPACITY]
    line = (
        alt.Chart(rows(table), height=_HEIGHT)
        .mark_line(interpolate="step-after", strokeWidth=1.3, clip=True)
        .encode(
            y=alt.Y(
                "value:Q",
                title=f"{plan.title} ({unit})",
                scale=alt.Scale(domain=[0, limit / factor * 1.04], nice=False),
                axis=_value_axis(),
            ),
            color=alt.Color("label:N", title=None, scale=alt.Scale(domain=keys, range=colours)),
            detail=[alt.Detail("flow:N"), alt.Detail("series:N")],
            tooltip=[*told("time_s:Q", "flow:N", "series:N"), alt.Tooltip("value:Q", title=unit)],
        )
    )
    if single:
        return line
    dashes = alt.Scale(domain=names, range=_DASHES[: len(names)])
    return line.encode(strokeDash=alt.StrokeDash("series:N", title=None, scale=dashes))


def _limit(series: pl.DataFrame, largest: float) -> float:
    """The top of a vertical axis: the capacity is in sight, and a short spike does not flatten the rest."""
    capacity = series.filter(pl.col("series") == _CAPACITY)["value"]
    if capacity.is_empty():
        return largest or 1.0
    return max(min(largest, 3 * float(capacity.max())), float(capacity.max())) or 1.0  # type: ignore[arg-type]


def _value_axis() -> alt.Axis:
    return alt.Axis(tickCount=4, minExtent=_AXIS_EXTENT, maxExtent=_AXIS_EXTENT, domain=False, ticks=False)


def _queues(trace: Trace, end: float, buckets: int) -> _Panel | None:
    """Delay in the queues that ever held something, and a mark for each drop."""
    most = _longest_queues(trace.links)
    used = [name for name in most if most[name] > 0]
    drawn = sorted(used, key=lambda name: -most[name])[: len(SERIES)]
    names = [name for name in used if name in drawn]
    if not names and trace.drops.is_empty():
        return None
    links = trace.links
    if len(names) < len(most):
        links = links.select("time_s", "link", "queue_delay_s").filter(pl.col("link").is_in(names))
    thin = downsample(links, "queue_delay_s", ["link"], buckets)
    factor, unit = scale(max(most.values(), default=0.0) or 1e-3, "s")
    table = thin.select(
        "time_s", pl.format("queue of {}", "link").alias("label"), pl.col("queue_delay_s") / factor
    )
    labels = [f"queue of {name}" for name in names]
    line = (
        alt.Chart(rows(table), height=_HEIGHT)
        .mark_area(interpolate="step-after", line={"strokeWidth": 1.2}, fillOpacity=0.12, clip=True)
        .encode(
            y=alt.Y("queue_delay_s:Q", title=f"queueing ({unit})", axis=_value_axis(), stack=None),
            color=alt.Color("label:N", title=None, scale=alt.Scale(domain=labels, range=SERIES[: len(labels)])),
        )
    )
    if trace.drops.is_empty():
        return line
    drops = _thin_drops(trace.drops, end / buckets)
    reasons = drops["label"].unique(maintain_order=True).to_list()
    free = [colour for colour in _DROPS if colour not in SERIES[: len(labels)]] or _DROPS
    marks = (
        alt.Chart(rows(drops))
        .mark_point(shape="cross", angle=45, size=34, filled=True, opacity=0.9, clip=True)
        .encode(
            y=alt.value(6),
            color=alt.Color(
                "label:N",
                title=None,
                scale=alt.Scale(domain=reasons, range=free[: len(reasons)]),
            ),
            tooltip=told("time_s:Q", "link:N", "flow:N", "label:N"),
        )
    )
    return alt.layer(line, marks).resolve_scale(color="independent")


def _longest_queues(links: pl.DataFrame) -> dict[str, float]:
    """The most delay in the queue of each link, in the order in which they come."""
    names: list[str] = links["link"].unique(maintain_order=True).to_list()
    delays = links["queue_delay_s"].to_numpy()
    return {name: float(np.fmax.reduce(delays[(links["link"] == name).to_numpy()], initial=0.0)) for name in names}


def _thin_drops(drops: pl.DataFrame, width: float) -> pl.DataFrame:
    """The first drop of each kind in each bucket of time, labelled with how many there are in all."""
    counts = drops.group_by("reason", maintain_order=True).agg(pl.len().alias("count"))
    labelled = drops.join(counts, on="reason", maintain_order="left").with_columns(
        pl.format("{} dropped ({})", "count", "reason").alias("label"),
        (pl.col("time_s") / width).floor().alias("bucket"),
    )
    first = labelled.unique(["link", "flow", "reason", "bucket"], keep="first", maintain_order=True)
    return first.select("time_s", "link", "flow", "label")


def _states(flows: pl.DataFrame) -> pl.DataFrame:
    """Intervals in which a controller stays in one state: flow, state, time_s, until_s."""
    steps = changes(flows, "state", ["flow"]).select("time_s", "flow", "state")
    spans = steps.with_columns(pl.col("time_s").shift(-1).over("flow").alias("until_s"))
    spans = spans.filter(pl.col("until_s").is_not_null() & (pl.col("until_s") > pl.col("time_s")))
    return spans.head(_MOST_STATES)


def _state_colour(states: pl.DataFrame) -> alt.Color:
    names = states["state"].unique(maintain_order=True).to_list()
    colours = [STATES[index % len(STATES)] for index in range(len(names))]
    legend = alt.Legend(symbolType="square", symbolOpacity=0.5, columns=-(-len(names) // 6))
    return alt.Color("state:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=legend)


def _shades(states: pl.DataFrame) -> alt.Chart:
    return (
        alt.Chart(rows(states), height=_HEIGHT)
        .mark_rect(opacity=0.22, clip=True)
        .encode(
            x2=alt.X2("until_s:Q"), color=_state_colour(states), tooltip=told("state:N", "time_s:Q", "until_s:Q")
        )
    )


def _strip(states: pl.DataFrame, flows: list[str]) -> alt.Chart:
    axis = alt.Axis(
        minExtent=_AXIS_EXTENT, maxExtent=_AXIS_EXTENT, domain=False, ticks=False, labelLimit=_AXIS_EXTENT + 20
    )
    return (
        alt.Chart(rows(states), height=_STRIP * len(flows))
        .mark_rect(opacity=0.75, clip=True)
        .encode(
            x2=alt.X2("until_s:Q"),
            y=alt.Y("flow:N", title=None, sort=flows, axis=axis),
            color=_state_colour(states),
            tooltip=told("flow:N", "state:N", "time_s:Q", "until_s:Q"),
        )
    )
