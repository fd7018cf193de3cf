"""What `harm` leaves in a folder.

study.json              the document that `--format json` prints
requests.parquet        every short flow of every replication, with rtt, controller and competitor
flows.parquet           outcomes of the short flows together and of the competitor, of every replication
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any replication again
report.html             the page
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from thalweg.live.kernel import simulated
from thalweg.outcome import Outcomes
from thalweg.plots import Chart
from thalweg.progress import Progress, silent
from thalweg.report.study import Section, write_study
from thalweg.statistics.interval import Values
from thalweg.studies.harm.figures import plot_distributions, plot_harm, plot_matrix, plot_times
from thalweg.studies.harm.measure import COMPLETION, MEASURES, OTHERS, completion_times
from thalweg.studies.harm.parameters import Cell
from thalweg.studies.harm.study import Harm
from thalweg.studies.harm.table import HEADERS, LEGEND, WORDS, table_rows
from thalweg.studies.runner.folder import PAGE, write_study_files
from thalweg.studies.runner.result import Row
from thalweg.studies.runner.table import Table

_SUMMED_UP = ("geomean", "p95", "throughput", "queue_delay", "loss")
"""What the matrix is drawn of."""


def save(study: Harm, folder: Path, on_progress: Progress = silent) -> Path:
    """Writes a study that has rows; returns where it is. Raises RequestError if that cannot be."""
    scenarios = {cell.name: outcomes.scenario.toml for cell, outcomes in study.cells.items()}
    tables = {
        "requests": _table(study, lambda outcomes: outcomes.requests),
        "flows": _table(study, lambda outcomes: outcomes.flows),
    }
    root = write_study_files(folder, study.result, scenarios, tables, complete=study.complete)
    file = root / PAGE
    rows = table_rows(study.result)
    write_study(study.result, Table(HEADERS, rows, WORDS), LEGEND, list(_sections(study)), file, on_progress)
    return root


def _table(study: Harm, take: Callable[[Outcomes], pl.DataFrame]) -> pl.DataFrame:
    parts = [
        take(outcomes).select(
            pl.lit(cell.rtt_s).alias("rtt_path_s"),
            pl.lit(cell.controller).alias("short_controller"),
            pl.lit(cell.competitor, dtype=pl.String).alias("competitor"),
            pl.all(),
        )
        for cell, outcomes in study.cells.items()
    ]
    return pl.concat(parts, how="diagonal_relaxed")


def _sections(study: Harm) -> Iterator[Section]:
    """Controllers of the kernel share their sections with those of the simulator that stand for them."""
    rtts = list(dict.fromkeys(cell.rtt for cell in study.cells))
    families: dict[str, list[str]] = {}
    for cell in study.cells:
        members = families.setdefault(simulated(cell.controller), [])
        members += [] if cell.controller in members else [cell.controller]
    if len(families) > 1:
        for rtt in rtts:
            name = f"matrix-{rtt.replace(' ', '')}"
            yield Section(name, f"Who harms whom, {rtt}", "", partial(_draw_matrix, study, rtt))
    if len(rtts) > 1:
        for family, members in families.items():
            title = f"Short {family} flows over the round-trip time"
            name = Cell("rtt", family, "all").name
            yield Section(name, title, "", partial(_draw_over_rtt, study, members))
    for rtt in rtts:
        for family, members in families.items():
            cells = [cell for cell in study.cells if cell.rtt == rtt and cell.controller in members]
            if cells:
                title = f"Short {family} flows, {rtt}"
                last = [cell for cell in cells if cell.controller == members[0]][-1]
                toml = study.cells[last].scenario.toml
                draw = partial(_draw_distributions, study, cells)
                yield Section(Cell(rtt, family, None).name, title, toml, draw)


def _rows(study: Harm, name: str, value: object) -> list[Row]:
    return [row for row in study.result.rows if row[name] == value]


def _draw_matrix(study: Harm, rtt: str) -> Sequence[Chart]:
    rows = _rows(study, "rtt_path_s", Cell(rtt, "", None).rtt_s)
    shown = [one for one in MEASURES if one.name in _SUMMED_UP]
    return [plot_matrix(rows, one, f"Harm to the {one.title} of short flows, {rtt}") for one in shown]


def _draw_over_rtt(study: Harm, controllers: Sequence[str]) -> Sequence[Chart]:
    rows = [row for controller in controllers for row in _rows(study, "controller", controller)]
    return [
        plot_harm(rows, COMPLETION, "Harm to completion times"),
        plot_times(rows, "Completion times"),
        plot_harm(rows, OTHERS, "Harm to other measures of the same flows"),
    ]


def _draw_distributions(study: Harm, cells: Sequence[Cell]) -> Sequence[Chart]:
    sides: dict[str, dict[str | None, Values]] = {}
    for cell in cells:
        outcomes = study.cells[cell]
        times = completion_times(outcomes.requests)
        sides.setdefault(cell.controller, {})[cell.competitor] = times
    return [plot_distributions(sides, "Completion times of all replications")]
