"""What a study is, and its run: from parameters to cells, scenarios, trials, rows and checks.

A study is a value: it names the functions that are its own, what it measures in the trials of a cell, which rows
and checks follow from all cells, and declares the columns of its rows. Everything else is here, once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from thalweg.base.errors import ControllerError, RequestError, did_you_mean
from thalweg.base.executor import Executor
from thalweg.base.extras import require
from thalweg.base.progress import Progress, silent
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.experiments.studies.runner.estimate import TRACED, estimate_s
from thalweg.experiments.studies.runner.parameters import Cell, Option, Parameters, changed, settings
from thalweg.experiments.studies.runner.portable import portable
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.table import Column, Table, findings_table, tables, whole_table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values
from thalweg.realtime import LiveScenario, Timing
from thalweg.trials.machine import ThisMachine
from thalweg.trials.store.stored import Elsewhere

if TYPE_CHECKING:
    import polars as pl

    from thalweg.experiments.studies.runner.page import Page

P = TypeVar("P", bound=Parameters[Any])
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
    """The scenario of each cell as its folder has it, by the name of the cell."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The files that scenarios name, by their names in the folder: `runner/portable.py`."""
    first_hashes: dict[str, str] = field(default_factory=dict)
    """The trace hash of the first trial of each cell."""
    complete: bool = True
    """False after a Ctrl-C, or after a controller in Python has failed: cells are missing."""

    @property
    def page(self) -> Page:
        """What its page shows in addition to the table."""
        return self.study.page(self)

    @property
    def samples(self) -> dict[str, Mapping[str, Values]]:
        """The value of each trial by cell and measure: `trials.parquet`."""
        return {cell.name: found for cell, of in self.cells.items() if (found := self.study.samples(of))}

    def save(self, folder: Path, on_progress: Progress = silent, with_page: bool = True) -> Path:
        """Writes a study that has rows, with its page and pictures if `with_page`; returns where it is.

        Raises RequestError if that cannot be.
        """
        from thalweg.experiments.studies.runner.page import (  # noqa: PLC0415 - altair takes half a second to load
            save,
        )

        if with_page:
            require("plots", "the report page of a study")
        return save(self, folder, on_progress, with_page)


def page_of(module: str) -> Callable[[Finished[Any, Any, Any]], Page]:
    """The function `page` of the module `figures` next to this one, loaded when called: altair is slow to load."""
    figures = f"{module.rpartition('.')[0]}.figures"

    def page(finished: Finished[Any, Any, Any]) -> Page:
        made: Page = import_module(figures).page(finished)
        return made

    return page


class StudyError(ControllerError):
    """A controller in Python has failed in a cell of a study; the cells before it are finished."""

    def __init__(self, cause: ControllerError, cell: str, finished: Finished[Any, Any, Any]) -> None:
        super().__init__(f"{cause}\n{finished.study.reached(finished)} were finished before {cell}")
        self.finished = finished


@dataclass(frozen=True, eq=False)
class Study(Generic[P, C, M]):
    """A study with parameters P, cells C, and what M is measured in the trials of each."""

    name: str
    """On the command line."""
    title: str
    source: str
    """Documents and sections."""
    presets: Mapping[str, P]
    """Sets of parameters with a name, the default first."""
    trials: Option
    """The option of how many trials a cell has."""
    columns: Sequence[Column]
    """Columns of its rows."""
    rows: Callable[[P, Mapping[C, M]], list[Row]]
    """Out of all cells that ran."""
    page: Callable[[Finished[P, C, M]], Page]
    scenario: Callable[[P, C], Scenario | LiveScenario] | None = None
    """The scenario of a cell. Raises RequestError for a value that is not accepted."""
    measure: Callable[[P, C, CellTrials], M] | None = None
    """Runs the trials of a cell, and keeps what rows, checks and figures need. Raises RequestError."""
    transfers: Callable[[Finished[P, C, M], Progress], None] | None = None
    """In place of both, for a study without scenarios: measures all its cells; a Ctrl-C leaves it incomplete."""
    legend: str = ""
    """The first sentences of the legend; the columns have the others."""
    checks: Callable[[P, Mapping[C, M]], list[Check]] = lambda _parameters, _cells: []
    """The checks of a study that was not interrupted."""
    findings: Callable[[P, Mapping[C, M]], list[Finding]] = lambda _parameters, _cells: []
    """What else is published, for a study that was not interrupted."""
    finding_columns: Mapping[str, str] | None = None
    """How findings are printed: heading -> part of a finding; None for not at all."""
    finding_words: int | None = None
    """How many of them hold words; None: all."""
    notes: Callable[[P, Mapping[C, M]], list[str]] = lambda _parameters, _cells: []
    """What else the cells say, in a sentence each."""
    announcements: Callable[[P], list[str]] = lambda _: []
    """What the user should know before it runs."""
    blocks: Callable[[P], dict[str, dict[str, str]]] = lambda _: {}
    """What was run, for people: title of a block -> parameter -> value."""
    samples: Callable[[M], Mapping[str, Values]] = lambda _: {}
    """The value of each trial of a cell by measure, in the order of seeds: what `compare` judges by."""
    texts: Callable[[Finished[P, C, M]], Mapping[str, str]] = lambda finished: finished.scenarios
    """The scenarios as they are stored, by the names of cells."""
    stored: Callable[[Finished[P, C, M]], Mapping[str, pl.DataFrame]] = lambda _: {}
    """What else is stored, as `NAME.parquet`."""
    stored_columns: Mapping[str, Sequence[Column]] = field(default_factory=dict)
    """The columns of these tables that are its own."""
    printed: Callable[[StudyResult], Sequence[Table]] | None = None
    """What is printed where that is not all rows under all columns."""
    reached: Callable[[Finished[P, C, M]], str] = lambda finished: f"{len(finished.result.rows)} rows"
    """How far an interrupted study has come."""
    preset: Option | None = None
    """The option of a preset, where there are several."""
    preset_of: Callable[[P], str] | None = None
    """What its document calls a set of parameters; None: the name of the preset, `custom` if it has none."""
    extra: str | None = None
    """The part of an installation without which it cannot run: see `thalweg.base.extras`."""
    with_trials: Callable[[P, int], P] = lambda parameters, _: parameters
    """The parameters for this number of trials in each cell, if they have such a number."""
    trials_of: Callable[[C, int], int] = lambda _, trials: trials
    """Number of trials of a cell in a study with `trials`."""
    again: Callable[[C, int], int] = lambda _cell, _trials: 0
    """How many of them run again, for their traces."""
    traced: bool = False
    """Whether all trials have their traces."""
    work: Callable[[P, C, int], float] | None = None
    """How many trials without a trace take as long as a cell, where that is not their number."""
    live_span_s: Callable[[P, int], tuple[float, float | None]] | None = None
    """Duration of trials in real time, about and at most; None where controllers of the kernel are not taken."""
    has_shards: bool = True
    """Whether its trials can be dealt out; not if it asks for trials by what came of others."""

    @property
    def has_scenarios(self) -> bool:
        """Whether its cells are trials of scenarios."""
        return self.scenario is not None

    def choose(self, given: Mapping[str, Any]) -> P:
        """The preset with what the user gave. Raises RequestError."""
        name = given.get("preset", next(iter(self.presets)))
        if name not in self.presets:
            raise RequestError(f"--preset {name!r}: no preset has this name{did_you_mean(name, self.presets)}")
        return changed(self.presets[name], {name: value for name, value in given.items() if name != "preset"})

    def tables(self, result: StudyResult) -> Sequence[Table]:
        """What is printed."""
        return self.printed(result) if self.printed else tables(self.columns, result.rows)

    def page_table(self, result: StudyResult) -> Table:
        """The one table of the page."""
        return whole_table(self.columns, result.rows)

    def finding_table(self, result: StudyResult) -> Table | None:
        """How findings are printed; None for not at all."""
        columns = self.finding_columns
        return None if columns is None else findings_table(result, columns, self.finding_words)

    def runs_of(self, cell: C, trials: int) -> int:
        """How many trials run for a cell, with those that run again."""
        return self.trials_of(cell, trials) + self.again(cell, trials)

    def estimate_s(
        self, parameters: P, scenarios: Mapping[C, Scenario | LiveScenario], n: int, seed: int, executor: Executor
    ) -> float | None:
        """How long a study in virtual time takes; None if that cannot be told, or if it is over soon.

        Plays a few trials that are not kept. Raises KeyboardInterrupt, and AuditError.
        """
        virtual = [scenario for scenario in scenarios.values() if isinstance(scenario, Scenario)]
        if len(virtual) < len(scenarios):
            return None
        work = self.work or self._usual_work
        return estimate_s(virtual, [work(parameters, cell, n) for cell in scenarios], seed, executor)

    def scenarios(self, parameters: P, trials: int | None = None) -> dict[C, Scenario | LiveScenario]:
        """The scenarios of all cells.

        Raises RequestError for a value that is not accepted, and for two cells whose files have one name.
        """
        assert self.scenario is not None
        parameters = parameters if trials is None else self.with_trials(parameters, trials)
        cells = list(parameters.cells())
        named: dict[str, C] = {}
        for cell in cells:
            if named.setdefault(cell.name, cell) != cell:
                raise RequestError(
                    f"two cells of {self.name} would be stored as {cell.name}; accepted: controllers and values "
                    "that differ in letters, digits, dots or dashes"
                )
        return {cell: self.scenario(parameters, cell) for cell in cells}

    def run(
        self,
        parameters: P,
        trials: int | None = None,
        seed: int = 1,
        executor: Executor | None = None,
        on_progress: Progress = silent,
        scenarios: Mapping[C, Scenario | LiveScenario] | None = None,
        timing: Timing | None = None,
    ) -> Finished[P, C, M]:
        """Runs all cells with seeds `seed`, `seed + 1`, ...; a Ctrl-C ends it with the cells that are finished.

        All scenarios are read before any runs; `scenarios` are those that `scenarios()` has read of the same
        parameters and trials; `timing` is for those in real time. Raises RequestError, StudyError if a
        controller in Python fails, and Elsewhere when the executor has played the share of a shard.
        """
        if trials is not None and trials < 1:
            raise RequestError(f"{trials} trials: at least 1 is needed")
        parameters = parameters if trials is None else self.with_trials(parameters, trials)
        n = trials or parameters.trials
        result = StudyResult(self.name, self.title, self.source, self.preset_name(parameters), n, seed)
        finished = Finished(self, parameters, result)
        begin, failed = time.perf_counter(), None
        if self.transfers:
            self.transfers(finished, on_progress)
        else:
            scenarios = self.scenarios(parameters) if scenarios is None else scenarios
            failed = self._play(finished, scenarios, executor or ThisMachine(), on_progress, timing)
        result.wall_s = time.perf_counter() - begin
        self.judge(finished)
        if failed:
            raise StudyError(*failed, finished) from failed[0].__cause__
        return finished

    def judge(self, finished: Finished[P, C, M]) -> None:
        """Makes rows of what was measured, and checks of what is complete."""
        of, result = (finished.parameters, finished.cells), finished.result
        result.settings, result.parameters = settings(finished.parameters), self.blocks(finished.parameters)
        result.rows, result.notes = self.rows(*of), self.notes(*of)
        undeclared = {key for row in result.rows for key in row} - {column.key for column in self.columns}
        assert not undeclared, f"{self.name} declares no column {', '.join(sorted(undeclared))}"
        if finished.complete:
            result.checks, result.findings = self.checks(*of), self.findings(*of)

    def _usual_work(self, _parameters: P, cell: C, trials: int) -> float:
        return self.runs_of(cell, trials) * (TRACED if self.traced else 1.0)

    def preset_name(self, parameters: P) -> str:
        """What its document calls these parameters."""
        if self.preset_of:
            return self.preset_of(parameters)
        return next((name for name, known in self.presets.items() if known == parameters), "custom")

    def _play(
        self,
        finished: Finished[P, C, M],
        scenarios: Mapping[C, Scenario | LiveScenario],
        executor: Executor,
        on_progress: Progress,
        timing: Timing | None,
    ) -> tuple[ControllerError, str] | None:
        """The trials of all cells; the failure of a controller and the cell in which it ended the study."""
        assert self.measure is not None
        result, n = finished.result, finished.result.trials
        total, before = sum(self.runs_of(cell, n) for cell in scenarios), 0
        failed: tuple[ControllerError, str] | None = None
        elsewhere = False
        for cell, scenario in scenarios.items():

            def progress(done: int, title: str = cell.title, before: int = before) -> None:
                on_progress(title, before + done, total)

            progress(0)
            trials = CellTrials(scenario, self.trials_of(cell, n), result.seed, executor, progress, timing)
            try:
                finished.cells[cell] = self.measure(finished.parameters, cell, trials)
            except Elsewhere:
                elsewhere, before = True, before + self.runs_of(cell, n)
                continue
            except Interrupted:
                finished.complete = False
                break
            except ControllerError as error:
                finished.complete, failed = False, (error, cell.title)
                break
            finished.scenarios[cell.name] = portable(scenario, finished.files)
            finished.first_hashes[cell.name] = trials.first_hash
            result.core_s += trials.core_s
            result.add_live(cell.title, result.seed, trials.live)
            before += self.runs_of(cell, n)
        if elsewhere:
            raise Elsewhere
        return failed
