"""Trials on this machine: on threads, or in processes where controllers in Python want an interpreter each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from thalweg.base.executor import Batch, Report, T, Take, unheard
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.trials.in_turn import in_turn
from thalweg.trials.portable import is_portable
from thalweg.trials.processes import Pool, Processes
from thalweg.trials.threads import Threads


@dataclass(frozen=True)
class ThisMachine:
    """The default: there is nothing to start."""

    jobs: int = 0
    """Trials at once; 0 for all cores."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""
        return Threads(self.jobs).width

    @property
    def lanes(self) -> int:
        """One batch at once, on all threads or processes."""
        return 1

    @property
    def name(self) -> str:
        """For people."""
        return Threads(self.jobs).name

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        """Plays batches, one after the other. Processes stay until the last."""
        threads = Threads(self.jobs)
        pool: Pool | None = None
        with ExitStack() as stack:

            def play_batch(batch: Batch, hear: Report) -> None:
                nonlocal pool
                if self._wants_processes(batch, pool is not None):
                    pool = pool or self._started(stack)
                    pool.play_batch(batch, take, hear)
                else:
                    threads.play_batch(batch, take, hear)

            in_turn(batches, play_batch, report)

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """On threads; libraries have processes."""
        if scenario.libraries:
            with Processes(self.jobs).started() as pool:
                return pool.each(scenario, seeds, take, report)
        return Threads(self.jobs).each(scenario, seeds, take, report)

    def _started(self, stack: ExitStack) -> Pool:
        return stack.enter_context(Processes(self.jobs).started())

    def _wants_processes(self, batch: Batch, are_there: bool) -> bool:
        """Whether there are libraries, or controllers in Python would have one trial wait for another.

        Processes that are there already are used.
        """
        if any(scenario.libraries for scenario in batch.scenarios):
            return True
        in_python = any(scenario.definitions for scenario in batch.scenarios)
        worth = are_there or min(self.width, batch.trials) > 1
        return in_python and worth and all(map(is_portable, batch.scenarios))
