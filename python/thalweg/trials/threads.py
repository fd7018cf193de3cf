"""Trials on the threads of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from thalweg import _native
from thalweg.base.executor import Batch, Finished, Report, T, Take, unheard
from thalweg.engine import audit
from thalweg.engine.controllers.failure import error_of
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario, findings
from thalweg.trials.apart import play_apart
from thalweg.trials.in_turn import in_turn


@dataclass(frozen=True)
class Threads:
    """Threads of this process. Trials with controllers in Python run one after the other on them."""

    jobs: int = 0
    """How many; 0 for all cores."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""
        return self.jobs or os.cpu_count() or 1

    @property
    def lanes(self) -> int:
        """One batch at once, on all threads."""
        return 1

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.width} thread{'s' if self.width > 1 else ''}"

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        """Plays batches, one after the other."""
        in_turn(batches, lambda batch, hear: self.play_batch(batch, take, hear), report)

    def play_batch(self, batch: Batch, take: Take, report: Report) -> None:
        """Plays one batch; no thread waits for the last trial of a scenario, except for scenarios in Python."""
        in_python = any(scenario.definitions for scenario in batch.scenarios)
        taken: set[int] = set()

        def hand_over(number: int, outcomes: _native.Outcomes) -> None:
            taken.add(number)
            take(Finished(batch, number, outcomes))

        try:
            if in_python:
                self._in_turn(batch, hand_over, report)
            elif self._run(batch.scenarios, batch.seeds, report, hand_over):
                raise KeyboardInterrupt
        except (_native.ControllerFailed, _native.Panicked):
            play_apart(batch, taken, self.play_trial, take)
        report(batch.trials)

    def play_trial(self, scenario: Scenario, seed: int) -> _native.Outcomes:
        """One trial. Raises ControllerError, AuditError, Panicked and KeyboardInterrupt."""
        try:
            with findings():
                return scenario.native.trials([seed], 1, None, audit.is_on())
        except _native.ControllerFailed as failed:
            raise error_of(failed, scenario.definitions) from failed.__cause__
        except _native.Cancelled:
            raise KeyboardInterrupt from None

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """What `take` makes of each trial with its trace. Only the traces of those at work are in memory."""
        found: list[T] = []
        is_watched = audit.is_on()  # threads do not inherit it

        def work(seed: int) -> T:
            return take(scenario.run(seed, trace=True, audit=is_watched))

        with ThreadPoolExecutor(self.width) as pool:
            try:
                for taken in pool.map(work, seeds):
                    found.append(taken)
                    report(len(found))
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise
        return found

    def _run(
        self,
        scenarios: Sequence[Scenario],
        seeds: Sequence[int],
        report: Report,
        hand_over: Callable[[int, _native.Outcomes], None],
    ) -> bool:
        with findings():
            native = [scenario.native for scenario in scenarios]
            return _native.run_batches(native, seeds, self.jobs, report, hand_over, audit.is_on())

    def _in_turn(self, batch: Batch, hand_over: Callable[[int, _native.Outcomes], None], report: Report) -> None:
        """Scenarios one after the other. Raises ControllerFailed, and KeyboardInterrupt after what is finished."""
        for number, scenario in enumerate(batch.scenarios):

            def hear(finished: int, before: int = number * len(batch.seeds)) -> None:
                report(before + finished)

            try:
                with findings():
                    hand_over(number, scenario.native.trials(batch.seeds, self.jobs, hear, audit.is_on()))
            except _native.Cancelled as cancelled:
                finished = getattr(cancelled, "outcomes", None)
                if finished is not None and len(finished.trials["seed"]):
                    hand_over(number, finished)
                raise KeyboardInterrupt from None
