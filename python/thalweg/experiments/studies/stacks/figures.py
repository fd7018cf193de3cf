"""Figures of `stacks`: the distributions of each scenario on each stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import altair as alt
import numpy as np
import polars as pl

from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.study import Finished
from thalweg.experiments.studies.stacks.checks import TOLERANCE
from thalweg.experiments.studies.stacks.measure import StackComparison, StackTrials, has_jitter, together
from thalweg.experiments.studies.stacks.parameters import VARIANTS, Cell, Parameters
from thalweg.judging.statistics.quantiles import percentile
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import BLUE, CONFIG, GREEN, GREY, VERMILION, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span

_TITLES = {"model": "modelled endpoint", "wide": "modelled, wide windows", "quic": "QUIC stack"}
_COLOURS = {"model": BLUE, "wide": GREEN, "quic": VERMILION}
_LINE = 48


def plot_cells(cells: Sequence[StackComparison], title: str) -> alt.FacetChart:
    """Every trial as a tick, over the median on the modelled endpoint with wide windows: 0 % is alike."""
    table = [
        {
            "scenario": f"{cell.name}{' (jitter)' if has_jitter(cell.scenario.toml) else ''}",
            "stack": _TITLES[variant],
            "apart": float(value / percentile(np.sort(cell.values["wide"]), 0.5) - 1),
        }
        for cell in cells
        for variant in VARIANTS
        for value in cell.values[variant]
        if np.isfinite(value)
    ]
    names = list(dict.fromkeys(str(row["scenario"]) for row in table))
    stacks = [_TITLES[variant] for variant in VARIANTS]
    base = alt.Chart(rows(pl.DataFrame(table)), width=WIDTH - 260, height=_LINE)
    x = alt.X(
        "apart:Q", title="from the median of the modelled endpoint with wide windows", axis=alt.Axis(format="+%")
    )
    y = alt.Y("stack:N", sort=stacks, title=None, axis=alt.Axis(labels=False, ticks=False))
    colour = alt.Color(
        "stack:N", sort=stacks, scale=alt.Scale(domain=stacks, range=[_COLOURS[variant] for variant in VARIANTS])
    )
    ticks = base.mark_tick(thickness=1.5, opacity=0.6).encode(x=x, y=y, color=colour)
    medians = base.mark_point(shape="diamond", filled=True, size=50).encode(
        x=alt.X("median(apart):Q"), y=y, color=colour
    )
    # The layers of a faceted chart share its data: of all rows of a scenario, one draws the band.
    first = base.transform_aggregate(n="count()", groupby=["scenario"])
    band = first.mark_rect(opacity=0.15, color=GREY).encode(x=alt.datum(-TOLERANCE), x2=alt.datum(TOLERANCE))
    layers = alt.layer(band, ticks, medians)
    facet = alt.Row("scenario:N", sort=names, title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    chart: alt.FacetChart = layers.facet(row=facet, spacing=4, title=title).configure(**CONFIG)
    return chart


def page(finished: Finished[Parameters, Cell, StackTrials]) -> Page:
    """The distributions under each controller, and the trials on each stack."""
    scenarios = list(together(finished.cells))
    return Page(sections(scenarios), strips(scenarios))


def sections(scenarios: Sequence[StackComparison]) -> Iterator[Section]:
    """The distributions under each controller."""
    for controller in dict.fromkeys(scenario.controller for scenario in scenarios):
        of = [scenario for scenario in scenarios if scenario.controller == controller]
        draw = partial(plot_cells, of, f"Both stacks under {controller}")
        yield Section(controller.replace(":", "-"), f"Distributions: {controller}", "", draw)


def strips(scenarios: Sequence[StackComparison]) -> Strips:
    """The trials on all stacks, one below the other on one scale, against floor and target of the scenario."""
    return Strips(
        "model, wide, quic",
        "Strips: each trial a line, from above on model, wide and quic; grey is the floor, the upright mark the "
        "target of the scenario, orange what is over it. Each row has its own scale.",
        [_lanes(of) for of in scenarios],
    )


def _lanes(of: StackComparison) -> list[Strip]:
    criterion = of.scenario.criteria[0]
    bounds = {side: criterion[side] for side in ("at_least", "at_most")}
    scale = span(
        of.values.values(), *(mark for mark in (*bounds.values(), criterion["floor"]) if mark is not None)
    )
    return [
        Strip(values, criterion["unit"], **bounds, judged=True, floor=criterion["floor"], scale=scale, of=variant)
        for variant, values in of.values.items()
    ]
