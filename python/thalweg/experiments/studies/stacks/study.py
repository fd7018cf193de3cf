"""The study `stacks`: the scenarios of one flow on the modelled endpoint and on a real QUIC stack.

The experiment is in `parameters.py`, what is compared in `measure.py`, what is judged in `checks.py`.

Limits: what both stacks get wrong in the same way is not found. They share the code that measures delivery
rates; packets, acknowledgements, loss recovery, pacing and streams are each stack's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.experiments.studies.stacks.checks import check
from thalweg.experiments.studies.stacks.measure import Measured, measure, row, together
from thalweg.experiments.studies.stacks.parameters import Cell, Parameters
from thalweg.experiments.studies.stacks.table import HEADERS, LEGEND, WORDS, table_rows
from thalweg.judging.statistics.interval import Values

if TYPE_CHECKING:
    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips


class Stacks(ScenarioStudy[Parameters, Cell, Measured]):
    """The study.

    >>> done = STUDY.run(Parameters(names=("simple-20mbps",)), trials=6)
    >>> done.result.rows[0]["scenario"], done.result.checks[0].holds
    ('simple-20mbps', True)
    """

    name = "stacks"
    title = "The modelled endpoint and a real QUIC stack under the same controllers"
    source = "cross-validation of the modelled endpoint; scenarios of draft-huitema-ccwg-c4-test"
    legend = LEGEND
    trials_option = Option(("--trials", "-n"), "Trials of each scenario [100].", least=1, most=SET_SIZE)

    def presets(self) -> Mapping[str, Parameters]:
        """One."""
        return {"default": Parameters()}

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> Measured:
        """The number of the first criterion."""
        return measure(trials.outcomes())

    def rows(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Row]:
        """One for each scenario that ran on all stacks."""
        return [row(pair) for pair in together(cells)]

    def checks(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Check]:
        """One for each row that is judged."""
        return [check(row) for row in self.rows(parameters, cells) if row["judged"]]

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """One."""
        return [Table(HEADERS, table_rows(result), WORDS)]

    def samples(self, finished: Finished[Parameters, Cell, Measured]) -> Mapping[str, Mapping[str, Values]]:
        """What the first criterion of the scenario measures in each trial."""
        return {cell.name: {"value": of.values} for cell, of in finished.cells.items()}

    def strips(self, finished: Finished[Parameters, Cell, Measured]) -> Strips:
        """The trials on each stack."""
        from thalweg.experiments.studies.stacks.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(list(together(finished.cells)))

    def sections(self, finished: Finished[Parameters, Cell, Measured]) -> Iterator[Section]:
        """The distributions under each controller."""
        from thalweg.experiments.studies.stacks.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(list(together(finished.cells)))


STUDY = Stacks()
