"""Several trials of one scenario in real time, one by one, with the outcomes of those in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from thalweg.engine.outcome import Outcomes, together
from thalweg.engine.scenario import Interrupted
from thalweg.realtime.trial import LiveScenario

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
    """The report of the emulator on each."""


def play(
    scenario: LiveScenario,
    n: int,
    seed: int,
    on_progress: Callable[[int], None] | None = None,
    timing: Timing | None = None,
) -> Played:
    """Runs `n` trials with seeds `seed`, `seed + 1`, ... Raises RequestError, and Interrupted after Ctrl-C."""
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
