"""The figures of the page of `transient`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from thalweg.base.quantity import seconds
from thalweg.experiments.studies.transient.figures import plot_areas, plot_curves, plot_theory
from thalweg.experiments.studies.transient.measure import Measured, ranked
from thalweg.experiments.studies.transient.metric import Rates
from thalweg.experiments.studies.transient.parameters import Cell, Parameters
from thalweg.pages.figures import Chart
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span

Cells = Mapping[Cell, list[Measured]]


def sections(parameters: Parameters, of: Cells, scenarios: Mapping[str, str]) -> Iterator[Section]:
    """Theory; after each step, areas and curves. `scenarios` are those of the cells, by name."""
    steps = parameters.all_steps
    yield Section("theory", "Theoretical reactions (figure 1(a) of the poster)", "", lambda: [plot_theory()])
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
    measured: dict[str, Measured] = {cell.controller: of[cell][number] for cell in cells}
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
