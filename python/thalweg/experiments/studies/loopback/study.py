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
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from thalweg.base.progress import Progress, silent
from thalweg.experiments.studies.loopback.checks import SOURCE, checks, findings
from thalweg.experiments.studies.loopback.contention import contention
from thalweg.experiments.studies.loopback.measure import Measured, Run, pilot_size, row, transfer
from thalweg.experiments.studies.loopback.parameters import Cell, Parameters
from thalweg.experiments.studies.loopback.store import run_table
from thalweg.experiments.studies.loopback.table import FINDINGS, HEADERS, LEGEND, WORDS, table_rows
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, Study
from thalweg.experiments.studies.runner.table import Table, findings_table
from thalweg.realtime.quic import Identity

if TYPE_CHECKING:
    import polars as pl

    from thalweg.pages.figures import Chart
    from thalweg.pages.report.section import Section

Cells = Mapping[Cell, Measured]


class Loopback(Study[Parameters, Cell, Measured]):
    """The study. Its runs are transfers in real time, which no seed repeats."""

    name = "loopback"
    title = "Throughput of C4 and others over 127.0.0.1"
    source = SOURCE
    legend = LEGEND
    trials_option = Option(("--runs", "-n"), "Runs of each variant, in turn [10].", least=1)

    def presets(self) -> Mapping[str, Parameters]:
        """One."""
        return {"default": Parameters()}

    def run(
        self, parameters: Parameters, trials: int | None = None, *, on_progress: Progress = silent
    ) -> Finished[Parameters, Cell, Measured]:
        """Runs all variants in turn; a Ctrl-C keeps the rounds that are complete."""
        rounds = trials or parameters.trials
        result = StudyResult(self.name, "Throughput over 127.0.0.1", self.source, parameters.preset, rounds, 0)
        finished = Finished(self, parameters, result)
        wall, core = time.perf_counter(), time.process_time()
        try:
            with contention(parameters.load):
                self._rounds(finished, on_progress)
        except KeyboardInterrupt:
            finished.complete = False
        result.wall_s, result.core_s = time.perf_counter() - wall, time.process_time() - core
        finished.cells = {cell: measured for cell, measured in finished.cells.items() if measured.runs}
        result.trials = min((len(measured.runs) for measured in finished.cells.values()), default=0)
        self.judge(finished)
        return finished

    def _rounds(self, finished: Finished[Parameters, Cell, Measured], on_progress: Progress) -> None:
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
                    finished.cells[cell] = Measured(size)
                else:
                    runs[cell] = transfer(identity, cell.controller, finished.cells[cell].size)
            for cell, run in runs.items():
                finished.cells[cell].runs.append(run)

    def reached(self, finished: Finished[Parameters, Cell, Measured]) -> str:
        """By its rounds."""
        return f"{finished.result.trials} rounds"

    def rows(self, parameters: Parameters, cells: Cells) -> list[Row]:
        """One for each variant."""
        cubic = next((measured.runs for cell, measured in cells.items() if cell.name == "cubic"), [])
        return [row(cell, measured, cubic) for cell, measured in cells.items()]

    def checks(self, parameters: Parameters, cells: Cells) -> list[Check]:
        """What the blog found, as order and direction."""
        return checks(_goodputs(cells), _losses(cells))

    def findings(self, parameters: Parameters, cells: Cells) -> list[Finding]:
        """What the blog says besides."""
        return findings(_goodputs(cells), _losses(cells))

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """One."""
        return [Table(HEADERS, table_rows(result), WORDS)]

    def finding_table(self, result: StudyResult) -> Table:
        """What the blog says."""
        return findings_table(result, FINDINGS)

    def columns(self, finished: Finished[Parameters, Cell, Measured]) -> Mapping[str, pl.DataFrame]:
        """Every run."""
        return {"runs": run_table(finished.cells)}

    def pictures(self, finished: Finished[Parameters, Cell, Measured]) -> Mapping[str, Chart]:
        """All runs."""
        from thalweg.experiments.studies.loopback.page import (  # noqa: PLC0415 - altair takes half a second to load
            picture,
        )

        return {"runs": picture(finished.result, finished.cells)}

    def sections(self, finished: Finished[Parameters, Cell, Measured]) -> Iterator[Section]:
        """All runs."""
        from thalweg.experiments.studies.loopback.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished.result, finished.cells)


def _goodputs(cells: Cells) -> dict[str, list[float]]:
    return {cell.name: [run.goodput_bps for run in measured.runs] for cell, measured in cells.items()}


def _losses(cells: Cells) -> dict[str, list[float]]:
    return {cell.name: [run.loss for run in measured.runs] for cell, measured in cells.items()}


STUDY = Loopback()
