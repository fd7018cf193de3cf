"""Figures of `slow-start`: how soon bytes arrive on a path, and where each start ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import altair as alt
import polars as pl

from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished
from thalweg.experiments.studies.slow_start.measure import LEVELS, TrialNumbers, level_column, together
from thalweg.experiments.studies.slow_start.parameters import STARTS, Cell, Parameters
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import CONFIG, GREY, SERIES, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span

_LINE = 16
_WINDOWS = ("reached_of_pipe", "left_of_pipe")
_COLOURS = alt.Scale(domain=list(STARTS), range=SERIES[: len(STARTS)])
_TICKS = [0.03, 0.1, 0.3, 1, 3, 10, 30]


def plot_arrival(table: Sequence[Row], title: str) -> alt.LayerChart:
    """Bytes over the time by which they have arrived, a line for each start, on one path."""
    data = pl.DataFrame(
        [
            {"start": row["start"], "bytes": level, "time": row[level_column(level)]}
            for row in table
            for level in LEVELS
            if row[level_column(level)] is not None
        ]
    )
    base = alt.Chart(rows(data), width=WIDTH, height=240).encode(
        x=alt.X(
            "time:Q",
            title="time since the first full packet (s)",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(format="~g", tickCount=8),
        ),
        y=alt.Y(
            "bytes:Q",
            title="acknowledged (bytes)",
            scale=alt.Scale(type="log", domain=[LEVELS[0], LEVELS[-1] * 1.3], nice=False),
            axis=alt.Axis(values=list(LEVELS), format="~s"),
        ),
        color=alt.Color("start:N", sort=list(STARTS), scale=_COLOURS, title="start"),
    )
    chart: alt.LayerChart = alt.layer(
        base.mark_line(strokeWidth=1.5), base.mark_point(filled=True, size=28, opacity=1), title=title
    ).configure(**CONFIG)
    return chart


def plot_exits(table: Sequence[Row], title: str) -> alt.FacetChart:
    """From the largest window that a start reached (dot) to the one that it left (bar): a panel for each path.

    A dashed line is the path without a queue; early is what ends left of it. A grey one is path and buffer.
    """
    data = pl.DataFrame(
        [
            {
                "path": row["condition"],
                "start": row["start"],
                "reached": row["reached_of_pipe"],
                "left": row["left_of_pipe"] or row["reached_of_pipe"],
                "whole": 1 + float(row["buffer_bdp"] or 0),
            }
            for row in table
        ]
    )
    paths = list(dict.fromkeys(str(row["condition"]) for row in table))
    base = alt.Chart(rows(data), width=WIDTH / 2 - 90, height=_LINE * len(STARTS))
    scale = alt.Scale(type="log", nice=False, domain=[_TICKS[0], _TICKS[-1]], clamp=True)
    axis = alt.Axis(values=_TICKS, format="~g")
    x = alt.X("left:Q", scale=scale, axis=axis, title="window (bandwidth-delay products)")
    y = alt.Y("start:N", sort=list(STARTS), title=None)
    colour = alt.Color("start:N", sort=list(STARTS), scale=_COLOURS, legend=None)
    pipe = base.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=alt.datum(1, scale=scale))
    whole = base.mark_rule(color=GREY).encode(x=alt.X("mean(whole):Q", scale=scale))
    spans = base.mark_rule(strokeWidth=2).encode(x=x, x2="reached:Q", y=y, color=colour)
    reached = base.mark_point(filled=True, size=40, opacity=1).encode(
        x=alt.X("reached:Q", scale=scale, axis=axis), y=y, color=colour
    )
    left = base.mark_tick(thickness=3, size=12).encode(x=x, y=y, color=colour)
    facet = alt.Facet("path:N", sort=paths, title=None)
    chart: alt.FacetChart = (
        alt.layer(pipe, whole, spans, reached, left).facet(facet=facet, columns=2, title=title).configure(**CONFIG)
    )
    return chart


def page(finished: Finished[Parameters, Cell, TrialNumbers]) -> Page:
    """Where starts end and how soon bytes arrive; the windows that each trial reached and left."""
    return Page(sections(finished.result), strips(finished.cells))


def sections(result: StudyResult) -> Iterator[Section]:
    """For each controller, where starts end on all paths, and how soon bytes arrive on each."""
    for controller in dict.fromkeys(str(row["controller"]) for row in result.rows):
        table = [row for row in result.rows if row["controller"] == controller]
        title = f"Where slow start ends, {controller}"
        yield Section(f"exits-{_anchor(controller)}", title, "", partial(plot_exits, table, title))
        for number, path in enumerate(dict.fromkeys(str(row["condition"]) for row in table)):
            on_path = [row for row in table if row["condition"] == path]
            what = f"How soon bytes arrive, {controller}: {path}"
            yield Section(
                f"arrival-{_anchor(controller)}-{number}", what, "", partial(plot_arrival, on_path, what)
            )


def _anchor(controller: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in controller)


def strips(cells: Mapping[Cell, TrialNumbers]) -> Strips:
    """The windows that each trial reached and left; all starts on a path have one scale."""
    rows = list(together(cells))
    scales = {
        path: span(
            (of[column] for cell, of in rows if cell.condition == path for column in _WINDOWS),
            *(0.0, 1.0 + next(cell.buffer_bdp for cell, _ in rows if cell.condition == path)),
        )
        for path in dict.fromkeys(cell.condition for cell, _ in rows)
    }
    return Strips(
        "reached, left",
        "Strips: each trial a line. Above: the largest window; its mark is what path and buffer hold, orange is "
        "late. Below: the window that was left; its mark is what the path holds, orange is early. All rows of a "
        "path have one scale, which begins at 0.",
        [_lanes(cell, of, scales[cell.condition]) for cell, of in rows],
    )


def _lanes(cell: Cell, of: TrialNumbers, scale: tuple[float, float]) -> list[Strip]:
    reached, left = (of[column] for column in _WINDOWS)
    full = 1 + cell.buffer_bdp
    return [
        Strip(reached, "BDP", at_most=full, called="path and buffer hold", judged=True, scale=scale, of="reached"),
        Strip(left, "BDP", at_least=1.0, called="path holds", judged=True, scale=scale, of="left"),
    ]
