"""The study `slow-start`: the slow starts of CUBIC and Reno side by side, over paths of many kinds.

The experiment is in `parameters.py`, the formulas in `metric.py`, what is measured with them in `measure.py`,
what is judged in `checks.py`, what is published besides in `published.py`.

Sources: RFC 9002 section 7.3.1, RFC 9406, draft-chung-ccwg-search-09, draft-kazuho-ccwg-rapid-start-02,
draft-ietf-tsvwg-careful-resume-22.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.runner.estimate import TRACED
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.experiments.studies.slow_start.checks import checks
from thalweg.experiments.studies.slow_start.measure import Measured, gather, row, take, together
from thalweg.experiments.studies.slow_start.parameters import Cell, Parameters
from thalweg.experiments.studies.slow_start.published import findings
from thalweg.experiments.studies.slow_start.table import HEADERS, LEGEND, WORDS, table_rows

if TYPE_CHECKING:
    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips


class SlowStart(ScenarioStudy[Parameters, Cell, Measured]):
    """The study.

    >>> path = {"rates": ("20 Mbps",), "rtts": ("40 ms",), "buffers_bdp": (1.0,), "jitters": ("0 ms",)}
    >>> quick = Parameters(("classic",), **path, applications=(0.0,), phases=1)
    >>> [(row["start"], row["late"]) for row in STUDY.run(quick, trials=1).result.rows]
    [('classic', 1.0)]
    """

    name = "slow-start"
    title = "Slow starts side by side"
    source = (
        "RFC 9002 section 7.3.1; RFC 9406; draft-chung-ccwg-search-09; draft-kazuho-ccwg-rapid-start-02; "
        "draft-ietf-tsvwg-careful-resume-22"
    )
    legend = LEGEND
    trials_option = Option(("--trials", "-n"), "Trials of each phase of a path [4].", least=1, most=SET_SIZE)

    def presets(self) -> Mapping[str, Parameters]:
        """One."""
        return {"default": Parameters()}

    def work_of(self, parameters: Parameters, cell: Cell, trials: int) -> float:
        """All trials have their traces."""
        return TRACED * self.runs_of(cell, trials)

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> Measured:
        """Times, exit and losses of each trial, from its trace."""
        return gather(trials.each(partial(take, parameters, cell), f"{parameters} {cell}"))

    def rows(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Row]:
        """One for each path and start."""
        return [row(cell, measured) for cell, measured in together(cells)]

    def checks(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Check]:
        """Those that the cells allow."""
        return checks(parameters, cells)

    def findings(self, parameters: Parameters, cells: Mapping[Cell, Measured]) -> list[Finding]:
        """Those that the cells allow."""
        return findings(cells)

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """One."""
        return [Table(HEADERS, table_rows(result), WORDS)]

    def samples(self, finished: Finished[Parameters, Cell, Measured]) -> Mapping[str, Measured]:
        """All that is measured of a trial."""
        return {cell.name: measured for cell, measured in finished.cells.items()}

    def strips(self, finished: Finished[Parameters, Cell, Measured]) -> Strips:
        """The windows that each trial reached and left."""
        from thalweg.experiments.studies.slow_start.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(finished.cells)

    def sections(self, finished: Finished[Parameters, Cell, Measured]) -> Iterator[Section]:
        """Where starts end, and how soon bytes arrive."""
        from thalweg.experiments.studies.slow_start.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished.result)


STUDY = SlowStart()
