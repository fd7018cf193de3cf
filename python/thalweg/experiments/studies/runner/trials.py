"""The trials of one cell of a study: on an executor in virtual time, one by one in real time.

What is kept of a trial with its trace is taken from it where it ran.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from thalweg.base.executor import Executor, Measure, T
from thalweg.base.sources import sources_hash
from thalweg.engine.outcome import Outcomes, Trial
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.realtime import LiveScenario, Timing, play


@dataclass
class CellTrials:
    """The trials of one cell, with seeds `seed`, `seed + 1`, ...: they run when their outcomes are asked for."""

    scenario: Scenario | LiveScenario
    n: int
    seed: int
    executor: Executor
    progress: Callable[[int], None]
    """Hears how many trials are finished."""
    timing: Timing | None = None
    """The timing of trials in real time."""
    core_s: float = 0.0
    """Processor time of the trials that ran."""
    first_hash: str = ""
    """Trace hash of the trial with the first seed; empty until it ran."""
    live: list[dict[str, Any]] = field(default_factory=list)
    """What the emulator has to say about each trial in real time."""
    _finished: int = 0

    def outcomes(self) -> Outcomes:
        """Runs all; their outcomes. Raises RequestError and Interrupted."""
        if isinstance(self.scenario, LiveScenario):
            played = play(self.scenario, self.n, self.seed, self._hear, self.timing)
            self.live += played.reports
            outcomes = played.outcomes
        else:
            outcomes = self.scenario.trials(self.n, self.seed, on_progress=self._hear, executor=self.executor)
        self._ran(self.n, outcomes.core_s)
        self.first_hash = outcomes.trace_hash(0)
        return outcomes

    def each(self, take: Callable[[Trial], T], known_by: str, most: int | None = None) -> list[T]:
        """Runs all, or the first `most`, with their traces; what `take` makes of each. Raises as `outcomes`.

        `take` makes what JSON has, lists and tables of texts and numbers; `known_by` tells it, and all parameters
        that its values depend on, from others in the same store.
        """
        assert isinstance(self.scenario, Scenario)
        n = self.n if most is None else min(self.n, most)

        def keep(trial: Trial) -> tuple[T, float, str]:
            return take(trial), trial.outcomes.core_s, trial.trace_hash

        seeds = range(self.seed, self.seed + n)
        measure = Measure(keep, f"{sources_hash()}\n{known_by}")
        try:
            found = self.executor.each(self.scenario, seeds, measure, self._hear)
        except KeyboardInterrupt:
            raise Interrupted(None) from None
        self._ran(n, sum(core_s for _, core_s, _ in found))
        self.first_hash = found[0][2]
        return [taken for taken, _, _ in found]

    def _hear(self, finished: int) -> None:
        self.progress(self._finished + finished)

    def _ran(self, n: int, core_s: float) -> None:
        self._finished += n
        self.core_s += core_s
