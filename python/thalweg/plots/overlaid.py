"""The queues of several trials over each other: colour is the trial, the dash is the link, crosses are drops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from thalweg.plots.downsample import downsample
from thalweg.plots.panel import HEIGHT, Panel
from thalweg.plots.queues import drop_marks, longest
from thalweg.plots.spec import DASHES, Spec, colour, dash, table, values, word
from thalweg.plots.theme import distinct
from thalweg.quantity import scale
from thalweg.trace import Trace

_SEEN = 0.02
"""The least share of the longest queue at which a line is more than the axis below it."""
_FIRST_ROW, _ROW = 6, 9
"""Drops of each trial stand in a row of their own, in pixels from the top."""
_SHAPES = {
    "queue": "cross",
    "aqm": "triangle-up",
    "loss": "circle",
    "policer": "square",
    "shrunk": "triangle-down",
    "flushed": "diamond",
}


def overlaid(trials: Mapping[str, Trace], flows: Sequence[str], end: float, buckets: int) -> Panel | None:
    """A line for each trial in its colour, which is that of its flow where it has one, and its drops."""
    alone = all(label in flows for label in trials)
    shades = distinct(len(flows) + (0 if alone else len(trials)))
    colours = (
        dict(zip(flows, shades, strict=False)) if alone else dict(zip(trials, shades[-len(trials) :], strict=True))
    )
    lengths = {label: longest(trace.links) for label, trace in trials.items()}
    top = max((most for own in lengths.values() for most in own.values()), default=0.0)
    if not top and all(trace.drops.is_empty() for trace in trials.values()):
        return None
    most: dict[str, float] = {}
    for own in lengths.values():
        for link, length in own.items():
            most[link] = max(most.get(link, 0.0), length)
    drawn = sorted((link for link in most if most[link] >= _SEEN * top), key=lambda link: -most[link])[
        : len(DASHES)
    ]
    factor, unit = scale(top or 1e-3, "s")
    lines = [_line(trace, label, drawn, buckets) for label, trace in trials.items()]
    data = pl.concat(lines).with_columns(pl.col("queue_delay_s") / factor)
    whose = f"queue of {drawn[0]}" if len(drawn) == 1 else "queueing"
    dropped = [label for label, trace in trials.items() if trace.drops.height]
    above = HEIGHT / (HEIGHT - _ROW * len(dropped) - 2)
    encoding: Spec = {
        "y": values(f"{whose} ({unit})", (top or 1e-3) / factor * above, "queue_delay_s"),
        "color": colour([*trials], [colours[label] for label in trials]),
        "detail": [word("label"), word("link")],
    }
    if len(drawn) > 1:
        encoding["strokeDash"] = dash(drawn, "link")
    line: Spec = {
        "data": table(data, "queue"),
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.3, "clip": True},
        "encoding": encoding,
    }
    layers = [line]
    for row, label in enumerate(dropped):
        layers += drop_marks(
            trials[label].drops,
            end / buckets,
            dict.fromkeys(_SHAPES, colours[label]),
            y=_FIRST_ROW + _ROW * row,
            of=f"{label}: ",
            shapes=_SHAPES,
        )
    resolve = {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")}
    by = ["label"] if len(drawn) == 1 else ["label", "link"]
    reading: Spec = {"kind": "steps", "by": by, "value": "queue_delay_s", "unit": unit, "title": "queue"}
    return Panel("queue", {"height": HEIGHT, "layer": layers, "resolve": resolve}, reading)


def _line(trace: Trace, label: str, drawn: Sequence[str], buckets: int) -> pl.DataFrame:
    links = trace.links.select("time_s", "link", "queue_delay_s").filter(pl.col("link").is_in([*drawn]))
    thin = downsample(links, "queue_delay_s", ["link"], buckets)
    return thin.select("time_s", pl.lit(label).alias("label"), "link", "queue_delay_s")
