"""Figures of a sweep: heat maps, small multiples with intervals, and throughput against delay, linked by brushes.

What is marked in one view stands out in the others, since all are one drawing of Vega-Lite with the same points:
an interval that is dragged over a heat map or over the last view. A click on a point leads to its trial: pages
listen for `index` of what was clicked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from thalweg.experiments.sweep.report.view import AxisMetric, Dimension, View
from thalweg.pages.figures.figure import Figure
from thalweg.pages.figures.spec import Spec, number, table, word
from thalweg.pages.figures.theme import GREY, WIDTH, distinct

_HEIGHT = 170
_BESIDE = 60
"""Approximate width of the labels next to a panel, in pixels."""
_FAINT = 0.15
_FEW = 8
"""Values of an axis that are told apart one by one."""
_SCHEME = "viridis"
_WIDE = 20
"""From this ratio of medians on, a scale is one of powers."""
_DARK = "#111111"
_FENCE = 3
"""Interquartile ranges beyond which a median lies far off."""
_MOST_CELLS = 12
"""Cells side by side that have room for their numbers."""


def plot_sweep(view: View, metric: AxisMetric, title: str, brushes: bool = True, trade: bool = True) -> Figure:
    """A metric over the axes, twice, and throughput against delay unless another figure has that `trade`.

    `brushes` are of no use on paper.
    """
    if not trade:
        view = replace(view, rate=None, delay=None)
    parts = [_heat(view, metric)] if view.by else []
    parts.append(_lines(view, metric))
    if view.rate and view.delay:
        parts.append(_trade(view, view.rate, view.delay))
    if not brushes:
        parts = [_unlinked(part) for part in parts]
    # Paper leaves the line below to the caption; what a figure leaves out stands on it.
    head = f"{title}, {view.only}" if view.only else title
    spec: Spec = {
        "title": {"text": head, "subtitle": _subtitle(view, metric)},
        "data": table(_rows(view), "points"),
        "vconcat": parts,
        "resolve": {"scale": {"color": "independent"}},
        "spacing": 28,
    }
    return Figure(spec, f"{title}: {metric.title} over {view.across.title}; {_subtitle(view, metric)}")


def _subtitle(view: View, metric: AxisMetric) -> str:
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


def _axis(view: View, metric: AxisMetric) -> Spec:
    """The scale of a metric along an axis: from 0, or of powers where numbers differ by more than that shows.

    Bounds of intervals are included, and all panels have one scale.
    """
    numbers = pl.concat([view.points[f"{metric.column}{part}"] for part in ("", ".low", ".high")]).drop_nulls()
    if numbers.is_empty():
        return {"domain": [0.0, 1.0], "nice": False}
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    if _is_wide(view, metric) and low > 0:
        return {"type": "log", "domain": [low / 1.1, high * 1.1], "nice": False}
    room = 0.04 * (high - min(low, 0.0)) or 1.0
    return {"domain": [min(low - room, 0.0) if low < 0 else 0.0, high + room], "nice": False}


def _is_wide(view: View, metric: AxisMetric) -> bool:
    """Whether the medians differ by more than a linear scale shows."""
    known = view.points[metric.column].drop_nulls()
    return bool(known.len() > 1 and known.min() > 0 and known.max() / known.min() > _WIDE)  # type: ignore[operator]


def _shades(view: View, metric: AxisMetric) -> Spec:
    """The colours of medians: of powers where they differ widely; else few far off do not flatten the rest."""
    known = view.points[metric.column].drop_nulls()
    if known.is_empty():
        return {"scheme": _SCHEME, "domain": [0.0, 1.0]}
    low, high = float(known.min()), float(known.max())  # type: ignore[arg-type]
    if _is_wide(view, metric):
        return {"scheme": _SCHEME, "type": "log", "domain": [low, high], "nice": False}
    first, third = (float(known.quantile(share, "linear")) for share in (0.25, 0.75))  # type: ignore[arg-type]
    fence = _FENCE * (third - first)
    if fence > 0:
        low, high = max(low, first - fence), min(high, third + fence)
    return {"scheme": _SCHEME, "domain": [low, high] if high > low else [low - 1, high + 1], "clamp": True}


def _beyond(view: View, metric: AxisMetric, scale: Spec) -> Spec:
    """The labels of a legend whose colours end before the medians do: the ends say so, `≥ 7`."""
    known = view.points[metric.column].drop_nulls()
    low, high = (float(end) for end in scale["domain"])
    above, below = (bool(len(known)) and bool(far) for far in ((known > high).any(), (known < low).any()))
    if not (above or below):
        return {}
    ends = [f"datum.value >= {high!r} ? '\N{GREATER-THAN OR EQUAL TO} ' + datum.label"] if above else []
    ends += [f"datum.value <= {low!r} ? '\N{LESS-THAN OR EQUAL TO} ' + datum.label"] if below else []
    return {"values": [low, high], "format": ".3~g", "labelExpr": " : ".join([*ends, "datum.label"])}


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


def _tooltip(view: View, *metrics: AxisMetric) -> list[Spec]:
    dimensions = [dimension for dimension in (view.across, view.by) if dimension]
    fields: list[Spec] = [word(field(f"#{dimension.column}"), dimension.title) for dimension in dimensions]
    fields += [word("panel", "and")] if len(view.panels) > 1 else []
    for metric in metrics:
        for part, what in (("", ""), (".low", ", from"), (".high", ", to")):
            fields.append(number(field(metric.column + part), f"{metric.label}{what}", format=".4~g"))
    return [*fields, number("trials", "trials")]


def _heat(view: View, metric: AxisMetric) -> Spec:
    """The median as colour: cells of a grid, or the points where they are."""
    assert view.by is not None
    median = field(metric.column)
    scale = _shades(view, metric)
    where: Spec = {
        "x": _position(view.across, view.is_grid),
        "y": _position(view.by, view.is_grid),
        "tooltip": _tooltip(view, metric),
    }
    unknown = f"!isValid(datum.{median})"
    mark: Spec = {"type": "rect" if view.is_grid else "circle", "cursor": "pointer"}
    mark |= {} if view.is_grid else {"size": 70}

    def draw(panel: int) -> list[Spec]:
        legend = {"title": metric.label, "orient": "top", **_beyond(view, metric, scale)} if panel == 0 else None
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
        return [known, *([_numbers(view, metric, scale)] if has_numbers else []), rest]

    across = 1 if len(view.panels) == 1 else 2 if len(view.panels) <= 4 else 3
    has_numbers = view.is_grid and len(view.across.labels) <= _MOST_CELLS // across

    rows = len(view.by.labels)
    height = min(max(26 * rows, 60), 360) if view.is_grid else _HEIGHT
    return _panels(view, draw, height)


def _numbers(view: View, metric: AxisMetric, scale: Spec) -> Spec:
    """The medians, in the cells: dark on light ones and light on dark ones."""
    assert view.by is not None
    median = field(metric.column)
    low, high = scale["domain"]
    light = (low * high) ** 0.5 if scale.get("type") == "log" else (low + high) / 2
    return {
        "transform": [{"filter": f"isValid(datum.{median})"}],
        "mark": {"type": "text", "fontSize": 10.5},
        "encoding": {
            "x": _position(view.across, discrete=True),
            "y": _position(view.by, discrete=True),
            "text": number(median, format=".3~g"),
            "color": {
                "condition": {"test": f"datum.{median} > {light!r}", "value": _DARK},
                "value": "#ffffff",
            },
        },
    }


def _has_interval(metric: AxisMetric) -> list[Spec]:
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


def _lines(view: View, metric: AxisMetric) -> Spec:
    """The median over the first axis with its interval, a line for each value of the second."""
    x = _position(view.across, discrete=False)
    y = number(
        field(metric.column), metric.label, scale=_axis(view, metric), axis={"tickCount": 4, "format": ".4~g"}
    )
    opacity = _marked(view)
    shared: Spec = {"x": x, **_colour(view)}
    bars = {
        **shared,
        "y": {**y, "field": field(f"{metric.column}.low")},
        "y2": {"field": field(f"{metric.column}.high")},
        "opacity": opacity,
    }
    points = {**shared, "y": y, "opacity": opacity, "tooltip": _tooltip(view, metric)}
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


def _trade(view: View, rate: AxisMetric, delay: AxisMetric) -> Spec:
    """Throughput against delay; what no other point beats is filled and, of few paths, joined."""
    axis = {"tickCount": 6, "format": ".4~g"}
    x = number(field(delay.column), delay.label, scale=_axis(view, delay), axis=axis)
    y = number(field(rate.column), rate.label, scale=_axis(view, rate), axis=axis)
    shared: Spec = {"x": x, "y": y, **_colour(view)}
    opacity = _marked(view)

    def bar(of: AxisMetric, way: str) -> Spec:
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
            "tooltip": [*_tooltip(view, rate, delay), word("front", "on the front")],
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
