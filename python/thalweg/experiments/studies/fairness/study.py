"""The study `fairness`: shares of a bottleneck, for all ordered pairs of controllers and many equal ones.

The metric is in `metric.py`, what is measured with it in `measure.py`, the experiment in `parameters.py`, what it
is set against in `checks.py`.

Sources: RFC 9743 sections 5.1.4 and 5.2 (what an evaluation has to show), RFC 8868 section 3, Jain et al. 1984.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.fairness.checks import checks
from thalweg.experiments.studies.fairness.measure import measure, notes, row
from thalweg.experiments.studies.fairness.metric import Values
from thalweg.experiments.studies.fairness.parameters import Cell, Parameters
from thalweg.experiments.studies.fairness.table import HEADERS, LEGEND, WORDS, table_rows
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials

if TYPE_CHECKING:
    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips

Measured = dict[str, Values]
"""The numbers of a cell, one value for each trial."""


class Fairness(ScenarioStudy[Parameters, Cell, Measured]):
    """The study.

    >>> quick = Parameters(("cubic",), (1.0,), (1.0,), ("drop-tail",), flows=(3,), duration="20 s")
    >>> [row["flows"] for row in STUDY.run(quick, trials=1).result.rows]
    [2, 3]
    """

    name = "fairness"
    title = "Shares of a bottleneck, for all pairs of controllers and many flows of one"
    source = "RFC 9743 sections 5.1 and 5.2; RFC 8868 section 3; Jain, Chiu and Hawe 1984"
    legend = LEGEND
    trials_option = Option(("--trials", "-n"), "Trials of each row [20].", least=1, most=SET_SIZE)

    def presets(self) -> Mapping[str, Parameters]:
        """One."""
        return {"default": Parameters()}

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> Measured:
        """Shares, Jain's indices and convergence."""
        return measure(parameters, cell, trials.outcomes())

    def rows(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Row]:
        """One for each cell."""
        return [row(parameters, cell, measured) for cell, measured in cells.items()]

    def notes(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[str]:
        """How many pairs are unfair."""
        return notes(cells)

    def checks(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Check]:
        """Those that the cells allow."""
        return checks(cells)

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """One."""
        return [Table(HEADERS, table_rows(result), WORDS)]

    def samples(self, finished: Finished[Parameters, Cell, Measured]) -> Mapping[str, Measured]:
        """All that is measured of a trial."""
        return {cell.name: measured for cell, measured in finished.cells.items()}

    def strips(self, finished: Finished[Parameters, Cell, Measured]) -> Strips:
        """What a flow of each trial got of its fair share."""
        from thalweg.experiments.studies.fairness.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(finished.cells)

    def sections(self, finished: Finished[Parameters, Cell, Measured]) -> Iterator[Section]:
        """The matrix, shares over conditions, and many flows."""
        from thalweg.experiments.studies.fairness.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished.result)


STUDY = Fairness()
