"""Several trials of one scenario in real time, one by one, with the outcomes of those in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from thalweg.engine.outcome import Outcomes, together
from thalweg.engine.scenario import Interrupted
from thalweg.realtime.report import Report, is_faithful, reasons
from thalweg.realtime.trial import LiveScenario, LiveTrial, Recording


def _unheard(line: str) -> None:
    pass


@dataclass(frozen=True)
class Timing:
    """Options of trials in real time."""

    realtime: bool = False
    """Whether to request real-time scheduling of the emulator."""
    bound: str | None = None
    """Bound on the p99.9 of release lateness; default `"1 ms"`."""
    retry: int = 0
    """How often a trial runs again that was not what its scenario describes."""
    heard: Callable[[str], None] = _unheard
    """Hears why a trial runs again."""


@dataclass(frozen=True)
class LiveTrials:
    """Trials of one scenario."""

    outcomes: Outcomes
    reports: list[Report] = field(default_factory=list)
    """The report of the emulator on each."""


def faithful(scenario: LiveScenario, seed: int, timing: Timing, recording: Recording | None = None) -> LiveTrial:
    """A trial that was what its scenario describes, or the last that was allowed.

    Raises RequestError, and KeyboardInterrupt after Ctrl-C.
    """
    for attempt in range(1, timing.retry + 2):
        done = scenario.run(seed, realtime=timing.realtime, bound=timing.bound, recording=recording)
        done.report["attempts"] = attempt
        if is_faithful(done.report):
            break
        if attempt <= timing.retry:
            why = "; ".join(reasons(done.report))
            timing.heard(f"{scenario.description.name}, seed {seed}, attempt {attempt}: {why}; once more")
    return done


def play(
    scenario: LiveScenario,
    n: int,
    seed: int,
    on_progress: Callable[[int], None] | None = None,
    timing: Timing | None = None,
) -> LiveTrials:
    """Runs `n` trials with seeds `seed`, `seed + 1`, ... Raises RequestError, and Interrupted after Ctrl-C."""
    asked = timing or Timing()
    done = []
    for number in range(n):
        try:
            done.append(faithful(scenario, seed + number, asked))
        except KeyboardInterrupt:
            raise Interrupted(together([played.trial.outcomes for played in done]) if done else None) from None
        if on_progress:
            on_progress(number + 1)
    return LiveTrials(together([played.trial.outcomes for played in done]), [played.report for played in done])
