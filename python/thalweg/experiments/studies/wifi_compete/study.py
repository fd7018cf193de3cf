"""The study `wifi-compete`: early versions of C4 alone and against others on bad Wi-Fi.

The experiment is in `parameters.py`, what is measured in `measure.py` and `course.py`, what it is set against in
`published.py`, `checks.py`, `findings.py` and `course_findings.py`.

Source: "Handling of competition with Wi-Fi jitter" (C4 repository, commit ffec621, 2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table, findings_table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.experiments.studies.wifi_compete.checks import checks
from thalweg.experiments.studies.wifi_compete.course import TRACED, Course, courses
from thalweg.experiments.studies.wifi_compete.course_findings import NEEDED, course_findings
from thalweg.experiments.studies.wifi_compete.findings import findings
from thalweg.experiments.studies.wifi_compete.measure import Columns, Kept, ends, flow_column, main_column, row
from thalweg.experiments.studies.wifi_compete.parameters import BACKGROUND, Cell, Parameters
from thalweg.experiments.studies.wifi_compete.published import ACCEPTANCE, ALONE, PAPER, SHARED_MEDIAN_S
from thalweg.experiments.studies.wifi_compete.store import flow_table
from thalweg.experiments.studies.wifi_compete.table import FINDINGS, HEADERS, LEGEND, WORDS, table_rows
from thalweg.judging.statistics.interval import Values

if TYPE_CHECKING:
    import polars as pl

    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips

Cells = Mapping[Cell, Kept]


class WifiCompete(ScenarioStudy[Parameters, Cell, Kept]):
    """The study.

    >>> len(STUDY.run(Parameters(), trials=2).result.rows)
    20
    """

    name = "wifi-compete"
    title = "C4 before its drafts, against others on bad Wi-Fi (2025)"
    source = PAPER
    legend = LEGEND
    trials_option = Option(("--trials", "-n"), "Trials of each row [1000].", least=2, most=SET_SIZE)

    def presets(self) -> Mapping[str, Parameters]:
        """One."""
        return {"random-jitter": Parameters()}

    def runs_of(self, cell: Cell, trials: int) -> int:
        """With those that are played again with their traces."""
        return trials + (min(trials, TRACED) if cell in NEEDED else 0)

    def measure(self, parameters: Parameters, cell: Cell, trials: CellTrials) -> Kept:
        """All trials, and the course of the first ones where the paper speaks of it."""
        outcomes = trials.outcomes()
        return Kept(outcomes, ends(outcomes), courses(trials) if cell in NEEDED else [])

    def rows(self, parameters: Parameters, cells: Cells) -> list[Row]:
        """One for each cell."""
        alone = {cell.variant: kept.closed for cell, kept in cells.items() if cell.competitor == ALONE}
        medians = {variant: float(np.median(closed)) for variant, closed in alone.items()}
        return [
            row(
                cell,
                kept.closed,
                main_column(kept.outcomes, "share"),
                flow_column(kept.outcomes, BACKGROUND, "bytes_delivered"),
                medians.get(cell.variant),
                SHARED_MEDIAN_S.get(cell) if parameters.shared_jitter else ACCEPTANCE.get(cell),
            )
            for cell, kept in cells.items()
        ]

    def checks(self, parameters: Parameters, cells: Cells) -> list[Check]:
        """What was measured with random seeds binds an experiment with random seeds."""
        return [] if parameters.shared_jitter else checks(_closed(cells))

    def findings(self, parameters: Parameters, cells: Cells) -> list[Finding]:
        """What the paper says of end times, shares and courses."""
        closed, shared = _closed(cells), parameters.shared_jitter
        shares: dict[tuple[str, str], Columns] = {
            cell: main_column(kept.outcomes, "share") for cell, kept in cells.items()
        }
        of_cells: dict[tuple[str, str], list[Course]] = {
            cell: kept.courses for cell, kept in cells.items() if cell in NEEDED
        }
        return [*findings(closed, shares, shared), *course_findings(closed, of_cells, shared)]

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """One."""
        return [Table(HEADERS, table_rows(result), WORDS)]

    def finding_table(self, result: StudyResult) -> Table:
        """What the paper says."""
        return findings_table(result, FINDINGS)

    def columns(self, finished: Finished[Parameters, Cell, Kept]) -> Mapping[str, pl.DataFrame]:
        """Every flow of every trial."""
        return {"flows": flow_table({cell: kept.outcomes for cell, kept in finished.cells.items()})}

    def samples(self, finished: Finished[Parameters, Cell, Kept]) -> Mapping[str, Mapping[str, Values]]:
        """When the main flow closed in each trial."""
        return {cell.name: {"closed_s": kept.closed} for cell, kept in finished.cells.items()}

    def strips(self, finished: Finished[Parameters, Cell, Kept]) -> Strips:
        """When the main flow closed in each trial."""
        from thalweg.experiments.studies.wifi_compete.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(finished.parameters, finished.cells)

    def sections(self, finished: Finished[Parameters, Cell, Kept]) -> Iterator[Section]:
        """Two trials of each pair."""
        from thalweg.experiments.studies.wifi_compete.page import (  # noqa: PLC0415 - altair takes half a second to load
            section,
        )

        return (section(cell, kept) for cell, kept in finished.cells.items())


def _closed(cells: Cells) -> dict[tuple[str, str], Columns]:
    """When the main flow closed in each trial."""
    return {cell: kept.closed for cell, kept in cells.items()}


STUDY = WifiCompete()
