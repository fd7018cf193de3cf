"""The protocol of executors: they play batches, and nothing else plays trials in virtual time by the number.

A batch is one trial of each of some scenarios for each of some seeds. Batches are taken from an iterator when
there is room for them, so that what makes them may learn from what came of those before: about a second of work
each (`trials/pace.py`). Outcomes are handed over as they come, on the thread of the caller; a trial that fails is
handed over as such, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from thalweg import _native

if TYPE_CHECKING:
    from thalweg.engine.outcome import Trial
    from thalweg.engine.scenario import Scenario

T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """One trial of each scenario for each seed."""

    scenarios: Sequence[Scenario]
    seeds: Sequence[int]
    label: Any = None
    """Whatever the caller knows it by."""

    @property
    def trials(self) -> int:
        """How many trials it is."""
        return len(self.scenarios) * len(self.seeds)


@dataclass(frozen=True)
class Finished:
    """Trials of one scenario of a batch: all that did not fail, or some of them, of which more may follow."""

    batch: Batch
    number: int
    """The number of the scenario in its batch."""
    outcomes: _native.Outcomes

    @property
    def seeds(self) -> list[int]:
        """The seeds of these trials."""
        seeds = self.outcomes.trials["seed"]
        assert not isinstance(seeds, tuple)
        return [int(seed) for seed in seeds]


@dataclass(frozen=True)
class Failed:
    """A trial without outcomes, which would fail again."""

    batch: Batch
    number: int
    """The number of the scenario in its batch."""
    seed: int
    error: Exception
    """A ControllerError, or a RuntimeError if the simulator has panicked or a process has ended each time."""


@dataclass(frozen=True)
class Measure(Generic[T]):
    """What is made of a trial with its trace, and what it is known by where it is stored."""

    take: Callable[[Trial], T]
    """Its value is what JSON has, lists and tables with texts and numbers, and comes back from a store as that."""
    identity: str
    """Other code, or other parameters, have another one."""

    def __call__(self, trial: Trial) -> T:
        """The value of a trial."""
        return self.take(trial)


Take = Callable[[Finished | Failed], None]
"""Gets what came of trials; what it raises ends the run."""
Report = Callable[[int], None]
"""Hears how many trials are finished since the run began, about ten times a second."""


def unheard(finished: int) -> None:
    """Ignores how many trials are finished."""


class Executor(Protocol):
    """Plays batches of trials."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""

    @property
    def lanes(self) -> int:
        """How many batches it plays at once: on threads one, which all play; on a cluster one for each thread."""

    @property
    def name(self) -> str:
        """What plays, for people: `2 threads`."""

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        """Plays batches; returns when all are finished.

        Raises KeyboardInterrupt after Ctrl-C, when what was finished has been handed over; AuditError; and
        RequestError if the executor itself is lost. Work that is lost with a worker is repeated, and only that.
        """

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """What `take` makes of each trial with its trace, where that was played: a trace is large.

        Raises KeyboardInterrupt, AuditError and ControllerError.
        """
