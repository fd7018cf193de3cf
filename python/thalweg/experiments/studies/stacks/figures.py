"""Figures of `stacks`: the distributions of each scenario on each stack."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl

from thalweg.experiments.studies.stacks.checks import TOLERANCE
from thalweg.experiments.studies.stacks.measure import Compared, has_jitter
from thalweg.experiments.studies.stacks.parameters import VARIANTS
from thalweg.judging.statistics.quantiles import percentile
from thalweg.pages.figures.data import rows
from thalweg.pages.figures.theme import BLUE, CONFIG, GREEN, GREY, VERMILION, WIDTH

_TITLES = {"model": "modelled endpoint", "wide": "modelled, wide windows", "quic": "QUIC stack"}
_COLOURS = {"model": BLUE, "wide": GREEN, "quic": VERMILION}
_LINE = 48


def plot_cells(cells: Sequence[Compared], title: str) -> alt.FacetChart:
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
