"""Panels of calls: what encoders do, and for each stream the delay of its frames and when its picture was frozen.

An encoder has two lines, its rate and what congestion control tells it, at the times of its frames, next to the
capacity of the links. What it is told is its part: less headers and the fixed streams of the sender, shared by all
its encoders, and without packets of repair. With one stream colour tells the lines apart, else the dash does.

Frames stand at the time at which they were due. One that is late is marked, one that never came is a cross at the
top: it was cancelled with the rest of its group, or lost as a datagram. The picture is frozen where the outcomes
count a freeze, as WebRTC does. Frames in time are thinned where there are very many; late ones never are. The
panels of streams with one name have one scale, so that trials can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from thalweg.base.quantity import scale, text
from thalweg.engine.trace import Trace
from thalweg.pages.figures.downsample import downsample
from thalweg.pages.figures.panel import CAPACITY, ENCODER, TITLES, Panel, capacities, lines
from thalweg.pages.figures.spec import Spec, colour, table, titled, tooltip, values, word
from thalweg.pages.figures.theme import GREY, LOOKS, hue

_HEIGHT = 84
IN_TIME, LATE, NEVER, BEFORE, FROZEN = "in time", "late", "never came", "before the start of measurement", "frozen"
_TIMES, _LONGER_S = 3, 0.15
"""A freeze is so many intervals, and longer than one by so much: crates/sim/src/outcome/freezes.rs."""
_PAUSED = 1.5
_SHADES = {fate: hue(name) for fate, name in LOOKS["frames"].items()}


def frames(table_: pl.DataFrame, flows: Mapping[str, str], buckets: int) -> list[Panel]:
    """A panel for each stream of each call."""
    panels: list[Panel] = []
    for (flow, stream), rows in table_.group_by("flow", "stream", maintain_order=True):
        label = str(stream) if table_["flow"].n_unique() == 1 else f"{flows.get(str(flow), flow)}: {stream}"
        top = _top(table_.filter(pl.col("stream") == stream))
        panels.append(_panel(f"frames-{len(panels)}", label, fates(rows), top, buckets))
    return panels


def spans(table_: pl.DataFrame, flows: Mapping[str, str]) -> pl.DataFrame:
    """When the picture of each stream was frozen: flow (with its stream), fate, time_s, until_s.

    Where one stream has a freeze, others of its name have at least a row of no length, for their place in the
    figure.
    """
    found = {key: [*freezes(own)] for key, own in table_.group_by("flow", "stream", maintain_order=True)}
    frozen = {stream for (_, stream), own in found.items() if own}
    rows = [
        (f"{flows.get(str(flow), flow)}: {stream}", FROZEN, begin, end)
        for (flow, stream), own in found.items()
        if stream in frozen
        for begin, end in own or [(0.0, 0.0)]
    ]
    return pl.DataFrame(rows, schema=["flow", "fate", "time_s", "until_s"], orient="row")


def _top(rows: pl.DataFrame) -> float:
    """The end of the vertical axis: the slowest frame, and room above the deadline."""
    slowest = rows["delay_s"].fill_nan(None).max()
    return max(1.15 * float(rows["deadline_s"].to_numpy().max()), float(slowest or 0.0))  # type: ignore[arg-type]


def fates(rows: pl.DataFrame) -> pl.DataFrame:
    """Adds what became of each frame: in time, late, never came."""
    late = pl.col("delay_s") > pl.col("deadline_s")
    came = pl.col("delay_s").is_not_nan()
    fate = pl.when(~pl.col("counted")).then(pl.lit(BEFORE)).when(~came).then(pl.lit(NEVER))
    return rows.with_columns(fate.when(late).then(pl.lit(LATE)).otherwise(pl.lit(IN_TIME)).alias("fate"))


def freezes(rows: pl.DataFrame) -> Iterator[tuple[float, float]]:
    """From when to when the picture of one stream was frozen, the last one perhaps to the end of the frames."""
    ended = rows.filter(pl.col("frozen_s").is_not_nan())
    for due, delay, frozen in ended.select("time_s", "delay_s", "frozen_s").iter_rows():
        yield due + delay - frozen, due + delay
    yield from _open(rows.filter("counted").sort("time_s"))


def _open(rows: pl.DataFrame) -> Iterator[tuple[float, float]]:
    """The freeze at the end of a stream whose last frames never came, by the rule of the outcomes."""
    if rows.height < 2:
        return
    due, delay = rows["time_s"].to_numpy(), rows["delay_s"].to_numpy()
    came = np.flatnonzero(~np.isnan(delay))
    first = int(came[-1]) + 1 if len(came) else 0
    if first == len(due):
        return
    interval = float(np.min(np.diff(due)))
    shown = float(np.max(due[came] + delay[came])) if len(came) else float(due[0])
    # After a pause nobody waits for the frames that were not due; the last pause counts, as in the outcomes.
    pauses = np.flatnonzero(np.diff(due[max(first - 1, 0) :]) > _PAUSED * interval)
    resumed = float(due[max(first - 1, 0) + int(pauses[-1]) + 1]) if len(pauses) else shown
    begin, end = max(shown, resumed), float(due[-1]) + interval
    if end - begin >= max(_TIMES * interval, interval + _LONGER_S):
        yield begin, end


def _panel(name: str, label: str, rows: pl.DataFrame, top: float, buckets: int) -> Panel:
    deadline = float(rows["deadline_s"][0])
    came = rows.filter(pl.col("delay_s").is_not_nan())
    factor, unit = scale(top, "s")
    in_time = downsample(came.filter(pl.col("fate") == IN_TIME), "delay_s", [], buckets)
    bad = rows.filter(pl.col("fate") != IN_TIME)
    shown = pl.concat([in_time, bad]).sort("time_s", maintain_order=True)
    delay = pl.when(pl.col("fate") == NEVER).then(top).otherwise("delay_s") / factor
    came_s = pl.col("delay_s") / factor
    data = shown.select(
        "time_s", pl.col("fate").alias("label"), delay.alias("delay"), came_s.alias("came")
    ).filter(pl.col("delay").is_not_nan())
    stalls = pl.DataFrame(list(freezes(rows)), schema={"time_s": pl.Float64, "until_s": pl.Float64}, orient="row")
    kinds = [kind for kind in _SHADES if (data["label"] == kind).any() or (kind == FROZEN and stalls.height)]
    title = titled(f"{TITLES['frames']}: {label}")
    shades = colour(kinds, [_SHADES[kind] for kind in kinds], symbolOpacity=1, **title)
    points: Spec = {
        "data": table(data, name),
        "mark": {"type": "point", "filled": True, "opacity": 0.85, "clip": True},
        "encoding": {
            "y": values(unit, top / factor * 1.06, "delay"),
            "color": shades,
            "shape": word(
                "label",
                scale={
                    "domain": kinds,
                    "range": ["cross" if kind == NEVER else "circle" for kind in kinds],
                },
                legend=shades["legend"],
            ),
            "size": {"condition": {"test": f"datum.label == '{IN_TIME}'", "value": 9}, "value": 34},
            "tooltip": tooltip("label", time_s="due (s)", delay=f"delay ({unit})"),
        },
    }
    limit: Spec = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "strokeDash": [5, 3], "color": GREY},
        "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": deadline / factor}},
    }
    said: Spec = {
        "data": {"values": [{}]},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -2},
        "encoding": {
            "text": {"value": f"deadline {text(deadline, 's')}"},
            "x": {"value": 0},
            "y": {"datum": deadline / factor},
        },
    }
    layers: list[Spec] = [limit, said, points]
    if stalls.height:
        frozen = stalls.with_columns(pl.lit(FROZEN).alias("label"))
        layers.insert(
            0,
            {
                "data": table(frozen, f"{name}-frozen"),
                "mark": {"type": "rect", "opacity": 0.35, "clip": True},
                "encoding": {
                    "x2": {"field": "until_s"},
                    "color": shades,
                    "tooltip": tooltip("label", time_s="from (s)", until_s="until (s)"),
                },
            },
        )
    reading: Spec = {"kind": "points", "by": [], "value": "came", "word": "label", "unit": unit, "title": label}
    return Panel(name, {"height": _HEIGHT, "layer": layers}, reading)


def encoders(trace: Trace, flows: Mapping[str, str], buckets: int) -> Panel | None:
    """The panel; None without an encoder."""
    rows = trace.frames.filter(pl.col("encoder_bps").is_not_nan())
    if not rows.height:
        return None
    streams = rows.select("flow", "stream").unique(maintain_order=True).rows()
    one_flow = len({flow for flow, _ in streams}) == 1
    one_each = len(streams) == len({flow for flow, _ in streams})
    named = {
        (flow, stream): stream
        if one_flow
        else flows.get(flow, flow)
        if one_each
        else f"{flows.get(flow, flow)}: {stream}"
        for flow, stream in streams
    }
    parts = []
    for (flow, stream), label in named.items():
        own = rows.filter((pl.col("flow") == flow) & (pl.col("stream") == stream))
        for column, (said, _) in ENCODER.columns.items():
            drawn = downsample(own.filter(pl.col(column).is_not_nan()), column, [], buckets)
            parts.append(_series(drawn, column, pl.lit(f"{flow}: {stream}"), label, said))
    parts.append(_series(capacities(trace), "capacity_bps", pl.col("link"), CAPACITY, CAPACITY))
    return lines(ENCODER, pl.concat(parts), dict(ENCODER.columns.values()), list(named.values()))


def _series(rows: pl.DataFrame, column: str, flow: pl.Expr, label: str, series: str) -> pl.DataFrame:
    """Rows for the lines of a panel."""
    return rows.select(
        "time_s",
        pl.lit(label).alias("label"),
        flow.alias("flow"),
        pl.lit(series).alias("series"),
        pl.col(column).cast(pl.Float64).alias("value"),
    )
