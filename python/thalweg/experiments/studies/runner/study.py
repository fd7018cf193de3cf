"""What a study is, and its run: from parameters to cells, scenarios, trials, rows and checks.

A study says what is its own: what it measures in the trials of a cell, which rows and checks follow from all
cells, and how they are shown. Everything else is here, once.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from thalweg.base.errors import ControllerError, RequestError, did_you_mean
from thalweg.base.executor import Executor
from thalweg.base.extras import require
from thalweg.base.progress import Progress, silent
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.experiments.studies.runner.estimate import estimate_s
from thalweg.experiments.studies.runner.parameters import (
    Cell,
    Option,
    Parameters,
    ScenarioParameters,
    changed,
    settings,
)
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values
from thalweg.realtime import LiveScenario, Timing
from thalweg.trials.machine import ThisMachine
from thalweg.trials.store.stored import Elsewhere

if TYPE_CHECKING:
    import polars as pl

    from thalweg.pages.figures import Chart
    from thalweg.pages.report.section import Section
    from thalweg.pages.report.strip import Strips

P = TypeVar("P", bound=Parameters[Any])
S = TypeVar("S", bound=ScenarioParameters[Any])
C = TypeVar("C", bound=Cell)
M = TypeVar("M")


@dataclass
class Finished(Generic[P, C, M]):
    """A study that ran: its result, and what is behind each row."""

    study: Study[P, C, M]
    parameters: P
    result: StudyResult
    cells: dict[C, M] = field(default_factory=dict)
    """What was measured in each cell."""
    scenarios: dict[str, str] = field(default_factory=dict)
    """The scenario of each cell as it ran, by the name of the cell."""
    first_hashes: dict[str, str] = field(default_factory=dict)
    """The trace hash of the first trial of each cell."""
    complete: bool = True
    """False after a Ctrl-C, or after a controller in Python has failed: cells are missing."""

    def save(self, folder: Path, on_progress: Progress = silent, report: bool = True) -> Path:
        """Writes a study that has rows, with its page and pictures if `report`; returns where it is.

        Raises RequestError if that cannot be.
        """
        from thalweg.experiments.studies.runner.store import (  # noqa: PLC0415 - altair takes half a second to load
            save,
        )

        if report:
            require("plots", "the report page of a study")
        return save(self, folder, on_progress, report)


class StudyError(ControllerError):
    """A controller in Python has failed in a cell of a study; the cells before it are finished."""

    def __init__(self, cause: ControllerError, cell: str, finished: Finished[Any, Any, Any]) -> None:
        super().__init__(f"{cause}\n{finished.study.reached(finished)} were finished before {cell}")
        self.finished = finished


class Study(ABC, Generic[P, C, M]):
    """A study with parameters P, cells C, and what M is measured in the trials of each."""

    name: ClassVar[str]
    """On the command line."""
    title: ClassVar[str]
    source: ClassVar[str]
    """Documents and sections."""
    legend: ClassVar[str]
    """What the columns of its tables mean."""
    trials_option: ClassVar[Option]
    extra: ClassVar[str | None] = None
    """The part of an installation without which it cannot run: see `thalweg.base.extras`."""
    preset_option: ClassVar[Option] = Option(("--preset",), "Set of parameters.", "NAME")

    @abstractmethod
    def presets(self) -> Mapping[str, P]:
        """Sets of parameters with a name, the default first."""

    def choose(self, given: Mapping[str, Any], live: bool = False) -> P:
        """The preset with what the user gave; `live` asks for real time. Raises RequestError."""
        presets = self.presets()
        name = given.get("preset", next(iter(presets)))
        if name not in presets:
            raise RequestError(f"--preset {name!r}: no preset has this name{did_you_mean(name, presets)}")
        return changed(presets[name], {name: value for name, value in given.items() if name != "preset"})

    def announcements(self, parameters: P) -> list[str]:
        """What the user should know before it runs."""
        return []

    @abstractmethod
    def rows(self, parameters: P, cells: Mapping[C, M]) -> list[Row]:
        """The rows of the table out of all cells that ran."""

    def checks(self, parameters: P, cells: Mapping[C, M]) -> list[Check]:
        """The checks, of a study that was not interrupted."""
        return []

    def findings(self, parameters: P, cells: Mapping[C, M]) -> list[Finding]:
        """What is published besides, of a study that was not interrupted."""
        return []

    def notes(self, parameters: P, cells: Mapping[C, M]) -> list[str]:
        """What else the cells say, in a sentence each."""
        return []

    def blocks(self, parameters: P) -> dict[str, dict[str, str]]:
        """What was run, for people: title of a block -> parameter -> value."""
        return {}

    @abstractmethod
    def tables(self, result: StudyResult) -> Sequence[Table]:
        """What is printed."""

    def finding_table(self, result: StudyResult) -> Table | None:
        """How findings are printed; None for not at all."""
        return None

    def page_table(self, result: StudyResult) -> Table:
        """The one table of the page."""
        return self.tables(result)[0]

    @abstractmethod
    def sections(self, finished: Finished[P, C, M]) -> Iterator[Section]:
        """The figures of the page."""

    def strips(self, finished: Finished[P, C, M]) -> Strips | None:
        """The trials of each row of the table of the page; None where rows are no distributions of trials."""
        return None

    def samples(self, finished: Finished[P, C, M]) -> Mapping[str, Mapping[str, Values]]:
        """The value of each trial, in the order of seeds, by cell and measure: what `compare` judges by.

        They are stored as `trials.parquet`. Empty where rows are no distributions of trials.
        """
        return {}

    def columns(self, finished: Finished[P, C, M]) -> Mapping[str, pl.DataFrame]:
        """What is stored besides as `NAME.parquet`."""
        return {}

    def pictures(self, finished: Finished[P, C, M]) -> Mapping[str, Chart]:
        """What is stored besides as `NAME.png`."""
        return {}

    def reached(self, finished: Finished[P, C, M]) -> str:
        """How far an interrupted study has come."""
        return f"{len(finished.result.rows)} rows"

    @abstractmethod
    def run(
        self, parameters: P, trials: int | None = None, *, on_progress: Progress = silent
    ) -> Finished[P, C, M]:
        """Runs it; a Ctrl-C ends it with the cells that are finished. Raises RequestError."""

    def judge(self, finished: Finished[P, C, M]) -> None:
        """Makes rows of what was measured, and checks of what is complete."""
        of, result = (finished.parameters, finished.cells), finished.result
        result.settings = settings(finished.parameters)
        result.rows, result.notes = self.rows(*of), self.notes(*of)
        if finished.complete:
            result.checks, result.findings = self.checks(*of), self.findings(*of)


class ScenarioStudy(Study[S, C, M]):
    """A study whose cells are trials of scenarios."""

    has_shards: ClassVar[bool] = True
    """Whether its trials can be dealt out; not if it asks for trials by what came of others."""
    is_live: ClassVar[bool] = False
    """Whether it takes controllers of the kernel, in real time."""

    @abstractmethod
    def measure(self, parameters: S, cell: C, trials: CellTrials) -> M:
        """Runs the trials of a cell, and keeps what rows, checks and figures need. Raises RequestError."""

    def live_span_s(self, parameters: S, trials: int) -> tuple[float, float | None]:
        """Duration of trials in real time: about, and at most."""
        return 0.0, None

    def with_trials(self, parameters: S, trials: int) -> S:
        """The parameters for this number of trials in each cell, if they have such a number."""
        return parameters

    def trials_of(self, cell: C, trials: int) -> int:
        """Number of trials of a cell in a study with `trials`."""
        return trials

    def runs_of(self, cell: C, trials: int) -> int:
        """How many trials run for a cell, with those that run again for their traces."""
        return self.trials_of(cell, trials)

    def work_of(self, parameters: S, cell: C, trials: int) -> float:
        """How many trials without a trace take as long as a cell."""
        return self.runs_of(cell, trials)

    def estimate_s(
        self, parameters: S, scenarios: Mapping[C, Scenario | LiveScenario], n: int, seed: int, executor: Executor
    ) -> float | None:
        """How long a study in virtual time takes; None if that cannot be told, or if it is over soon.

        Plays a few trials that are not kept. Raises KeyboardInterrupt, and AuditError.
        """
        virtual = [scenario for scenario in scenarios.values() if isinstance(scenario, Scenario)]
        if len(virtual) < len(scenarios):
            return None
        return estimate_s(virtual, [self.work_of(parameters, cell, n) for cell in scenarios], seed, executor)

    def scenarios(self, parameters: S, trials: int | None = None) -> dict[C, Scenario | LiveScenario]:
        """The scenarios of all cells. Raises RequestError for a value that is not accepted."""
        parameters = parameters if trials is None else self.with_trials(parameters, trials)
        return {cell: parameters.scenario(cell) for cell in parameters.cells()}

    def run(
        self,
        parameters: S,
        trials: int | None = None,
        seed: int = 1,
        executor: Executor | None = None,
        on_progress: Progress = silent,
        scenarios: Mapping[C, Scenario | LiveScenario] | None = None,
        timing: Timing | None = None,
    ) -> Finished[S, C, M]:
        """Runs all cells with seeds `seed`, `seed + 1`, ...; a Ctrl-C ends it with the cells that are finished.

        All scenarios are read before any runs; `scenarios` are those that `scenarios()` has read of the same
        parameters and trials; `timing` is for those in real time. Raises RequestError, StudyError if a
        controller in Python fails, and Elsewhere when the executor has played the share of a shard.
        """
        if trials is not None and trials < 1:
            raise RequestError(f"{trials} trials: at least 1 is needed")
        parameters = parameters if trials is None else self.with_trials(parameters, trials)
        n = trials or parameters.trials
        result = StudyResult(self.name, self.title, self.source, parameters.preset, n, seed)
        finished = Finished(self, parameters, result)
        begin = time.perf_counter()
        scenarios = self.scenarios(parameters) if scenarios is None else scenarios
        result.parameters = self.blocks(parameters)
        total, before = sum(self.runs_of(cell, n) for cell in scenarios), 0
        failed: tuple[ControllerError, str] | None = None
        elsewhere = False
        for cell, scenario in scenarios.items():

            def report(done: int, title: str = cell.title, before: int = before) -> None:
                on_progress(title, before + done, total)

            report(0)
            of_cell = CellTrials(
                scenario, self.trials_of(cell, n), seed, executor or ThisMachine(), report, timing
            )
            try:
                finished.cells[cell] = self.measure(parameters, cell, of_cell)
            except Elsewhere:
                elsewhere, before = True, before + self.runs_of(cell, n)
                continue
            except Interrupted:
                finished.complete = False
                break
            except ControllerError as error:
                finished.complete, failed = False, (error, cell.title)
                break
            finished.scenarios[cell.name] = scenario.toml
            finished.first_hashes[cell.name] = of_cell.first_hash
            result.core_s += of_cell.core_s
            result.add_live(cell.title, seed, of_cell.live)
            before += self.runs_of(cell, n)
        if elsewhere:
            raise Elsewhere
        result.wall_s = time.perf_counter() - begin
        self.judge(finished)
        if failed:
            raise StudyError(*failed, finished) from failed[0].__cause__
        return finished
