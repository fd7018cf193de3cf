"""`thalweg.Sweep`: a plan from a file or from Python, and running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.executor import Executor
from thalweg.base.progress import Progress, silent
from thalweg.experiments.sweep.plan import Plan, plan_of, read_plan
from thalweg.experiments.sweep.plan_file import PlanFile
from thalweg.experiments.sweep.result import SweepResult
from thalweg.experiments.sweep.run import Estimate, Run, Tally
from thalweg.experiments.sweep.store import Store, opened
from thalweg.trials.machine import ThisMachine
from thalweg.trials.store.shard import Shard


class Sweep:
    """One scenario over a space of its keys, controllers and seeds.

    >>> import tempfile, thalweg
    >>> sweep = thalweg.Sweep(
    ...     "c4/simple-20mbps", {"path.rate": ["10 Mbps", "20 Mbps"], "controller.main": ["cubic", "c4"]}, trials=2
    ... )
    >>> sweep.points
    4
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = sweep.run(folder).rows
    >>> rows.select("path.rate_bps", "controller.main", "trials").row(0)
    (10000000.0, 'cubic', 2)
    """

    def __init__(
        self,
        scenario: str | Mapping[str, Any],
        axes: Mapping[str, Any],
        trials: int = 100,
        seed: int = 1,
        *,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - as the plan and the command line call it
        controllers: Mapping[str, Any] | None = None,
        design: str | Mapping[str, Any] = "grid",
        tied: Sequence[Sequence[str]] = (),
        exclude: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """The keys of a plan file; see docs/how-to/sweeps.md. Raises RequestError."""
        document = {
            "scenario": scenario,
            "trials": trials,
            "seed": seed,
            "set": set or {},
            "controllers": controllers or {},
            "design": design,
            "axes": axes,
            "tied": tied,
            "exclude": exclude,
        }
        self._plan = plan_of(document, PlanFile("the plan"), Path())

    @staticmethod
    def load(file: str | Path) -> Sweep:
        """Reads a plan file. Raises RequestError with file, line, key and value."""
        return Sweep.of(read_plan(Path(file)))

    @staticmethod
    def of(plan: Plan) -> Sweep:
        """The sweep of a plan that was read."""
        sweep = Sweep.__new__(Sweep)
        sweep._plan = plan
        return sweep

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self._plan

    @property
    def points(self) -> int:
        """How many points there are."""
        return self._plan.space.count

    def estimate(
        self,
        folder: str | Path | None = None,
        executor: Executor | None = None,
        shard: str = "1/1",
        on_progress: Progress = silent,
    ) -> Estimate:
        """Counts what a folder has and what would run; plays a few trials for the time. Raises RequestError."""
        store = Store(Path(folder or ""), _native.engine())
        if folder is not None and Path(folder).is_dir():
            store.load()
        return Run(self._plan, store, executor or ThisMachine(), Shard.read(shard), on_progress).estimate()

    def run(
        self,
        folder: str | Path,
        jobs: int = 0,
        shard: str = "1/1",
        on_progress: Progress = silent,
        *,
        executor: Executor | None = None,
        at_once: bool = False,
    ) -> SweepResult:
        """Plays the trials that the folder lacks, and returns all trials of the plan.

        Ctrl-C raises KeyboardInterrupt; what was finished is kept. Work of more than a day requires `at_once`.
        Raises RequestError.
        """
        tally = self.play(Path(folder), executor or ThisMachine(jobs), Shard.read(shard), on_progress, at_once)
        if not tally.complete:
            raise KeyboardInterrupt
        return SweepResult.load(folder)

    def play(
        self,
        folder: Path,
        executor: Executor,
        shard: Shard,
        on_progress: Progress = silent,
        at_once: bool = False,
        command: str = "",
    ) -> Tally:
        """The same, with what came of it: after a Ctrl-C it is not complete. Raises RequestError.

        `command` is what to type to run it again.
        """
        with opened(folder, self._plan) as store:
            run = Run(self._plan, store, executor, shard, on_progress, command)
            run.play(at_once)
            return run.tally
