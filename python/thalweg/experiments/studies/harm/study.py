"""The study `harm`: the effect of a competitor on short flows.

Each cell of the experiment (`parameters.py`) is run with the same seeds, so that its short flows arrive at the
same times with the same lengths as those that are alone. Metric and formulas are in `metric.py`, what is measured
in `measure.py`, how rows come of it in `rows.py`.

Source: ccafct (github.com/heistp/ccafct) for the experiment, Ware et al. for harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from thalweg.base.seeds import SET_SIZE
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.harm.blocks import Blocks, parameter_blocks
from thalweg.experiments.studies.harm.checks import checks
from thalweg.experiments.studies.harm.findings import findings
from thalweg.experiments.studies.harm.measure import Trials, measure
from thalweg.experiments.studies.harm.parameters import Cell, Parameters, presets
from thalweg.experiments.studies.harm.published import CCAFCT
from thalweg.experiments.studies.harm.rows import notes, row
from thalweg.experiments.studies.harm.store import request_and_flow_tables
from thalweg.experiments.studies.harm.table import (
    HEADERS,
    LEGEND,
    MORE,
    TIMES,
    WORDS,
    more_rows,
    table_rows,
    times_rows,
)
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values

if TYPE_CHECKING:
    import polars as pl

    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips


class Kept(NamedTuple):
    """What is kept of a cell."""

    trials: Trials
    outcomes: Outcomes


Cells = Mapping[Cell, Kept]


class Harm(ScenarioStudy[Parameters, Cell, Kept]):
    """The study; it sets the preset `ccafct` against what is published.

    >>> quick = Parameters(rtts=("20 ms",), queue="drop-tail", competitors=("reno",), count=20, head_start="1 s")
    >>> [(row["competitor"], row["unfinished"]) for row in STUDY.run(quick, trials=2).result.rows]
    [(None, 0), ('reno', 0)]
    """

    name = "harm"
    title = "Harm to the completion times of short flows"
    source = CCAFCT
    legend = LEGEND
    preset_option = Option(
        ("--preset",), "Set of parameters: ccafct, ccafct-test, live; other options change it.", "NAME"
    )
    trials_option = Option(
        ("--replications", "-n"),
        "Replications of each row, on paired seeds [20; with --live 2].",
        least=1,
        most=SET_SIZE,
    )
    is_live = True

    def presets(self) -> Mapping[str, Parameters]:
        """Those of ccafct, in real time, and of everyone against everyone."""
        return presets()

    def live_span_s(self, parameters: Parameters, trials: int) -> tuple[float, float | None]:
        """By its arrivals, and at the most by its time limit."""
        return parameters.live_span_s(trials)

    def blocks(self, parameters: Parameters) -> Blocks:
        """As ccafct prints them."""
        return parameter_blocks(parameters)

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> Kept:
        """The short flows."""
        outcomes = trials.outcomes()
        return Kept(measure(outcomes), outcomes)

    def rows(self, parameters: Parameters, cells: Cells) -> list[Row]:
        """One for each cell."""
        return [row(cell, _measured(cells), published=parameters.as_published) for cell in cells]

    def notes(self, parameters: Parameters, cells: Cells) -> list[str]:
        """How many rows are harmed."""
        return notes(_measured(cells))

    def checks(self, parameters: Parameters, cells: Cells) -> list[Check]:
        """Those of the published table."""
        return checks(_measured(cells)) if parameters.preset == "ccafct" else []

    def findings(self, parameters: Parameters, cells: Cells) -> list[Finding]:
        """Those of the published table."""
        return findings(_measured(cells)) if parameters.preset == "ccafct" else []

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """Completion times, and what else is harmed."""
        return [Table(TIMES, times_rows(result), WORDS), Table(MORE, more_rows(result), WORDS)]

    def page_table(self, result: StudyResult) -> Table:
        """Both in one."""
        return Table(HEADERS, table_rows(result), WORDS)

    def columns(self, finished: Finished[Parameters, Cell, Kept]) -> Mapping[str, pl.DataFrame]:
        """Every short flow, and the flows of every replication."""
        return request_and_flow_tables(_outcomes(finished.cells))

    def samples(self, finished: Finished[Parameters, Cell, Kept]) -> Mapping[str, Mapping[str, Values]]:
        """The completion times of each replication."""
        return {
            cell.name: {str(name): values for name, values in of.values.items()}
            for cell, of in _measured(finished.cells).items()
        }

    def strips(self, finished: Finished[Parameters, Cell, Kept]) -> Strips:
        """Harm in each replication."""
        from thalweg.experiments.studies.harm.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(_measured(finished.cells))

    def sections(self, finished: Finished[Parameters, Cell, Kept]) -> Iterator[Section]:
        """Matrices, harm over the round-trip time, and distributions."""
        from thalweg.experiments.studies.harm.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished.result, _outcomes(finished.cells))


def _measured(cells: Cells) -> dict[Cell, Trials]:
    return {cell: kept.trials for cell, kept in cells.items()}


def _outcomes(cells: Cells) -> dict[Cell, Outcomes]:
    return {cell: kept.outcomes for cell, kept in cells.items()}


STUDY = Harm()
