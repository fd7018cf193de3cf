"""The study `transient`: how controllers react to steps of capacity, round-trip time and flow arrival.

The experiment is in `parameters.py`, the metric in `metric.py`, what is measured with it in `measure.py`, what it
is set against in `checks.py`.

Source: SIGCOMM 2021 poster, doi 10.1145/3472716.3472861.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.runner.estimate import TRACED
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table, findings_table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.experiments.studies.transient.as_coded import AsCoded
from thalweg.experiments.studies.transient.checks import Areas, checks, findings
from thalweg.experiments.studies.transient.measure import Measured, measure, ranked, runs
from thalweg.experiments.studies.transient.parameters import PAPER, PRESETS, Cell, Parameters
from thalweg.experiments.studies.transient.rows import row
from thalweg.experiments.studies.transient.store import reaction_table
from thalweg.experiments.studies.transient.table import (
    DAMPING,
    FINDINGS,
    HEADERS,
    LEGEND,
    REACTION,
    WORDS,
    damping_rows,
    reaction_rows,
    table_rows,
)
from thalweg.judging.statistics.interval import Values

if TYPE_CHECKING:
    import polars as pl

    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips

Cells = Mapping[Cell, list[Measured]]
"""For each cell, what followed each step."""


class Transient(ScenarioStudy[Parameters, Cell, list[Measured]]):
    """The study; it sets the path of the preset `paper` against what is published.

    >>> quick = Parameters(controllers=("bbr",), buffers=("40 packets",), duration="5 s")
    >>> [(row["controller"], row["n"]) for row in STUDY.run(quick, trials=2).result.rows]
    [('bbr', 2)]
    """

    name = "transient"
    extra = "fits"
    title = "How controllers react to steps of capacity, round-trip time and flow arrival"
    source = PAPER
    legend = LEGEND
    preset_option = Option(
        ("--preset",), "Set of parameters: paper, capacity, rtt, arrival, live; other options change it.", "NAME"
    )
    trials_option = Option(("--trials", "-n"), "Trials of each cell [100; with --live 3].", least=1, most=SET_SIZE)
    is_live = True

    def presets(self) -> Mapping[str, Parameters]:
        """What the poster measured, in real time too, and what it has as future work."""
        return PRESETS

    def live_span_s(self, parameters: Parameters, trials: int) -> tuple[float, float | None]:
        """Each trial takes its duration."""
        return parameters.live_span_s(trials), None

    def work_of(self, parameters: Parameters, cell: Cell, trials: int) -> float:
        """All trials have their traces."""
        return TRACED * self.runs_of(cell, trials)

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> list[Measured]:
        """What followed each step. Fits take their time as well."""
        outcomes = trials.outcomes()
        begin_s = time.process_time()
        measured = measure(parameters, runs(outcomes))
        trials.core_s += time.process_time() - begin_s
        return measured

    def reached(self, finished: Finished[Parameters, Cell, list[Measured]]) -> str:
        """By its cells."""
        return f"{len(finished.cells)} cells"

    def rows(self, parameters: Parameters, cells: Cells) -> list[Row]:
        """One for each cell and step."""
        steps = parameters.all_steps
        return [
            row(cell, step.title, reaction)
            for cell, measured in cells.items()
            for step, reaction in zip(steps, measured, strict=True)
        ]

    def checks(self, parameters: Parameters, cells: Cells) -> list[Check]:
        """Those of the poster, of the controllers that play its roles."""
        return checks(_areas(cells)) if parameters.is_published else []

    def findings(self, parameters: Parameters, cells: Cells) -> list[Finding]:
        """The same by other numbers, and with other controllers of a role."""
        if not parameters.is_published:
            return []
        return findings(_areas(cells), {cell: _of_first_step(measured) for cell, measured in cells.items()})

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """How fast and how well; the form of the reaction."""
        return [
            Table(REACTION, reaction_rows(result), WORDS),
            Table((*REACTION[:WORDS], *DAMPING), damping_rows(result), WORDS),
        ]

    def finding_table(self, result: StudyResult) -> Table:
        """What the poster says by other numbers."""
        return findings_table(result, FINDINGS)

    def page_table(self, result: StudyResult) -> Table:
        """Both in one."""
        return Table(HEADERS, table_rows(result), WORDS)

    def columns(self, finished: Finished[Parameters, Cell, list[Measured]]) -> Mapping[str, pl.DataFrame]:
        """Every trial of every cell and step."""
        return {"reactions": reaction_table(finished.parameters, finished.result.seed, finished.cells)}

    def samples(self, finished: Finished[Parameters, Cell, list[Measured]]) -> Mapping[str, Mapping[str, Values]]:
        """The Normalized Area of each trial and step; infinite for one that did not converge."""
        return {
            cell.name: {f"area of step {number}": ranked(step.reactions) for number, step in enumerate(steps, 1)}
            for cell, steps in finished.cells.items()
        }

    def strips(self, finished: Finished[Parameters, Cell, list[Measured]]) -> Strips:
        """The Normalized Area of each trial."""
        from thalweg.experiments.studies.transient.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(finished.parameters, finished.cells)

    def sections(self, finished: Finished[Parameters, Cell, list[Measured]]) -> Iterator[Section]:
        """Theory, areas and curves."""
        from thalweg.experiments.studies.transient.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished.parameters, finished.cells, finished.scenarios)


def _areas(cells: Cells) -> Areas:
    return {cell: ranked(measured[0].reactions) for cell, measured in cells.items()}


def _of_first_step(measured: list[Measured]) -> AsCoded:
    coded = measured[0].as_coded
    assert coded is not None
    return coded


STUDY = Transient()
