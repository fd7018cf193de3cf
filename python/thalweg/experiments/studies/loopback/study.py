"""Throughput where a round trip is shorter than the timers of the host: bulk data over 127.0.0.1.

The blog of C4 (January 2026) found that C4 was slow there, why, and what helps: a floor of 1 ms under the
nominal max RTT, since the window is made of it, and pacing a little above the nominal rate, since waiting always
takes longer than what was asked for. C4 as it is has both; its options take them away again.

A server on one thread sends to a client on another, over sockets of the same kind as `thalweg quic`. Variants take
turns, so that what else the machine does meets all of them; each run moves what its variant moves in `run_s`, or a
size that is the same for all (the blog: 10 GB), as far as the variant gets in `run_s`. Contention for the
processor, which the blog suspects behind its numbers, can be added (`contention.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from thalweg.base.progress import Progress
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.loopback.checks import SOURCE, checks, findings
from thalweg.experiments.studies.loopback.contention import contention
from thalweg.experiments.studies.loopback.measure import Run, VariantRuns, pilot_size, row, transfer
from thalweg.experiments.studies.loopback.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.study import Finished, Study, page_of
from thalweg.experiments.studies.runner.table import Column, percentage
from thalweg.realtime.quic import Identity

if TYPE_CHECKING:
    pass

COLUMNS = (
    Column("variant", "variant", kind=str),
    Column("controller", "controller", kind=str),
    Column("goodput_bps", "goodput", "bps", "median of the runs, then the lowest and the highest"),
    Column("lowest_bps", "lowest", "bps"),
    Column("highest_bps", "highest", "bps"),
    Column(
        "to_cubic",
        "to CUBIC",
        "share",
        "median of the ratio to the run of CUBIC in the same round",
        format=percentage,
    ),
    Column("packets_lost", "lost", kind=int, meaning="packets declared lost in all runs, of those sent"),
    Column("packets_sent", "of", kind=int),
    Column("mean_rtt_s", "RTT", "s", "mean of the samples of a run, median of the runs"),
    Column("loss", unit="share", meaning="packets declared lost in all runs, of those sent"),
    Column("bytes_per_run", unit="bytes", kind=int, meaning="what each run moves"),
)
RUN_COLUMNS = (
    Column("variant", kind=str),
    Column("controller", kind=str),
    Column("round", kind=int, meaning="number of the round, from 1 on"),
    Column("goodput_bps", unit="bps"),
    Column("elapsed_s", unit="s", meaning="duration of the run"),
    Column("packets_sent", kind=int),
    Column("packets_lost", kind=int, meaning="packets declared lost"),
    Column("mean_rtt_s", unit="s", meaning="mean of the samples"),
)


def _measure(finished: Finished[Parameters, Cell, VariantRuns], on_progress: Progress) -> None:
    """Runs all variants in turn; a Ctrl-C keeps the rounds that are complete."""
    result, core = finished.result, time.process_time()
    # Transfers in real time, which no seed repeats.
    result.title, result.seed = "Throughput over 127.0.0.1", 0
    try:
        with contention(finished.parameters.load):
            _rounds(finished, on_progress)
    except KeyboardInterrupt:
        finished.complete = False
    result.core_s = time.process_time() - core
    finished.cells = {cell: measured for cell, measured in finished.cells.items() if measured.runs}
    result.trials = min((len(measured.runs) for measured in finished.cells.values()), default=0)


def _rounds(finished: Finished[Parameters, Cell, VariantRuns], on_progress: Progress) -> None:
    """The first round finds out how much each variant moves; a round counts when it is complete."""
    parameters, identity = finished.parameters, Identity.make()
    cells = list(parameters.cells())
    rounds = finished.result.trials
    for number in range(rounds + 1):
        runs: dict[Cell, Run] = {}
        for index, cell in enumerate(cells):
            on_progress(f"{cell.title}, run {number}", number * len(cells) + index, len(cells) * (rounds + 1))
            if number == 0:
                size = min(pilot_size(identity, cell.controller, parameters.run_s), parameters.most)
                finished.cells[cell] = VariantRuns(size)
            else:
                runs[cell] = transfer(identity, cell.controller, finished.cells[cell].size)
        for cell, run in runs.items():
            finished.cells[cell].runs.append(run)


def _rows(_: Parameters, cells: Mapping[Cell, VariantRuns]) -> list[Row]:
    cubic = next((measured.runs for cell, measured in cells.items() if cell.name == "cubic"), [])
    return [row(cell, measured, cubic) for cell, measured in cells.items()]


def _runs(finished: Finished[Parameters, Cell, VariantRuns]) -> dict[str, pl.DataFrame]:
    """Every run of every variant."""
    keys = [column.key for column in RUN_COLUMNS]
    runs = [
        {**vars(cell), "variant": cell.name, "round": number, **vars(run)}
        for cell, measured in finished.cells.items()
        for number, run in enumerate(measured.runs, 1)
    ]
    return {"runs": pl.DataFrame([{key: run[key] for key in keys} for run in runs])}


def _goodputs(cells: Mapping[Cell, VariantRuns]) -> dict[str, list[float]]:
    return {cell.name: [run.goodput_bps for run in measured.runs] for cell, measured in cells.items()}


def _losses(cells: Mapping[Cell, VariantRuns]) -> dict[str, list[float]]:
    return {cell.name: [run.loss for run in measured.runs] for cell, measured in cells.items()}


STUDY: Study[Parameters, Cell, VariantRuns] = Study(
    name="loopback",
    title=TITLES["loopback"],
    source=SOURCE,
    presets={"default": Parameters()},
    preset_of=Parameters.in_words,
    trials=Option(("--runs", "-n"), "Runs of each variant, in turn [10].", least=1),
    columns=COLUMNS,
    transfers=_measure,
    rows=_rows,
    checks=lambda _, cells: checks(_goodputs(cells), _losses(cells)),
    findings=lambda _, cells: findings(_goodputs(cells), _losses(cells)),
    finding_columns={
        "the blog says": "name",
        "published": "published",
        "measured": "measured",
        "here": "answer",
        "why": "reason",
    },
    stored=_runs,
    stored_columns={"runs": RUN_COLUMNS},
    reached=lambda finished: f"{finished.result.trials} rounds",
    page=page_of(__name__),
)
