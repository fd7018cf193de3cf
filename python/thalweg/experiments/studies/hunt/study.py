"""The study `hunt`: published worst cases of controllers, found again by searching and shipped as they shrank.

Cases and their plans are in `parameters.py` and `plans/`, what is kept of hunts in `measure.py`, what is judged in
`checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.hunt.checks import checks
from thalweg.experiments.studies.hunt.measure import Measured, measure, row
from thalweg.experiments.studies.hunt.parameters import Cell, Parameters
from thalweg.experiments.studies.hunt.table import HEADERS, LEGEND, WORDS, table_rows
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials

if TYPE_CHECKING:
    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips


class Hunts(ScenarioStudy[Parameters, Cell, Measured]):
    """The study."""

    name = "hunt"
    title = "Published worst cases, found again"
    source = (
        "Hock et al., ICNP 2017; Arun et al., SIGCOMM 2022; Ray and Seshan, HotNets 2022; "
        "draft-huitema-ccwg-c4-test"
    )
    legend = LEGEND
    extra = "hunt"
    has_shards = False
    trials_option = Option(
        ("--trials", "-n"), "Trials of the shipped scenario of each case [20].", least=1, most=SET_SIZE
    )

    def presets(self) -> Mapping[str, Parameters]:
        """One."""
        return {"default": Parameters()}

    def work_of(self, parameters: Parameters, cell: Cell, trials: int) -> float:
        """Its hunts, and the trials of its shipped scenario."""
        plan = parameters.plan(cell, 1)
        return trials + parameters.hunts * plan.budget * plan.plan.trials

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> Measured:
        """The finds of its hunts, and the objective of its shipped scenario."""
        return measure(parameters, cell, trials)

    def rows(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Row]:
        """One for each case."""
        return [row(cell, measured) for cell, measured in cells.items()]

    def checks(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Check]:
        """Two for each case."""
        return checks(cells)

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """One."""
        return [Table(HEADERS, table_rows(result), WORDS)]

    def strips(self, finished: Finished[Parameters, Cell, Measured]) -> Strips:
        """The trials of the shipped scenarios."""
        from thalweg.experiments.studies.hunt.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(finished.cells)

    def sections(self, finished: Finished[Parameters, Cell, Measured]) -> Iterator[Section]:
        """How each search went."""
        from thalweg.experiments.studies.hunt.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished)


STUDY = Hunts()
