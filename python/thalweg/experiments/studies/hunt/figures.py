"""The page of `hunt`: how a search comes closer to the worst case, scenario by scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import altair as alt
import polars as pl

from thalweg.experiments.hunt import Find
from thalweg.experiments.studies.hunt.measure import CaseHunts
from thalweg.experiments.studies.hunt.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.study import Finished
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import CONFIG, GREY, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips


def plot_search(finds: Sequence[Find], bound: float, title: str) -> alt.LayerChart:
    """The worst so far over the scenarios that were tried, a line for each hunt; a dashed line is the bound."""
    data = pl.DataFrame(
        [
            {"hunt": str(number), "scenario": scenario, "worst": worst}
            for number, find in enumerate(finds, 1)
            for scenario, worst in _worst(find)
        ]
    )
    lines = (
        alt.Chart(rows(data), width=WIDTH, height=180)
        .mark_line(interpolate="step-after", strokeWidth=1.2)
        .encode(
            x=alt.X("scenario:Q", title="scenarios tried"),
            y=alt.Y("worst:Q", title=finds[0].objective.kind),
            color=alt.Color("hunt:N", title="search seed"),
        )
    )
    rule = alt.Chart(rows(pl.DataFrame({"bound": [bound]}))).mark_rule(color=GREY, strokeDash=[4, 4])
    chart: alt.LayerChart = alt.layer(lines, rule.encode(y="bound:Q"), title=title).configure(**CONFIG)
    return chart


def _worst(find: Find) -> list[tuple[int, float]]:
    """Where the worst so far changes, and the end."""
    found, worst = [(0, find.baseline)], find.baseline
    for scenario, value in enumerate(find.history, 1):
        if value is not None and value > worst:
            worst = value
            found.append((scenario, worst))
    return [*found, (len(find.history), worst)]


def page(finished: Finished[Parameters, Cell, CaseHunts]) -> Page:
    """How each search went, and the trials of the shipped scenarios."""
    return Page(sections(finished.cells), strips(finished.cells))


def sections(cells: Mapping[Cell, CaseHunts]) -> Iterator[Section]:
    """The search of each case."""
    for cell, measured in cells.items():
        yield Section(
            cell.name, cell.what, cell.source, partial(plot_search, measured.finds, cell.bound, cell.name)
        )


def strips(cells: Mapping[Cell, CaseHunts]) -> Strips:
    """The objective in each trial of the shipped scenario, and from where on the case counts as found."""
    return Strips(
        "trials of shipped",
        "Trials of shipped: each a line, by the objective; the upright mark is the bound.",
        [[Strip(of.shipped, of.unit, cell.bound, called="bound", judged=True)] for cell, of in cells.items()],
    )
