"""Figures of a sweep: heat maps, small multiples with intervals, and throughput against delay, linked by brushes.

What is marked in one view stands out in the others, since all are one drawing of Vega-Lite with the same points:
an interval that is dragged over a heat map or over the last view. A click on a point leads to its trial: pages
listen for `index` of what was clicked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl

from thalweg.plots.figure import Figure
from thalweg.plots.spec import Spec, number, table, word
from thalweg.plots.theme import GREY, WIDTH, distinct
from thalweg.sweep.view import Dimension, Shown, View

_HEIGHT = 170
_BESIDE = 60
"""Width of the labels beside a panel, in pixels, about."""
_FAINT = 0.15
_FEW = 8
"""Values of an axis that are told apart one by one."""
_SCHEME = "viridis"


def plot_sweep(view: View, metric: Shown, title: str, brushes: bool = True) -> Figure:
    """A metric over the axes, twice, and throughput against delay. `brushes` are of no use on paper."""
    parts = [_heat(view, metric)] if view.by else []
    parts.append(_lines(view, metric))
    if view.rate and view.delay:
        parts.append(_trade(view, view.rate, view.delay))
    if not brushes:
        parts = [_unlinked(part) for part in parts]
    spec: Spec = {
        "title": {"text": title, "subtitle": _subtitle(view, metric)},
        "data": table(_rows(view), "points"),
        "vconcat": parts,
        "resolve": {"scale": {"color": "independent"}},
        "spacing": 28,
    }
    return Figure(spec, f"{title}: {metric.title} over {view.across.title}; {_subtitle(view, metric)}")


def _subtitle(view: View, metric: Shown) -> str:
    over = [dimension.title for dimension in (view.across, view.by) if dimension]
    only = f" with {view.only}" if view.only else ""
    return (
        f"{metric.title}: medians with 95 % intervals over {' and '.join(over)}, {view.points.height} points{only}"
    )


def _rows(view: View) -> pl.DataFrame:
    """Columns with names that Vega does not take for paths into objects."""
    numbers = [metric.column for metric in (*view.metrics, view.rate, view.delay) if metric]
    metrics = [f"{name}{part}" for name in dict.fromkeys(numbers) for part in ("", ".low", ".high")]
    axes = [dimension.column for dimension in (view.across, view.by) if dimension]
    own = ["index", *axes, *(f"#{axis}" for axis in axes), "panel", "path", "front", "trials", *metrics]
    return view.points.select(pl.col(own).name.map(field))


def field(column: str) -> str:
    """The name of a column in a figure, which stands in expressions too; no two columns have the same.

    >>> field("flow.bulk-1.rate_bps")
    'flow$2e$bulk$2d$1$2e$rate_bps'
    """
    return re.sub(r"\W", lambda sign: f"${ord(sign[0]):x}$", column, flags=re.ASCII)


def _panels(view: View, draw: Callable[[int], list[Spec]], height: float) -> Spec:
    """One panel for each value of the other axes, side by side; `draw` makes the layers of a panel."""
    if len(view.panels) == 1:
        return {"width": WIDTH - _BESIDE, "height": height, "layer": draw(0)}
    across = 2 if len(view.panels) <= 4 else 3
    panels: list[Spec] = [
        {
            "title": {"text": panel, "fontSize": 11, "offset": 4},
            "width": (WIDTH - _BESIDE * across) / across,
            "height": height,
            "transform": [{"filter": {"field": "panel", "equal": panel}}],
            "layer": draw(number),
        }
        for number, panel in enumerate(view.panels)
    ]
    rows = [{"hconcat": panels[first : first + across]} for first in range(0, len(panels), across)]
    return {"vconcat": rows}


def _domain(view: View, metric: Shown) -> list[float]:
    """The least and the greatest number of a metric, bounds of intervals included: all panels have one scale."""
    numbers = pl.concat([view.points[f"{metric.column}{part}"] for part in ("", ".low", ".high")]).drop_nulls()
    if numbers.is_empty():
        return [0.0, 1.0]
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    room = 0.04 * (high - low) or 0.04 * abs(high) or 1.0
    return [low - room if low - room > 0 or low <= 0 else 0.0, high + room]


def _position(dimension: Dimension, discrete: bool) -> Spec:
    """A dimension along an axis of a panel."""
    if discrete or not dimension.is_number:
        angle = 0 if len(dimension.labels) <= _FEW else -40
        axis = {"labelAngle": angle, "labelOverlap": "greedy", "grid": False}
        name = field(f"#{dimension.column}")
        return word(name, dimension.title, sort=dimension.labels, axis=axis)
    kind: Spec = {"type": "log"} if dimension.is_log else {"zero": False}
    scale: Spec = {**kind, "nice": False, "padding": 12}
    ticks = {"values": list(dimension.ticks)} if len(dimension.ticks) <= _FEW else {}
    axis = {"format": ".6~g", "grid": False, "labelOverlap": "greedy", **ticks}
    return number(field(dimension.column), dimension.label, scale=scale, axis=axis)


def _told(view: View, *metrics: Shown) -> list[Spec]:
    dimensions = [dimension for dimension in (view.across, view.by) if dimension]
    told: list[Spec] = [word(field(f"#{dimension.column}"), dimension.title) for dimension in dimensions]
    told += [word("panel", "and")] if len(view.panels) > 1 else []
    for metric in metrics:
        for part, what in (("", ""), (".low", ", from"), (".high", ", to")):
            told.append(number(field(metric.column + part), f"{metric.label}{what}", format=".4~g"))
    return [*told, number("trials", "trials")]


def _heat(view: View, metric: Shown) -> Spec:
    """The median as colour: cells of a grid, or the points where they are."""
    assert view.by is not None
    median = field(metric.column)
    scale = {"scheme": _SCHEME, "domain": _domain(view, metric)}
    where: Spec = {
        "x": _position(view.across, view.is_grid),
        "y": _position(view.by, view.is_grid),
        "tooltip": _told(view, metric),
    }
    unknown = f"!isValid(datum.{median})"
    mark: Spec = {"type": "rect" if view.is_grid else "circle", "cursor": "pointer"}
    mark |= {} if view.is_grid else {"size": 70}

    def draw(panel: int) -> list[Spec]:
        legend = {"title": metric.label, "orient": "top"} if panel == 0 else None
        known: Spec = {
            "params": [{"name": f"area{panel}", "select": {"type": "interval", "encodings": ["x", "y"]}}],
            "transform": [{"filter": f"!({unknown})"}],
            "mark": mark,
            "encoding": {**where, "color": number(median, scale=scale, legend=legend), "opacity": _marked(view)},
        }
        rest: Spec = {
            "transform": [{"filter": unknown}],
            "mark": {**mark, "color": "transparent" if view.is_grid else GREY, "stroke": GREY},
            "encoding": where,
        }
        return [known, rest]

    rows = len(view.by.labels)
    height = min(max(26 * rows, 60), 360) if view.is_grid else _HEIGHT
    return _panels(view, draw, height)


def _has_interval(metric: Shown) -> list[Spec]:
    """The points whose interval has both bounds."""
    tests = [f"isValid(datum.{field(metric.column + part)})" for part in (".low", ".high")]
    return [{"filter": " && ".join(tests)}]


def _colour(view: View) -> Spec:
    if view.by is None:
        return {}
    labels = view.by.labels
    if view.by.is_number and len(labels) > _FEW:
        name = field(view.by.column)
        scale = {"scheme": _SCHEME, **({"type": "log"} if view.by.is_log else {})}
        return {"color": number(name, view.by.label, scale=scale, legend={"format": ".6~g", "orient": "top"})}
    shades: Spec = {"domain": labels, "range": distinct(len(labels))}
    legend = {"orient": "top", "title": view.by.title}
    return {"color": word(field(f"#{view.by.column}"), scale=shades, legend=legend, sort=labels)}


def _lines(view: View, metric: Shown) -> Spec:
    """The median over the first axis with its interval, a line for each value of the second."""
    x = _position(view.across, discrete=False)
    scale = {"domain": _domain(view, metric), "nice": False}
    y = number(field(metric.column), metric.label, scale=scale, axis={"tickCount": 4})
    opacity = _marked(view)
    shared: Spec = {"x": x, **_colour(view)}
    bars = {
        **shared,
        "y": {**y, "field": field(f"{metric.column}.low")},
        "y2": {"field": field(f"{metric.column}.high")},
        "opacity": opacity,
    }
    points = {**shared, "y": y, "opacity": opacity, "tooltip": _told(view, metric)}
    valid = _has_interval(metric)
    layers: list[Spec] = [
        {"transform": valid, "mark": {"type": "rule", "strokeWidth": 1.2}, "encoding": bars},
        {"mark": {"type": "point", "filled": True, "size": 34, "cursor": "pointer"}, "encoding": points},
    ]
    if view.is_grid:
        layers.insert(
            0, {"mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.5}, "encoding": {**shared, "y": y}}
        )

    def draw(panel: int) -> list[Spec]:
        return layers if panel == 0 else [_without_legend(layer) for layer in layers]

    return _panels(view, draw, _HEIGHT)


def _without_legend(layer: Spec) -> Spec:
    encoding = layer["encoding"]
    quiet = {"color": {**encoding["color"], "legend": None}} if "color" in encoding else {}
    return {**layer, "encoding": {**encoding, **quiet}}


def _trade(view: View, rate: Shown, delay: Shown) -> Spec:
    """Throughput against delay; what no other point beats is filled and, of few paths, joined."""
    x = number(field(delay.column), delay.label, scale={"zero": False, "padding": 12})
    y = number(field(rate.column), rate.label, scale={"zero": False, "padding": 12})
    shared: Spec = {"x": x, "y": y, **_colour(view)}
    opacity = _marked(view)

    def bar(of: Shown, way: str) -> Spec:
        low, high = field(f"{of.column}.low"), field(f"{of.column}.high")
        along = {**shared, way: {**shared[way], "field": low}, f"{way}2": {"field": high}, "opacity": opacity}
        valid = _has_interval(of)
        return {"transform": valid, "mark": {"type": "rule", "strokeWidth": 0.8}, "encoding": along}

    points: Spec = {
        "params": [{"name": "brush", "select": {"type": "interval", "encodings": ["x", "y"]}}],
        "mark": {"type": "point", "size": 60, "cursor": "pointer"},
        "encoding": {
            **shared,
            "opacity": opacity,
            "fillOpacity": {
                "condition": {"test": "datum.front === 'true' || datum.front === true", "value": 1},
                "value": 0,
            },
            "fill": shared.get("color", {"value": GREY}),
            "tooltip": [*_told(view, rate, delay), word("front", "on the front")],
        },
    }
    points["encoding"]["fill"] = {**points["encoding"]["fill"], "legend": None}
    layers = [bar(delay, "x"), bar(rate, "y"), points]
    if view.points["path"].n_unique() <= 12:
        front: Spec = {
            "transform": [{"filter": "datum.front === 'true' || datum.front === true"}],
            "mark": {"type": "line", "color": GREY, "strokeDash": [3, 3], "strokeWidth": 1},
            "encoding": {"x": x, "y": y, "detail": word("path"), "order": number(field(delay.column))},
        }
        layers.insert(0, front)
    return {"width": WIDTH - _BESIDE, "height": 1.6 * _HEIGHT, "layer": layers}


def _brushes(view: View) -> list[str]:
    """What marks points: an interval of each heat map, and one of the last view."""
    areas = [f"area{number}" for number in range(len(view.panels))] if view.by else []
    return [*areas, *(["brush"] if view.rate and view.delay else [])]


def _marked(view: View) -> Spec:
    """Opaque where every brush that is there holds the point."""
    tests = [{"param": brush} for brush in _brushes(view)]
    return {"condition": {"test": {"and": tests}, "value": 1}, "value": _FAINT} if tests else {"value": 1}


def _unlinked(part: Any) -> Any:
    """A view without brushes, and marks that depend on none."""
    if isinstance(part, list):
        return [_unlinked(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    if isinstance(test := part.get("condition", {}).get("test"), dict) and "and" in test:
        return {"value": 1}
    return {key: _unlinked(inner) for key, inner in part.items() if key != "params"}
