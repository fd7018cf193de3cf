"""Figures of `laws`: windows over their curves, utilisation by path, all other numbers between their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import altair as alt
import numpy as np
import polars as pl

from thalweg.experiments.studies.laws.experiment import Quantity
from thalweg.experiments.studies.laws.utilisation import LAW as UTILISATION
from thalweg.experiments.studies.laws.window import LAW as WINDOW
from thalweg.experiments.studies.laws.window_law import cubic_table, reno_table
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import BLUE, CONFIG, GREY, SERIES, VERMILION, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips

_STACKS = ["model", "quic"]
_COLOURS = [BLUE, VERMILION]
_HEIGHT = 280
_UNITS = {"%": "share", "s": "s"}
"""Units of quantities, as texts have them; all others are plain numbers."""


def plot_windows(table: Sequence[Row]) -> alt.LayerChart:
    """Measured windows and the law's, over the closed forms of RFC 9438 for periodic loss (grey)."""
    data = pl.DataFrame(
        [
            {
                "loss": float(str(row["case"]).split(" %")[0]) / 100,
                "window": row["measured"],
                "law": row["expected"],
                "what": f"{row['controller']}, {str(row['case']).split(', ')[1]}",
                "stack": row["stack"],
            }
            for row in table
        ]
    )
    grid = np.geomspace(data["loss"].min() or 1e-4, data["loss"].max() or 1e-2, 40)  # type: ignore[arg-type]
    curves = pl.DataFrame(
        [
            {"loss": float(p), "window": curve(float(p)), "curve": name}
            for name, curve in (("Reno", reno_table), ("CUBIC, 100 ms", lambda p: cubic_table(p, 0.1)))
            for p in grid
        ]
    )
    names = list(dict.fromkeys(data["what"]))
    x = alt.X("loss:Q", title="loss rate", scale=alt.Scale(type="log"), axis=alt.Axis(format="e"))
    y = alt.Y("window:Q", title="average window (packets)", scale=alt.Scale(type="log"))
    colour = alt.Color("what:N", sort=names, title=None, scale=alt.Scale(domain=names, range=SERIES[: len(names)]))
    lines = (
        alt.Chart(rows(curves), width=WIDTH, height=_HEIGHT)
        .mark_line(color=GREY, strokeDash=[4, 3])
        .encode(x=x, y=y, detail="curve:N")
    )
    base = alt.Chart(rows(data), width=WIDTH, height=_HEIGHT)
    law = base.mark_tick(thickness=2, size=18).encode(x=x, y=alt.Y("law:Q"), color=colour)
    points = base.mark_point(filled=True, size=60).encode(
        x=x, y=y, color=colour, shape=alt.Shape("stack:N", sort=_STACKS)
    )
    title = "Points: measured; bars: the law under independent losses; dashed: RFC 9438, periodic loss"
    chart: alt.LayerChart = alt.layer(lines, law, points, title=title).configure(**CONFIG)
    return chart


def plot_use(table: Sequence[Row]) -> alt.FacetChart:
    """Utilisation of every controller on every path."""
    data = pl.DataFrame(
        [
            {
                "path": row["case"],
                "controller": row["controller"],
                "stack": row["stack"],
                "used": row["measured"],
            }
            for row in table
        ]
    )
    paths = list(dict.fromkeys(data["path"]))
    base = alt.Chart(rows(data), width=WIDTH / 6 - 30, height=14 * len(paths))
    y = alt.Y("path:N", sort=paths, title=None)
    x = alt.X(
        "used:Q",
        title=None,
        scale=alt.Scale(domain=[0.8, 1.0], clamp=True),
        axis=alt.Axis(format="%", tickCount=3),
    )
    points = base.mark_point(filled=True, size=36).encode(
        x=x,
        y=y,
        color=alt.Color("stack:N", sort=_STACKS, scale=alt.Scale(domain=_STACKS, range=_COLOURS)),
        shape=alt.Shape("stack:N", sort=_STACKS),
    )
    least = base.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=alt.datum(0.9))
    controllers = list(dict.fromkeys(data["controller"]))
    facet = alt.Facet("controller:N", sort=controllers, title=None)
    chart: alt.FacetChart = (
        alt.layer(least, points).facet(facet=facet, columns=6, title="Utilisation alone").configure(**CONFIG)
    )
    return chart


def plot_bounds(table: Sequence[Row]) -> alt.LayerChart:
    """Every number between its bounds: 0 is the lower one, 1 the upper one."""
    data = pl.DataFrame(
        [
            {
                "what": f"{row['law']}: {row['controller']}, {row['case']}",
                "stack": row["stack"],
                "place": _place(row, "measured"),
                "from": _place(row, "measured_low"),
                "to": _place(row, "measured_high"),
            }
            for row in table
        ]
    )
    names = list(dict.fromkeys(data["what"]))
    base = alt.Chart(rows(data), width=WIDTH - 320, height=15 * len(names))
    y = alt.Y("what:N", sort=names, title=None, axis=alt.Axis(labelLimit=320))
    scale = alt.Scale(domain=[-0.5, 1.5], clamp=True)
    colour = alt.Color("stack:N", sort=_STACKS, scale=alt.Scale(domain=_STACKS, range=_COLOURS))
    axis = alt.Axis(values=[0, 1], labelExpr="datum.value == 0 ? 'at least' : 'at most'")
    x = alt.X("place:Q", title=None, scale=scale, axis=axis)
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("from:Q", scale=scale), x2="to:Q", y=y, color=colour)
    points = base.mark_point(filled=True, size=40).encode(
        x=x, y=y, color=colour, shape=alt.Shape("stack:N", sort=_STACKS)
    )
    edges = base.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=alt.datum(0.0))
    others = base.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=alt.datum(1.0))
    chart: alt.LayerChart = alt.layer(edges, others, spans, points).configure(**CONFIG)
    return chart


def _place(row: Row, column: str) -> float:
    """Where a number lies: 0 at the lower bound, 1 at the upper one; the middle where they are one and met."""
    value, low, high = (float(row[name] or 0.0) for name in (column, "at_least", "at_most"))
    if high == low:
        return 0.5 if value == low else 1.5
    return (value - low) / (high - low)


def page(result: StudyResult, quantities: Sequence[Quantity]) -> Page:
    """Windows, utilisation and bounds, and the trials of each number between its bounds."""
    return Page(sections(result), strips(quantities))


def sections(result: StudyResult) -> Iterator[Section]:
    """Windows, utilisation and bounds."""
    rows = result.rows
    windows = [row for row in rows if row["law"] == WINDOW]
    if windows:
        yield Section("windows", "Average window against loss rate", "", partial(plot_windows, windows))
    used = [row for row in rows if row["law"] == UTILISATION]
    if used:
        yield Section("utilisation", "Utilisation alone", "", partial(plot_use, used))
    others = [row for row in rows if row["law"] not in (WINDOW, UTILISATION)]
    if others:
        yield Section("bounds", "All others, between their bounds", "", partial(plot_bounds, others))


def strips(quantities: Sequence[Quantity]) -> Strips:
    """Each number in all trials, between the bounds of its law."""
    return Strips(
        "trials",
        "Trials: each a line; the upright marks are the bounds. Each row has its own scale. Orange: beyond the "
        "bounds of a law about every trial. A law about the mean allows single trials there.",
        [
            [Strip(of.values, _UNITS.get(of.unit, ""), of.low, of.high, "bounds", of.judged and of.always)]
            for of in quantities
        ],
    )
