"""Panels of links: the delay in their queues with drops as marks, ECN marks, and packets that jitter held back.

The delay is its mean over short times, and lightly behind it the envelope.
With several trials over each other, colour is the trial and the dash is the link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from thalweg.base.quantity import scale
from thalweg.engine.trace import Trace
from thalweg.pages.figures.downsample import BUCKETS, HIGH, LOW, OPACITY, downsample, envelope
from thalweg.pages.figures.panel import HEIGHT, TITLES, Panel, link_called
from thalweg.pages.figures.spec import DASHES, Spec, colour, dash, table, titled, tooltip, values, word
from thalweg.pages.figures.theme import LOOKS, distinct, hue

_MOST_LINKS = 6
_SHADES = [hue(name) for name in LOOKS["links"]]
_CAUSES = {cause: hue(name) for cause, name in LOOKS["drops"].items()}
_HELD = [hue(name) for name in LOOKS["held"]]
_DELAY = "queue_delay_s"
_SEEN = 0.02
"""The least share of the longest queue at which a line is more than the axis below it."""
_FIRST_ROW, _ROW = 6, 9
"""Drops of each trial stand in a row of their own, in pixels from the top."""
_SHAPES = {
    "queue": "cross",
    "aqm": "triangle-up",
    "ack-filter": "triangle-left",
    "loss": "circle",
    "policer": "square",
    "shrunk": "triangle-down",
    "flushed": "diamond",
}


def queues(trace: Trace, end: float, buckets: int) -> Panel | None:
    """Delay in the queues that ever held something, and a mark for each drop."""
    most = longest(trace.links)
    used = [name for name in most if most[name] > 0]
    names = sorted(used, key=lambda name: -most[name])[:_MOST_LINKS]
    if not names and trace.drops.is_empty():
        return None
    links = trace.links.select("time_s", "link", _DELAY)
    if len(names) < len(most):
        links = links.filter(pl.col("link").is_in(names))
    thin = envelope(links, _DELAY, ["link"], min(buckets, BUCKETS))
    top = _finite(most) or 1e-3
    factor, unit = scale(top, "s")
    labels = [f"queue, {link_called(name)}" for name in names]
    label = pl.col("link").replace(dict(zip(names, labels, strict=True))).alias("label")
    data = thin.select("time_s", label, pl.col(_DELAY, LOW, HIGH) / factor)
    drawn = _between(
        data,
        values(unit, top / factor * 1.04, _DELAY),
        {"color": colour(labels, _SHADES[: len(labels)], symbolType="stroke", **titled(TITLES["queue"]))},
    )
    reading: Spec = {"kind": "steps", "by": ["label"], "value": _DELAY, "unit": unit}
    layers = [drawn, *_drops(trace.drops, end / buckets, _CAUSES)]
    return Panel(
        "queue", {"height": HEIGHT, "layer": layers, "resolve": {"scale": {"color": "independent"}}}, reading
    )


def overlaid(trials: Mapping[str, Trace], flows: Sequence[str], end: float, buckets: int) -> Panel | None:
    """The queue of each trial in its colour, or in its flow's, and its drops."""
    alone = all(label in flows for label in trials)
    shades = distinct(len(flows) + (0 if alone else len(trials)))
    colours = (
        dict(zip(flows, shades, strict=False)) if alone else dict(zip(trials, shades[-len(trials) :], strict=True))
    )
    lengths = {label: longest(trace.links) for label, trace in trials.items()}
    top = max((_finite(own) for own in lengths.values()), default=0.0)
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
    data = pl.concat(lines).with_columns(pl.col(_DELAY, LOW, HIGH) / factor)
    title = TITLES["queue"] + (f", {link_called(drawn[0])}" if len(drawn) == 1 else "")
    dropped = [label for label, trace in trials.items() if trace.drops.height]
    above = HEIGHT / (HEIGHT - _ROW * len(dropped) - 2)
    encoding: Spec = {
        "color": colour([*trials], [colours[label] for label in trials], symbolType="stroke", **titled(title)),
        "detail": [word("label"), word("link")],
    }
    if len(drawn) > 1:
        encoding["strokeDash"] = dash([link_called(link) for link in drawn], "link")
    layers = [_between(data, values(unit, (top or 1e-3) / factor * above, _DELAY), encoding)]
    for row, label in enumerate(dropped):
        layers += _drops(
            trials[label].drops,
            end / buckets,
            dict.fromkeys(_SHAPES, colours[label]),
            y=_FIRST_ROW + _ROW * row,
            of=f"{label}: ",
            shapes=_SHAPES,
        )
    resolve = {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")}
    by = ["label"] if len(drawn) == 1 else ["label", "link"]
    reading: Spec = {"kind": "steps", "by": by, "value": _DELAY, "unit": unit, "title": "queue"}
    return Panel("queue", {"height": HEIGHT, "layer": layers, "resolve": resolve}, reading)


def _line(trace: Trace, label: str, drawn: Sequence[str], buckets: int) -> pl.DataFrame:
    links = trace.links.select("time_s", "link", _DELAY).filter(pl.col("link").is_in([*drawn]))
    thin = envelope(links, _DELAY, ["link"], min(buckets, BUCKETS))
    link = pl.col("link").replace({name: link_called(name) for name in drawn})
    return thin.select("time_s", pl.lit(label).alias("label"), link, _DELAY, LOW, HIGH)


def _between(data: pl.DataFrame, y: Spec, encoding: Spec) -> Spec:
    """The mean as a line, and its envelope behind it."""
    bounds: Spec = {"y": {**y, "field": HIGH}, "y2": {"field": LOW}}
    area: Spec = {"type": "area", "interpolate": "step-after", "fillOpacity": OPACITY, "clip": True}
    line: Spec = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.3, "clip": True}
    return {
        "data": table(data, "queue"),
        "encoding": encoding,
        "layer": [{"mark": area, "encoding": bounds}, {"mark": line, "encoding": {"y": y}}],
    }


def _finite(longest_s: Mapping[str, float]) -> float:
    """The longest that can be drawn: the queue of a link without capacity has no end."""
    return max((delay for delay in longest_s.values() if np.isfinite(delay)), default=0.0)


def longest(links: pl.DataFrame) -> dict[str, float]:
    """The largest delay in the queue of each link, in order of appearance."""
    names: list[str] = links["link"].unique(maintain_order=True).to_list()
    delays = links["queue_delay_s"].to_numpy()
    return {name: float(np.fmax.reduce(delays[(links["link"] == name).to_numpy()], initial=0.0)) for name in names}


def _drops(
    drops: pl.DataFrame,
    width: float,
    shades: Mapping[str, str],
    y: int = 6,
    of: str = "",
    shapes: Mapping[str, str] | None = None,
) -> list[Spec]:
    """The first drop of each kind in each bucket of time, labelled with their number, `of` before it.

    `shades` are the colours of causes, `shapes` tell causes apart where the colour does not.
    """
    if drops.is_empty():
        return []
    counts = drops.group_by("reason", maintain_order=True).agg(pl.len().alias("count"))
    labelled = drops.join(counts, on="reason", maintain_order="left").with_columns(
        pl.format("{}{} dropped ({})", pl.lit(of), "count", "reason").alias("label"),
        (pl.col("time_s") / width).floor().alias("bucket"),
    )
    first = labelled.unique(["link", "flow", "reason", "bucket"], keep="first", maintain_order=True)
    kinds = first.unique("reason", maintain_order=True)
    labels, causes = kinds["label"].to_list(), kinds["reason"].to_list()
    mark: Spec = {
        "data": table(first.select("time_s", "link", "flow", "label"), f"{of}drops"),
        "mark": {
            "type": "point",
            "shape": "cross",
            "angle": 45,
            "size": 34,
            "filled": True,
            "opacity": 0.9,
            "clip": True,
        },
        "encoding": {
            "y": {"value": y},
            "color": colour(labels, [shades.get(cause, "#555555") for cause in causes]),
            "tooltip": tooltip("link", "flow", "label", time_s="time (s)"),
        },
    }
    if shapes is not None:
        signs = [shapes.get(cause, "cross") for cause in causes]
        legend = mark["encoding"]["color"]["legend"]
        mark["encoding"]["shape"] = word("label", scale={"domain": labels, "range": signs}, legend=legend)
    return [mark]


def marked(trace: Trace, buckets: int) -> Panel | None:
    """How many packets each link has marked so far, of those that marked any."""
    counts = trace.links.group_by("link", maintain_order=True).agg(pl.col("marked_packets").max())
    names: list[str] = counts.filter(pl.col("marked_packets") > 0)["link"].head(_MOST_LINKS).to_list()
    if not names:
        return None
    links = trace.links.filter(pl.col("link").is_in(names)).select(
        "time_s", "link", pl.col("marked_packets").cast(pl.Float64)
    )
    labels = [f"marked, {link_called(name)}" for name in names]
    label = pl.col("link").replace(dict(zip(names, labels, strict=True))).alias("label")
    data = downsample(links, "marked_packets", ["link"], buckets).select("time_s", label, "marked_packets")
    spec: Spec = {
        "data": table(data, "marks"),
        "height": HEIGHT * 0.6,
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.3, "clip": True},
        "encoding": {
            "y": values("packets", float(data["marked_packets"].max()) * 1.04, "marked_packets"),  # type: ignore[arg-type]
            "color": colour(labels, _SHADES[: len(labels)], **titled(TITLES["marks"])),
        },
    }
    return Panel("marks", spec, {"kind": "steps", "by": ["label"], "value": "marked_packets", "unit": "packets"})


def held_back(trace: Trace, end: float, buckets: int) -> Panel | None:
    """How long links held packets back: of each stretch of time, the longest."""
    if trace.held.is_empty():
        return None
    top = float(trace.held["held_s"].max())  # type: ignore[arg-type]
    factor, unit = scale(top, "s")
    worst = (
        trace.held.with_columns((pl.col("time_s") / (end / buckets)).floor().alias("bucket"))
        .sort("held_s", descending=True, maintain_order=True)
        .unique(["link", "bucket"], keep="first", maintain_order=True)
        .sort("time_s", maintain_order=True)
    )
    names: list[str] = worst["link"].unique(maintain_order=True).to_list()
    labels = [f"held back, {link_called(name)}" for name in names]
    label = pl.col("link").replace(dict(zip(names, labels, strict=True))).alias("label")
    data = worst.select("time_s", label, pl.col("held_s") / factor)
    shades = _HELD if len(names) <= len(_HELD) else distinct(len(names))
    spec: Spec = {
        "data": table(data, "held"),
        "height": HEIGHT * 0.6,
        "mark": {"type": "rule", "strokeWidth": 1.1, "opacity": 0.75, "clip": True},
        "encoding": {
            "y": values(unit, top / factor * 1.04, "held_s"),
            "y2": {"datum": 0},
            "color": colour(labels, shades[: len(names)], **titled(TITLES["held"])),
        },
    }
    return Panel("held", spec, {"kind": "points", "by": ["label"], "value": "held_s", "unit": unit})
