"""The study `laws`: its run, its checks, its tables and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thalweg.experiments.studies.laws.checks import checks, findings
from thalweg.experiments.studies.laws.experiment import Experiment
from thalweg.experiments.studies.laws.parameters import PRESETS, STACKS, Parameters
from thalweg.experiments.studies.laws.quantity import Quantity
from thalweg.experiments.studies.laws.table import (
    FINDINGS,
    FINDINGS_WORDS,
    HEADERS,
    LEGEND,
    WORDS,
    has_use,
    page_rows,
    table_rows,
    use_headers,
    use_rows,
)
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, ScenarioStudy
from thalweg.experiments.studies.runner.table import Table, findings_table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values

if TYPE_CHECKING:
    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips

Cells = Mapping[Experiment, list[Quantity]]


class Laws(ScenarioStudy[Parameters, Experiment, list[Quantity]]):
    """The study."""

    name = "laws"
    title = "What the standards imply, held by measurement"
    source = "RFC 8033, 8289, 8290, 9002, 9332, 9438; draft-ietf-ccwg-bbr-06"
    legend = LEGEND
    preset_option = Option(("--preset",), "quick, full, or complete: every path of the grid.", "NAME")
    trials_option = Option(("--trials", "-n"), "Trials of each case [6, of windows 10].", least=1, most=1000)

    def presets(self) -> Mapping[str, Parameters]:
        """By their cost."""
        return PRESETS

    def choose(self, given: Mapping[str, Any], live: bool = False) -> Parameters:
        """The preset with what the user gave; the modelled endpoint comes first."""
        chosen = super().choose(given)
        return replace(chosen, stacks=tuple(stack for stack in STACKS if stack in chosen.stacks))

    def with_trials(self, parameters: Parameters, trials: int) -> Parameters:
        """So many in every experiment."""
        return replace(parameters, trials=trials, window_trials=trials)

    def trials_of(self, cell: Experiment, trials: int) -> int:
        """Each has its own number."""
        return cell.trials

    def announcements(self, parameters: Parameters) -> list[str]:
        """What is left out."""
        return parameters.notes()

    def measure(self, parameters: Parameters, cell: Experiment, trials: CellTrials) -> list[Quantity]:
        """What the experiment measures."""
        return cell.measure(trials)

    def reached(self, finished: Finished[Parameters, Experiment, list[Quantity]]) -> str:
        """By its experiments."""
        return f"{len(finished.cells)} experiments"

    def rows(self, parameters: Parameters, cells: Cells) -> list[Row]:
        """One for each quantity."""
        return [quantity.row() for quantity in _all(cells)]

    def notes(self, parameters: Parameters, cells: Cells) -> list[str]:
        """What is left out."""
        return parameters.notes()

    def checks(self, parameters: Parameters, cells: Cells) -> list[Check]:
        """Laws, and the agreement of the stacks."""
        return checks(_all(cells))

    def findings(self, parameters: Parameters, cells: Cells) -> list[Finding]:
        """Where a law claims nothing."""
        return findings(_all(cells))

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """All numbers; the utilisation has a separate table."""
        tables = [Table(HEADERS, table_rows(result), WORDS)]
        return [*tables, Table(use_headers(result), use_rows(result), 2)] if has_use(result) else tables

    def finding_table(self, result: StudyResult) -> Table:
        """What is shown and not judged."""
        return findings_table(result, FINDINGS, FINDINGS_WORDS)

    def page_table(self, result: StudyResult) -> Table:
        """All numbers."""
        return Table(HEADERS, page_rows(result), WORDS)

    def samples(
        self, finished: Finished[Parameters, Experiment, list[Quantity]]
    ) -> Mapping[str, Mapping[str, Values]]:
        """Each number in all trials."""
        return {
            cell.name: {f"{of.law}, {of.controller}, {of.stack}, {of.case}": of.values for of in quantities}
            for cell, quantities in finished.cells.items()
        }

    def strips(self, finished: Finished[Parameters, Experiment, list[Quantity]]) -> Strips:
        """The trials of each number between its bounds."""
        from thalweg.experiments.studies.laws.page import (  # noqa: PLC0415 - altair takes half a second to load
            strips,
        )

        return strips(_all(finished.cells))

    def sections(self, finished: Finished[Parameters, Experiment, list[Quantity]]) -> Iterator[Section]:
        """Windows, utilisation and bounds."""
        from thalweg.experiments.studies.laws.page import (  # noqa: PLC0415 - altair takes half a second to load
            sections,
        )

        return sections(finished.result)


def _all(cells: Cells) -> list[Quantity]:
    return [quantity for quantities in cells.values() for quantity in quantities]


STUDY = Laws()
