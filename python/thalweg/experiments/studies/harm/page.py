"""The figures of the page of `harm`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.harm.figures import plot_distributions, plot_harm, plot_matrix, plot_times
from thalweg.experiments.studies.harm.measure import COMPLETION, MEASURES, OTHERS, Trials, completion_times
from thalweg.experiments.studies.harm.parameters import Cell
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.judging.statistics.interval import Values
from thalweg.pages.figures import Chart
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span
from thalweg.realtime.kernel import simulated

_SUMMED_UP = ("geomean", "p95", "throughput", "queue_delay", "loss")
"""What the matrix is drawn of."""


def sections(result: StudyResult, of: Mapping[Cell, Outcomes]) -> Iterator[Section]:
    """Controllers of the kernel share their sections with those of the simulator that stand for them."""
    rtts = list(dict.fromkeys(cell.rtt for cell in of))
    families: dict[str, list[str]] = {}
    for cell in of:
        members = families.setdefault(simulated(cell.controller), [])
        members += [] if cell.controller in members else [cell.controller]
    if len(families) > 1:
        for rtt in rtts:
            name = f"matrix-{rtt.replace(' ', '')}"
            yield Section(name, f"Who harms whom, {rtt}", "", partial(_draw_matrix, result, rtt))
    if len(rtts) > 1:
        for family, members in families.items():
            title = f"Short {family} flows over the round-trip time"
            name = Cell("rtt", family, "all").name
            yield Section(name, title, "", partial(_draw_over_rtt, result, members))
    for rtt in rtts:
        for family, members in families.items():
            cells = [cell for cell in of if cell.rtt == rtt and cell.controller in members]
            if cells:
                title = f"Short {family} flows, {rtt}"
                last = [cell for cell in cells if cell.controller == members[0]][-1]
                toml = of[last].scenario.toml
                draw = partial(_draw_distributions, {cell: of[cell] for cell in cells})
                yield Section(Cell(rtt, family, None).name, title, toml, draw)


def _rows(result: StudyResult, name: str, value: object) -> list[Row]:
    return [row for row in result.rows if row[name] == value]


def _draw_matrix(result: StudyResult, rtt: str) -> Sequence[Chart]:
    rows = _rows(result, "rtt_path_s", Cell(rtt, "", None).rtt_s)
    shown = [measure for measure in MEASURES if measure.name in _SUMMED_UP]
    return [plot_matrix(rows, measure, f"Harm to the {measure.title} of short flows, {rtt}") for measure in shown]


def _draw_over_rtt(result: StudyResult, controllers: Sequence[str]) -> Sequence[Chart]:
    rows = [row for controller in controllers for row in _rows(result, "controller", controller)]
    return [
        plot_harm(rows, COMPLETION, "Harm to completion times"),
        plot_times(rows, "Completion times"),
        plot_harm(rows, OTHERS, "Harm to other measures of the same flows"),
    ]


def _draw_distributions(cells: Mapping[Cell, Outcomes]) -> Sequence[Chart]:
    sides: dict[str, dict[str | None, Values]] = {}
    for cell, outcomes in cells.items():
        times = completion_times(outcomes.requests)
        sides.setdefault(cell.controller, {})[cell.competitor] = times
    return [plot_distributions(sides, "Completion times of all replications")]


def strips(cells: Mapping[Cell, Trials]) -> Strips:
    """Harm to the geometric mean in each replication; flows alone are what harm is counted from, and have none."""
    measure = COMPLETION[0]
    harms: dict[Cell, Values] = {
        cell: measure.harm(cells[cell.alone].values[measure.name], of.values[measure.name])
        for cell, of in cells.items()
        if cell.competitor is not None
    }
    scale = span(harms.values(), 0.0, 1.0)
    return Strips(
        "replications",
        f"Replications: each a line, by its harm to the {measure.title}; the upright mark is no harm. "
        "All rows have one scale, up to 1.",
        [[Strip(harms[cell], "", 0.0, called="no harm", scale=scale)] if cell in harms else [] for cell in cells],
    )
