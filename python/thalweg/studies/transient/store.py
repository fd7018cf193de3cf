"""What `transient` leaves in a folder.

study.json              the document that `--format json` prints
reactions.parquet       every trial of every cell and step: the metric, the fit, and what the authors' tool says
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any trial again
report.html             the page
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from thalweg.plots import Chart
from thalweg.progress import Progress, silent
from thalweg.quantity import seconds
from thalweg.report.study import Section, write_study
from thalweg.studies.runner.folder import PAGE, write_study_files
from thalweg.studies.runner.table import Table
from thalweg.studies.transient.figures import plot_areas, plot_curves, plot_theory
from thalweg.studies.transient.metric import Rates
from thalweg.studies.transient.parameters import Cell, Step
from thalweg.studies.transient.study import Measured, Transient
from thalweg.studies.transient.table import HEADERS, LEGEND, WORDS, table_rows


def save(study: Transient, folder: Path, on_progress: Progress = silent) -> Path:
    """Writes a study that has rows; returns where it is. Raises RequestError if that cannot be."""
    scenarios = {cell.name: toml for cell, toml in study.scenarios.items()}
    root = write_study_files(
        folder, study.result, scenarios, {"reactions": reactions(study)}, complete=study.complete
    )
    file = root / PAGE
    rows = table_rows(study.result)
    write_study(study.result, Table(HEADERS, rows, WORDS), LEGEND, list(_sections(study)), file, on_progress)
    return root


def reactions(study: Transient) -> pl.DataFrame:
    """One row for each trial, cell and step; infinite and unknown numbers are null."""
    parts = []
    for cell, steps in study.cells.items():
        for step, one in zip(study.parameters.all_steps, steps, strict=True):
            of, fit, coded = one.reactions, one.fit, one.as_coded
            n = len(of.area)
            columns = {
                "trial": np.arange(n),
                "seed": study.result.seed + np.arange(n),
                "converged": of.converged,
                "reaction_s": of.reaction_s,
                "area": of.area,
                "overshoot": of.overshoot,
                "undershoot": of.undershoot,
                "settled": of.settled,
                "net": of.net,
                "lost_s": of.lost,
                "level": of.level,
                "damping_ratio": fit.damping,
                "natural_frequency": fit.frequency,
                "dead_s": fit.dead_s,
                "fit_quality": fit.quality,
                "damping": fit.classes,
                "as_coded": np.full(n, np.nan) if coded is None else coded.area,
                "as_coded_converged": np.zeros(n, dtype=np.bool_) if coded is None else coded.converged,
            }
            names = {"buffer": cell.buffer, "controller": cell.controller, "step": step.title}
            parts.append(pl.DataFrame(columns).select(*(pl.lit(v).alias(k) for k, v in names.items()), pl.all()))
    frame = pl.concat(parts)
    finite = pl.col(pl.Float64)
    return frame.with_columns(pl.when(finite.is_finite()).then(finite))


def _sections(study: Transient) -> Iterator[Section]:
    steps = study.parameters.all_steps
    yield Section("theory", "Theoretical reactions (figure 1(a) of the poster)", "", lambda: [plot_theory()])
    for number, step in enumerate(steps):
        yield Section(f"areas-{number}", f"Normalized Area: {step.title}", "", partial(_draw_areas, study, number))
        for buffer in dict.fromkeys(cell.buffer for cell in study.cells):
            cells = [cell for cell in study.cells if cell.buffer == buffer]
            toml = study.scenarios[cells[0]] if number == 0 else ""
            name = f"curves-{number}-{cells[0].name}"
            title = f"Mean rates, buffer of {buffer}: {step.title}"
            yield Section(name, title, toml, partial(_draw_curves, study, number, step, cells))


def _draw_areas(study: Transient, number: int) -> Sequence[Chart]:
    areas: dict[tuple[str, str], Rates] = {}
    coded: dict[tuple[str, str], Rates] = {}
    missed: dict[str, str] = {}
    for cell, steps in study.cells.items():
        one = steps[number]
        areas[cell.buffer, cell.controller] = one.reactions.area[one.reactions.converged]
        count = int((~one.reactions.converged).sum())
        if count:
            missed[cell.buffer] = ", ".join(filter(None, [missed.get(cell.buffer), f"{cell.controller} {count}"]))
        if one.as_coded is not None:
            coded[cell.buffer, cell.controller] = one.as_coded.area[~np.isnan(one.as_coded.area)]
    charts: list[Chart] = [plot_areas(areas, missed, "Normalized Area of all trials that converged")]
    if coded:
        charts.append(plot_areas(coded, {}, "The same as the authors' tool computes it"))
    return charts


def _draw_curves(study: Transient, number: int, step: Step, cells: Sequence[Cell]) -> Sequence[Chart]:
    rtt = study.parameters.rtt
    for one in study.parameters.all_steps[: number + 1]:
        rtt = one.value if one.kind == "rtt" else rtt
    measured: dict[str, Measured] = {cell.controller: study.cells[cell][number] for cell in cells}
    before = 0.0 if number == 0 else float(study.cells[cells[0]][number - 1].available.mean())
    title = f"Mean rates of all trials: {step.title}"
    return [plot_curves(measured, before, seconds(rtt, "--rtt"), step.at_s, title)]
