"""Figures of `transient`: the four theoretical responses, mean rates after a step, areas of all trials as boxes.

They are figures 1(a), 1(b) and 2 of the poster. The reference of the second is the critically damped response with
a natural frequency of one radian in a round trip: a controller sees the effect of its step one round trip later,
and no loop that waits for that can be much faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import altair as alt
import numpy as np
import polars as pl

from thalweg.base.quantity import seconds
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.study import Finished
from thalweg.experiments.studies.transient.fit import CRITICAL, OVER, UNDAMPED, UNDER, step_response
from thalweg.experiments.studies.transient.measure import StepResponse, ranked
from thalweg.experiments.studies.transient.metric import Rates
from thalweg.experiments.studies.transient.parameters import Cell, Parameters
from thalweg.pages.chart_data import rows
from thalweg.pages.figures import Chart
from thalweg.pages.figures.theme import BLUE, CONFIG, GREY, PURPLE, SERIES, VERMILION, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span
from thalweg.realtime.kernel import is_kernel

DELIVERED, SENT, AVAILABLE, REFERENCE = "delivered", "sent", "available", "critically damped"
_COLOURS = {DELIVERED: BLUE, SENT: VERMILION, AVAILABLE: GREY, REFERENCE: "#009E73"}
_SHOWN_S = 5.0
"""How much of a reaction is shown: all of them are over, or will not be."""
_COLUMNS = 3
_THEORY = {UNDAMPED: 0.0, UNDER: 0.3, CRITICAL: 1.0, OVER: 3.0}
"""Damping ratios of the curves of figure 1(a), one of each class; the poster draws them without numbers."""
_THEORY_RADIANS = 25.0
_PAIRED = 2
"""Columns with the kernel on the left and the simulator on the right."""


def plot_theory() -> alt.LayerChart:
    """The four theoretical responses of a second-order system to a step (figure 1(a) of the poster)."""
    time = np.linspace(0, _THEORY_RADIANS, 251)
    labels = [f"{name} ({ratio:g})" for name, ratio in _THEORY.items()]
    data = pl.concat(
        [
            pl.DataFrame({"time": time, "rate": np.round(step_response(time, np.array(ratio)), 4), "label": label})
            for label, ratio in zip(labels, _THEORY.values(), strict=True)
        ]
    )
    lines = (
        alt.Chart(rows(data), width=WIDTH, height=220)
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X(
                "time:Q",
                title="time since the step, in radians of the natural frequency",
                scale=alt.Scale(nice=False),
            ),
            y=alt.Y("rate:Q", title="rate, from the old bandwidth (0) to the new one (1)"),
            color=alt.Color(
                "label:N",
                title="damping ratio",
                scale=alt.Scale(domain=labels, range=[GREY, BLUE, VERMILION, PURPLE]),
            ),
        )
    )
    bandwidth = alt.Chart(rows(pl.DataFrame({"rate": [1.0]}))).mark_rule(strokeDash=[5, 3]).encode(y="rate:Q")
    title = "Theoretical reactions of a second-order system to a step"
    chart = alt.layer(bandwidth, lines, title=title)
    styled: alt.LayerChart = chart.configure(**CONFIG)
    return styled


def plot_areas(areas: Mapping[tuple[str, str], Rates], missed: Mapping[str, str], title: str) -> alt.HConcatChart:
    """Boxes from quartile to quartile with whiskers from 5th to 95th percentile, and all trials as points.

    `areas` are by buffer and controller, converged trials only; `missed` says for a buffer who did not converge.
    """
    parts = [
        pl.DataFrame({"area": area}, schema={"area": pl.Float64}).with_columns(
            pl.lit(controller).alias("controller"), pl.lit(_panel_title(buffer, missed)).alias("buffer")
        )
        for (buffer, controller), area in areas.items()
    ]
    data = pl.concat(parts)
    controllers = list(dict.fromkeys(controller for _, controller in areas))
    panels = list(dict.fromkeys(_panel_title(buffer, missed) for buffer, _ in areas))
    quantiles = (
        data.group_by("buffer", "controller", maintain_order=True)
        .agg([pl.col("area").quantile(share, "linear").alias(name) for name, share in _QUANTILES.items()])
        .with_columns(pl.col(pl.Float64).round(5))
    )
    jitter = np.random.default_rng(1).uniform(-1, 1, data.height)
    points = rows(data.with_columns(jitter=pl.Series(jitter)))
    summary = rows(quantiles)
    width = (WIDTH - 60) / max(len(panels), 1)
    # Names of the kernel's controllers are long.
    angle = -35 if any(map(is_kernel, controllers)) else 0
    x = alt.X("controller:N", title=None, scale=alt.Scale(domain=controllers), axis=alt.Axis(labelAngle=angle))
    colour = alt.Color("controller:N", legend=None, scale=alt.Scale(domain=controllers, range=SERIES))
    y = alt.Scale(zero=True)
    charts = []
    for panel in panels:
        here = alt.datum.buffer == panel
        base = alt.Chart(summary).transform_filter(here)
        cloud = (
            alt.Chart(points)
            .transform_filter(here)
            .mark_circle(size=9, opacity=0.35)
            .encode(
                x=x,
                xOffset=alt.XOffset("jitter:Q", scale=alt.Scale(domain=[-2.2, 2.2])),
                y=alt.Y("area:Q", title="Normalized Area", scale=y),
                color=colour,
            )
        )
        box = base.mark_bar(size=26, opacity=0.3).encode(x=x, y=alt.Y("q25:Q", scale=y), y2="q75:Q", color=colour)
        whisker = base.mark_rule(strokeWidth=1.2).encode(x=x, y=alt.Y("q5:Q", scale=y), y2="q95:Q", color=colour)
        median = base.mark_tick(size=26, thickness=2.4).encode(
            x=x,
            y=alt.Y("q50:Q", scale=y),
            color=colour,
            tooltip=["controller:N", *(f"{name}:Q" for name in _QUANTILES)],
        )
        charts.append(
            alt.layer(cloud, box, whisker, median).properties(
                width=width, height=260, title=alt.TitleParams(panel, fontSize=12)
            )
        )
    chart = alt.hconcat(*charts, title=alt.TitleParams(title)).resolve_scale(y="shared")
    styled: alt.HConcatChart = chart.configure(**CONFIG)
    return styled


_QUANTILES = {"q5": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def _panel_title(buffer: str, missed: Mapping[str, str]) -> str:
    return f"{buffer}{'; did not converge: ' + missed[buffer] if missed.get(buffer) else ''}"


def plot_curves(
    measured: Mapping[str, StepResponse], before_bps: float, rtt_s: float, at_s: float, title: str
) -> alt.VConcatChart:
    """Mean rates of the trials in the seconds after a step, a panel for each controller."""
    largest = max(
        (float(max(curves.sent.max(), curves.available.max())) for curves in measured.values()), default=1.0
    )
    scale = alt.Scale(domain=[0, largest / 1e6 * 1.04], nice=False)
    columns = _PAIRED if any(map(is_kernel, measured)) else _COLUMNS
    panels = [_panel(name, curves, before_bps, rtt_s, at_s, scale) for name, curves in measured.items()]
    lines = [alt.hconcat(*panels[at : at + columns]) for at in range(0, len(panels), columns)]
    chart: alt.VConcatChart = alt.vconcat(*lines, title=alt.TitleParams(title))
    styled: alt.VConcatChart = chart.configure(**CONFIG)
    return styled


def _panel(
    name: str, measured: StepResponse, before_bps: float, rtt_s: float, at_s: float, scale: alt.Scale
) -> alt.Chart:
    bins = min(round(_SHOWN_S / measured.every_s), len(measured.sent))
    time = np.arange(bins) * measured.every_s
    level = float(measured.available.mean())
    middle = time + measured.every_s / 2
    reference = before_bps + (level - before_bps) * step_response(middle / rtt_s, np.array(1.0))
    lines = {
        DELIVERED: measured.delivered,
        SENT: measured.sent,
        AVAILABLE: measured.available,
        REFERENCE: reference,
    }
    return curves(name, {label: rates[:bins] for label, rates in lines.items()}, at_s + time, scale)


def curves(
    name: str, lines: Mapping[str, Rates], time_s: Rates, scale: alt.Scale, width: float | None = None
) -> alt.Chart:
    """Rates over time."""
    data = pl.concat(
        [
            pl.DataFrame({"time_s": time_s, "rate": np.round(rates / 1e6, 4), "label": label})
            for label, rates in lines.items()
        ]
    )
    shown = list(lines)
    chart: alt.Chart = (
        alt.Chart(rows(data), width=width or (WIDTH - 130) / _COLUMNS, height=150)
        .mark_line(interpolate="step-after", strokeWidth=1.4, clip=True)
        .encode(
            x=alt.X("time_s:Q", title="time (s)", scale=alt.Scale(nice=False)),
            y=alt.Y("rate:Q", title="rate (Mbps)", scale=scale, axis=alt.Axis(tickCount=4, domain=False)),
            color=alt.Color(
                "label:N",
                title=None,
                scale=alt.Scale(domain=shown, range=[_COLOURS[label] for label in shown]),
            ),
        )
        .properties(title=alt.TitleParams(name, fontSize=12))
    )
    return chart


Cells = Mapping[Cell, list[StepResponse]]


def page(finished: Finished[Parameters, Cell, list[StepResponse]]) -> Page:
    """Theory, areas and curves, and the Normalized Area of each trial."""
    parameters, cells = finished.parameters, finished.cells
    return Page(sections(parameters, cells, finished.scenarios), strips(parameters, cells))


def sections(parameters: Parameters, of: Cells, scenarios: Mapping[str, str]) -> Iterator[Section]:
    """Theory; after each step, areas and curves. `scenarios` are the scenarios of the cells, by name."""
    steps = parameters.all_steps
    yield Section("theory", "Theoretical reactions (figure 1(a) of the poster)", "", plot_theory)
    for number, step in enumerate(steps):
        yield Section(f"areas-{number}", f"Normalized Area: {step.title}", "", partial(_draw_areas, of, number))
        for buffer in dict.fromkeys(cell.buffer for cell in of):
            cells = [cell for cell in of if cell.buffer == buffer]
            toml = scenarios[cells[0].name] if number == 0 else ""
            name = f"curves-{number}-{cells[0].name}"
            title = f"Mean rates, buffer of {buffer}: {step.title}"
            yield Section(name, title, toml, partial(_draw_curves, parameters, of, number, cells))


def _draw_areas(of: Cells, number: int) -> Sequence[Chart]:
    areas: dict[tuple[str, str], Rates] = {}
    coded: dict[tuple[str, str], Rates] = {}
    missed: dict[str, str] = {}
    for cell, steps in of.items():
        step = steps[number]
        areas[cell.buffer, cell.controller] = step.reactions.area[step.reactions.converged]
        count = int((~step.reactions.converged).sum())
        if count:
            missed[cell.buffer] = ", ".join(filter(None, [missed.get(cell.buffer), f"{cell.controller} {count}"]))
        if step.as_coded is not None:
            coded[cell.buffer, cell.controller] = step.as_coded.area[~np.isnan(step.as_coded.area)]
    charts: list[Chart] = [plot_areas(areas, missed, "Normalized Area of all trials that converged")]
    if coded:
        charts.append(plot_areas(coded, {}, "The same as the authors' tool computes it"))
    return charts


def _draw_curves(parameters: Parameters, of: Cells, number: int, cells: Sequence[Cell]) -> Sequence[Chart]:
    rtt = parameters.rtt
    *_, step = steps = parameters.all_steps[: number + 1]
    for step in steps:
        rtt = step.value if step.kind == "rtt" else rtt
    measured: dict[str, StepResponse] = {cell.controller: of[cell][number] for cell in cells}
    before = 0.0 if number == 0 else float(of[cells[0]][number - 1].available.mean())
    title = f"Mean rates of all trials: {step.title}"
    return [plot_curves(measured, before, seconds(rtt, "--rtt"), step.at_s, title)]


def strips(parameters: Parameters, of: Cells) -> Strips:
    """The Normalized Area of each trial; the poster prints no number that it could be set against."""
    areas = [[ranked(step.reactions) for step in steps] for steps in of.values()]
    scales = [span((steps[number] for steps in areas), 0.0) for number in range(len(parameters.all_steps))]
    return Strips(
        "trials",
        "Trials: each that converged a line, by its Normalized Area; grey is 0, nothing lost. All rows of a step "
        "have one scale.",
        [
            [Strip(area, "", floor=0.0, scale=scale)]
            for steps in areas
            for area, scale in zip(steps, scales, strict=True)
        ],
    )
