"""Several trials of one scenario, in virtual or in real time, with the same outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from thalweg.live.trial import LiveScenario
from thalweg.outcome import TABLES, Outcomes
from thalweg.scenario import Interrupted, Scenario

Report = dict[str, Any]


@dataclass(frozen=True)
class Timing:
    """Options of trials in real time."""

    realtime: bool = False
    """Whether to request real-time scheduling of the emulator."""
    bound: str | None = None
    """Bound on the p99.9 of release lateness; default `"1 ms"`."""


@dataclass(frozen=True)
class Played:
    """Trials of one scenario."""

    outcomes: Outcomes
    reports: list[Report] = field(default_factory=list)
    """The report of the emulator on each; empty in virtual time."""


def play(
    scenario: Scenario | LiveScenario,
    n: int,
    seed: int,
    jobs: int,
    on_progress: Callable[[int], None] | None = None,
    timing: Timing | None = None,
) -> Played:
    """Runs `n` trials with seeds `seed`, `seed + 1`, ...: on `jobs` threads, or one by one in real time.

    Raises RequestError, and Interrupted after Ctrl-C.
    """
    if isinstance(scenario, Scenario):
        return Played(scenario.trials(n, seed, jobs, on_progress))
    asked = timing or Timing()
    done = []
    for number in range(n):
        try:
            done.append(scenario.run(seed + number, False, asked.realtime, asked.bound))
        except KeyboardInterrupt:
            raise Interrupted(together([played.trial.outcomes for played in done]) if done else None) from None
        if on_progress:
            on_progress(number + 1)
    return Played(together([played.trial.outcomes for played in done]), [played.report for played in done])


def together(trials: Sequence[Outcomes]) -> Outcomes:
    """The merged outcomes of trials that ran one by one."""
    tables = {
        name: pl.concat(
            [
                table.with_columns(trial=pl.lit(number, pl.Int64)) if table.width else table
                for number, outcomes in enumerate(trials)
                if (table := getattr(outcomes, name)) is not None
            ],
            how="vertical_relaxed",
        )
        for name in TABLES
    }
    return Outcomes(trials[0].scenario, **tables, handle=_SeriesOfMany(trials))


@dataclass(frozen=True)
class _SeriesOfMany:
    """The series of trials that each have their own."""

    trials: Sequence[Outcomes]

    def series(self, trial: int, flow: int) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None:
        handle = self.trials[trial].handle if trial < len(self.trials) else None
        return handle.series(0, flow) if handle else None

    def capacity(self, trial: int, link: int) -> npt.NDArray[np.uint64] | None:
        handle = self.trials[trial].handle if trial < len(self.trials) else None
        return handle.capacity(0, link) if handle else None
