"""The executor of real time: the one loop that plays trials on the clock, one at a time.

**Rounds.** A round plays each contestant of a point once, under one seed: the path draws the same for all. The
order of the contestants alternates, so that a machine that becomes slower favours none.

**What counts.** A trial that was not what its scenario describes plays again, at most `Timing.retry` times. Where
the last attempt was not either, the round ends, and does not count as a comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

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


class Contestant(Protocol):
    """What plays trials: a scenario, or one that prepares each attempt and keeps its files."""

    @property
    def name(self) -> str:
        """What lines about its trials begin with."""

    def run(
        self, seed: int, *, realtime: bool = False, bound: str | None = None, recording: Recording | None = None
    ) -> LiveTrial:
        """One attempt. Raises RequestError, and KeyboardInterrupt after Ctrl-C."""


class Point(Protocol):
    """Contestants under the same conditions."""

    @property
    def contestants(self) -> Sequence[Contestant]:
        """What each round plays."""


P = TypeVar("P", bound=Point)


@dataclass(frozen=True)
class Round(Generic[P]):
    """What was played under one seed."""

    point: P
    number: int
    """How many rounds were before it, including rounds of points that were decided."""
    seed: int
    trials: Mapping[int, LiveTrial]
    """By the place of the contestant; after a trial that was not what its scenario describes there is none."""

    @property
    def counts(self) -> bool:
        """Whether each contestant has a trial that was what its scenario describes."""
        played = self.trials.values()
        return len(played) == len(self.point.contestants) and all(is_faithful(trial.report) for trial in played)


def rounds(
    points: Sequence[P],
    n: int,
    seed: int,
    timing: Timing,
    is_open: Callable[[P, int], bool] = lambda *_: True,
    last: Recording | None = None,
) -> Iterator[Round[P]]:
    """Plays `n` rounds of each point, with seeds `seed`, `seed + 1`, ...; `last` says what the last one keeps.

    `is_open` hears a point and how many rounds of it are left: false leaves them out. Raises RequestError, and
    KeyboardInterrupt after Ctrl-C.
    """
    for number in range(n):
        recording = last if number == n - 1 else None
        for point in points:
            if is_open(point, n - number):
                yield Round(point, number, seed + number, _trials(point, number, seed + number, timing, recording))


def _trials(
    point: Point, number: int, seed: int, timing: Timing, recording: Recording | None
) -> dict[int, LiveTrial]:
    places = range(len(point.contestants))
    trials: dict[int, LiveTrial] = {}
    for place in places if number % 2 == 0 else reversed(places):
        trials[place] = faithful(point.contestants[place], seed, timing, recording)
        if not is_faithful(trials[place].report):
            break
    return trials


def faithful(contestant: Contestant, seed: int, timing: Timing, recording: Recording | None = None) -> LiveTrial:
    """A trial that was what its scenario describes, or the last that was allowed.

    Raises RequestError, and KeyboardInterrupt after Ctrl-C.
    """
    for attempt in range(1, timing.retry + 2):
        done = contestant.run(seed, realtime=timing.realtime, bound=timing.bound, recording=recording)
        done.report["attempts"] = attempt
        if is_faithful(done.report):
            break
        if attempt <= timing.retry:
            why = "; ".join(reasons(done.report))
            timing.heard(f"{contestant.name}, seed {seed}, attempt {attempt}: {why}; once more")
    return done


@dataclass(frozen=True)
class Alone:
    """A point with one scenario."""

    scenario: LiveScenario

    @property
    def contestants(self) -> Sequence[Contestant]:
        """That scenario."""
        return [self.scenario]


@dataclass(frozen=True)
class LiveTrials:
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
) -> LiveTrials:
    """Runs `n` trials with seeds `seed`, `seed + 1`, ... Raises RequestError, and Interrupted after Ctrl-C."""
    done: list[LiveTrial] = []
    try:
        for played in rounds([Alone(scenario)], n, seed, timing or Timing()):
            done += played.trials.values()
            if on_progress:
                on_progress(len(done))
    except KeyboardInterrupt:
        raise Interrupted(together([one.trial.outcomes for one in done]) if done else None) from None
    return LiveTrials(together([one.trial.outcomes for one in done]), [one.report for one in done])
