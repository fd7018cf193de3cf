"""Figures of `fairness`: the matrix of shares, shares over one condition, many flows of one controller, strips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from thalweg.experiments.studies.fairness.measure import TrialNumbers
from thalweg.experiments.studies.fairness.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import CONFIG, GREY, SERIES, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span

_CONDITIONS = {
    "buffer_bdp": "buffer (BDP)",
    "rtt_ratio": "RTT of the second flow over the first",
    "queue": "queue",
}
_CELL = 64
_HEIGHT = 220


def plot_matrix(table: Sequence[Row], title: str) -> alt.LayerChart:
    """Share of the first flow (rows) against the second (columns), relative to its fair share: 1 is fair."""
    data = pl.DataFrame(
        [{"first": row["first"], "second": row["second"], "share": row["first_of_fair"]} for row in table]
    )
    names = list(dict.fromkeys(str(row["first"]) for row in table))
    base = alt.Chart(rows(data), width=_CELL * len(names), height=_CELL * 0.6 * len(names)).encode(
        x=alt.X("second:N", sort=names, title="second flow", axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("first:N", sort=names, title="first flow"),
    )
    scale = alt.Scale(scheme="blueorange", domain=[0, 2], domainMid=1, reverse=True, clamp=True)
    squares = base.mark_rect().encode(
        color=alt.Color("share:Q", scale=scale, legend=alt.Legend(title="first, of fair", format=".0%"))
    )
    far = (alt.datum.share < 0.4) | (alt.datum.share > 1.6)
    numbers = base.mark_text(fontSize=12).encode(
        text=alt.Text("share:Q", format=".0%"),
        color=alt.condition(far, alt.value("white"), alt.value("#222")),
    )
    chart: alt.LayerChart = alt.layer(squares, numbers, title=title).configure(**CONFIG)
    return chart


def plot_condition(table: Sequence[Row], column: str, axis: str, title: str) -> alt.FacetChart | alt.LayerChart:
    """The share of the first flow over one condition: a panel for each first, a line for each second."""
    data = pl.DataFrame(
        [
            {
                "first": row["first"],
                "second": row["second"],
                "condition": row[column],
                "share": row["first_of_fair"],
            }
            for row in table
        ]
    )
    names = list(dict.fromkeys(str(row["first"]) for row in table))
    colour = alt.Color(
        "second:N", sort=names, scale=alt.Scale(domain=names, range=SERIES[: len(names)]), title="second flow"
    )
    numeric = data["condition"].dtype.is_numeric()
    x = (
        alt.X(
            "condition:Q",
            title=axis,
            scale=alt.Scale(type="log", base=2, nice=False),
            axis=alt.Axis(values=sorted(set(data["condition"])), format="~g"),
        )
        if numeric
        else alt.X("condition:N", title=axis, sort=None, axis=alt.Axis(labelAngle=-20))
    )
    lines = (
        alt.Chart(rows(data))
        .mark_line(point=True)
        .encode(
            x=x, y=alt.Y("share:Q", title="first, of its fair share", axis=alt.Axis(format=".0%")), color=colour
        )
        .properties(width=WIDTH / 3 - 40, height=_HEIGHT * 0.75)
    )
    chart: alt.FacetChart = lines.facet(
        facet=alt.Facet("first:N", sort=names, title=None), columns=3, title=title
    ).configure(**CONFIG)
    return chart


def plot_many(table: Sequence[Row], title: str) -> alt.LayerChart:
    """Jain's index over bins of 1 s (dashed) and 20 s for more and more flows of one controller."""
    table = sorted(table, key=lambda row: float(row["flows"] or 0))
    data = pl.DataFrame(
        [
            {"controller": row["first"], "flows": row["flows"], "bins": bins, "jain": row[column]}
            for row in table
            for bins, column in (("1 s", "jain_1s"), ("20 s", "jain_20s"))
        ]
    )
    names = list(dict.fromkeys(str(row["first"]) for row in table))
    each = alt.Chart(rows(data), width=WIDTH, height=_HEIGHT).encode(
        x=alt.X(
            "flows:Q",
            title="flows",
            scale=alt.Scale(type="log", base=2, nice=False),
            axis=alt.Axis(values=sorted(set(data["flows"])), format="d"),
        ),
        y=alt.Y("jain:Q", scale=alt.Scale(domain=[0, 1]), title="Jain's index"),
        color=alt.Color("controller:N", sort=names, scale=alt.Scale(domain=names, range=SERIES[: len(names)])),
    )
    lines = each.mark_line().encode(strokeDash=alt.StrokeDash("bins:N", sort=["20 s", "1 s"], title="bins"))
    points = each.mark_circle(size=30, opacity=1)
    fair = (
        alt.Chart(alt.InlineData(values=[{"jain": 1}])).mark_rule(color=GREY, strokeDash=[2, 3]).encode(y="jain:Q")
    )
    chart: alt.LayerChart = alt.layer(fair, lines, points, title=title).configure(**CONFIG)
    return chart


def page(finished: Finished[Parameters, Cell, TrialNumbers]) -> Page:
    """The figures, and what a flow of each trial got of its fair share."""
    return Page(_sections(finished.result), strips(finished.cells))


def _sections(result: StudyResult) -> Iterator[Section]:
    """The matrix of the base, shares over each condition that varies, and many flows of one controller."""
    pairs = [row for row in result.rows if row["flows"] == 2]
    base = {name: pairs[0][name] for name in _CONDITIONS} if pairs else {}
    if pairs:
        table = base_rows(result.rows)
        title = f"Who leaves what: {base['buffer_bdp']:g} BDP, {base['queue']}"
        yield Section("matrix", title, "", partial(plot_matrix, table, title))
    for column, axis in _CONDITIONS.items():
        others = {name: value for name, value in base.items() if name != column}
        table = [row for row in pairs if all(row[name] == value for name, value in others.items())]
        if len({row[column] for row in table}) > 1:
            title = f"Shares over the {axis}"
            yield Section(f"over-{column}", title, "", partial(plot_condition, table, column, axis, title))
    many = [row for row in result.rows if row["flows"] != 2 or (row["first"] == row["second"] and _is(row, base))]
    if any(row["flows"] != 2 for row in many):
        title = "Many flows of one controller"
        yield Section("many", title, "", partial(plot_many, many, title))


def base_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of two flows under the first value of each condition."""
    pairs = [row for row in rows if row["flows"] == 2]
    base = {name: pairs[0][name] for name in _CONDITIONS} if pairs else {}
    return [row for row in pairs if _is(row, base)]


def _is(row: Row, base: dict[str, Any]) -> bool:
    return all(row[name] == value for name, value in base.items())


def strips(cells: Mapping[Cell, TrialNumbers]) -> Strips:
    """The share of the first flow in each trial; of many flows of one controller, of the one with the least."""
    each = [measured["least" if cell.is_intra else "first"] for cell, measured in cells.items()]
    scale = span(each, 0.0, 1.0)
    return Strips(
        "trials",
        "Trials: each a line, by what the first flow got, of many flows of one controller the one with the least; "
        "the upright mark is the fair share. All rows have one scale, which begins at 0.",
        [[Strip(values, "share", 1.0, called="fair share", scale=scale)] for values in each],
    )
