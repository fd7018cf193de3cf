"""Parts of figures: specifications in Vega-Lite (https://vega.github.io/vega-lite) as plain dictionaries.

Figures are written as what Vega-Lite reads, and tests hold every kind of figure against its JSON schema: a
library in between would copy and check each part at each step of its making, which takes longer than the trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import polars as pl

from thalweg.pages.figures.theme import LOOKS, WIDTH

Spec: TypeAlias = dict[str, Any]

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
AXIS_EXTENT: Final = 46
"""Room for the labels of every vertical axis, so that the panels stand in line."""
LETTER: Final = 6.2
"""Width of a letter of a legend, in pixels, about."""
SYMBOL_PX: Final = 26
DASHES: Final[list[list[float]]] = [dashes or [1, 0] for dashes in LOOKS["dashes"]]
_LONG: Final[Spec] = {"symbolType": "M-1,0L5,0", "symbolSize": 60, "labelOffset": 20}
"""A symbol of a legend that is as high as others, and 23 pixels long."""
DASH_PX: Final = 48
"""Width of such a symbol with the space around it."""


TITLE_BESIDE: Final[Spec] = {"titleOrient": "left", "titlePadding": 12}
TITLE_ABOVE: Final[Spec] = {"titleOrient": "top", "titlePadding": 3}


def table(frame: pl.DataFrame, name: str | None = None) -> Spec:
    r"""A table as the data of a figure, with seven significant digits.

    The rows are CSV in one text: a quarter of the size of JSON, and ten times as quick to write.

    >>> table(pl.DataFrame({"x": [0.5, float("nan")], "label": ["a", "b"]}))["values"]
    'x,label\n0.5,a\n,b\n'
    """
    short = frame.with_columns(pl.selectors.float().round_sig_figs(7).fill_nan(None))
    numbers = {column: "number" for column, kind in frame.schema.items() if kind.is_numeric()}
    data: Spec = {"values": short.write_csv(), "format": {"type": "csv", "parse": numbers}}
    return data | ({"name": name} if name else {})


def number(field: str, title: str | None = None, **more: Any) -> Spec:
    """A column of numbers, drawn along an axis or shown in a tooltip."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def word(field: str, title: str | None = None, **more: Any) -> Spec:
    """A column of words."""
    return {"field": field, "type": "nominal", "title": title, **more}


def colour(labels: Sequence[str], shades: Sequence[str], field: str = "label", **legend: Any) -> Spec:
    """Colours by label, with a legend above the panel."""
    return word(
        field,
        scale={"domain": [*labels], "range": [*shades]},
        legend={"orient": "top", "offset": 2, "columns": columns(labels, WIDTH), **legend},
    )


def titled(title: str) -> Spec:
    """The title of a panel, next to its legend; `scaled` sets it above where there is little room."""
    return {"title": title, "titleFontWeight": 600, "titleLimit": 400, **TITLE_BESIDE}


def dash(names: Sequence[str], field: str = "series") -> Spec:
    """Dashes by name, with a legend whose lines are long enough to tell them apart."""
    scale = {"domain": [*names], "range": DASHES[: len(names)]}
    wide = columns(names, WIDTH, symbol=DASH_PX)
    return word(field, scale=scale, legend={"orient": "top", "offset": 2, "columns": wide, **_LONG})


def columns(labels: Sequence[str], width: float, letter: float = LETTER, symbol: float = SYMBOL_PX) -> int:
    """Entries of a legend that stand side by side in a panel of a width in pixels.

    >>> columns(["main", "background"], 820), columns(["x" * 60, "y"], 600)
    (2, 1)
    """
    longest = max(map(len, labels), default=0)
    return max(1, min(len(labels), int(width / (letter * longest + symbol))))


def tooltip(*fields: str, **units: str) -> list[Spec]:
    """The tooltip of a mark: words by their column, numbers by column and title."""
    words: list[Spec] = [{"field": field, "type": "nominal"} for field in fields]
    return words + [number(field, title) for field, title in units.items()]


def span(low: float, high: float) -> tuple[Spec, list[Spec]]:
    """The scale of an axis that all panels share, and the parameters by which a page shows a part of it."""
    bounds = [{"name": "from", "value": low}, {"name": "until", "value": high}]
    return {"domainMin": {"expr": "from"}, "domainMax": {"expr": "until"}, "nice": False, "zero": False}, bounds


def time(end: float, *, last: bool) -> Spec:
    """The time axis that panels share; the last one has labels."""
    axis = {"title": "time (s)" if last else None, "labels": last, "ticks": last, "domain": last, "tickCount": 12}
    return number("time_s", "time (s)" if last else None, axis=axis, scale=span(0, end)[0])


def values(title: str, top: float, field: str = "value") -> Spec:
    """A vertical axis from 0."""
    axis = {"tickCount": 4, "minExtent": AXIS_EXTENT, "maxExtent": AXIS_EXTENT, "domain": False, "ticks": False}
    return number(field, title, scale={"domain": [0, top], "nice": False}, axis=axis)
