"""The page of `loopback`: the goodput of every run, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from thalweg.experiments.studies.loopback.measure import Run, VariantRuns
from thalweg.experiments.studies.loopback.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.study import Finished
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import BLUE, CONFIG, GREY, VERMILION, WIDTH
from thalweg.pages.report.section import Section

_LABELS = {"c4-before": "C4 before", "c4-floor": "C4, floor", "cubic": "CUBIC", "bbr": "BBR"}


def plot_runs(runs: Mapping[str, Sequence[Run]], title: str) -> alt.VConcatChart:
    """Runs as points and their medians as bars; below, the packets of each run that were declared lost."""
    data = pl.DataFrame(
        [
            {
                "variant": _LABELS.get(name, name.replace("c4-", "C4, +")),
                "goodput": run.goodput_bps / 1e9,
                "loss": run.loss * 100,
                "kind": "C4" if name.startswith("c4") else "others",
            }
            for name, all_runs in runs.items()
            for run in all_runs
        ]
    )
    order = list(dict.fromkeys(data["variant"].to_list()))
    medians = data.group_by("variant", "kind", maintain_order=True).median()
    panels = [
        _panel(data, medians, "goodput", "goodput (Gbps)", order, 240),
        _panel(data, medians, "loss", "packets lost (%)", order, 110),
    ]
    head = alt.TitleParams(title, subtitle="bars: medians; points: runs")
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=16, title=head)
    styled: alt.VConcatChart = chart.configure(**CONFIG)
    return styled


def _panel(
    data: pl.DataFrame, medians: pl.DataFrame, column: str, title: str, order: list[str], height: int
) -> alt.LayerChart | alt.FacetChart:
    x = alt.X("variant:N", title=None, sort=order, axis=alt.Axis(labelAngle=0))
    # Without a single loss, zero would float in the middle of its panel.
    nothing = not data[column].max()
    y = alt.Y(f"{column}:Q", title=title, scale=alt.Scale(domain=[0, 1]) if nothing else alt.Scale(zero=True))
    colour = alt.Color("kind:N", legend=None, scale=alt.Scale(domain=["C4", "others"], range=[BLUE, VERMILION]))
    bars = alt.Chart(rows(medians)).mark_bar(opacity=0.35, size=60).encode(x=x, y=y, color=colour)
    points = alt.Chart(rows(data)).mark_circle(size=42, opacity=0.8, stroke=GREY).encode(x=x, y=y, color=colour)
    return alt.layer(bars, points).properties(width=WIDTH - 60, height=height)


def page(finished: Finished[Parameters, Cell, VariantRuns]) -> Page:
    """All runs, which are a picture as well."""
    runs = {cell.name: measured.runs for cell, measured in finished.cells.items()}
    chart = plot_runs(runs, finished.result.title)
    return Page([Section("runs", "Goodput and losses", "", lambda: chart)], pictures={"runs": chart})
