"""The trials of one cell of a study, and where they run.

A study says which trials it wants; a `Player` says where they run. Today that is this machine: threads in virtual
time, one by one in real time. Trials are named by scenario and seed, and what is kept of a trial with its trace is
taken from it where it ran, so that other players need no more than these two calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from thalweg import audit
from thalweg.live import LiveScenario, Played, Timing, play
from thalweg.outcome import Outcomes, Trial
from thalweg.scenario import Interrupted, Scenario

T = TypeVar("T")
Report = Callable[[int], None]
"""Hears how many trials are finished."""


class Player(Protocol):
    """Where trials run."""

    def play(self, scenario: Scenario | LiveScenario, n: int, seed: int, report: Report) -> Played:
        """Runs `n` trials with seeds `seed`, `seed + 1`, ... Raises RequestError and Interrupted."""

    def each(self, scenario: Scenario, n: int, seed: int, take: Callable[[Trial], T], report: Report) -> list[T]:
        """What `take` makes of each of these trials with its trace. Raises RequestError and Interrupted."""


@dataclass(frozen=True)
class ThisMachine:
    """Trials on threads of this process; those of the kernel's controllers in real time."""

    jobs: int = 0
    """Threads; 0 for all cores."""
    timing: Timing | None = None

    def play(self, scenario: Scenario | LiveScenario, n: int, seed: int, report: Report) -> Played:
        """Runs trials."""
        return play(scenario, n, seed, self.jobs, report, self.timing)

    def each(self, scenario: Scenario, n: int, seed: int, take: Callable[[Trial], T], report: Report) -> list[T]:
        """Runs trials with their traces. A trace is large: only those at work are in memory."""
        found = []
        is_watched = audit.is_on()  # threads do not inherit it

        def one(number: int) -> T:
            return take(scenario.run(seed + number, trace=True, audit=is_watched))

        with ThreadPoolExecutor(self.jobs or os.cpu_count()) as pool:
            try:
                for taken in pool.map(one, range(n)):
                    found.append(taken)
                    report(len(found))
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise Interrupted(None) from None
        return found


@dataclass
class CellTrials:
    """The trials of one cell, with seeds `seed`, `seed + 1`, ...: they run when their outcomes are asked for."""

    scenario: Scenario | LiveScenario
    n: int
    seed: int
    player: Player
    report: Report
    core_s: float = 0.0
    """Processor time of the trials that ran."""
    live: list[dict[str, Any]] = field(default_factory=list)
    """What the emulator has to say of each trial in real time."""
    _finished: int = 0

    def outcomes(self) -> Outcomes:
        """Runs all; their outcomes. Raises RequestError and Interrupted."""
        played = self.player.play(self.scenario, self.n, self.seed, self._report)
        self._ran(self.n, played.outcomes.core_s)
        self.live += played.reports
        return played.outcomes

    def each(self, take: Callable[[Trial], T], most: int | None = None) -> list[T]:
        """Runs all, or the first `most`, with their traces; what `take` makes of each. Raises as `outcomes`."""
        assert isinstance(self.scenario, Scenario)
        n = self.n if most is None else min(self.n, most)

        def one(trial: Trial) -> tuple[T, float]:
            return take(trial), trial.outcomes.core_s

        found = self.player.each(self.scenario, n, self.seed, one, self._report)
        self._ran(n, sum(core_s for _, core_s in found))
        return [taken for taken, _ in found]

    def _report(self, finished: int) -> None:
        self.report(self._finished + finished)

    def _ran(self, n: int, core_s: float) -> None:
        self._finished += n
        self.core_s += core_s
