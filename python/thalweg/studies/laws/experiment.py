"""An experiment: one scenario, what one of its trials measures, and the quantities that come of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from thalweg.outcome import Outcomes
from thalweg.scenario import Interrupted, Scenario
from thalweg.statistics.interval import Values
from thalweg.studies.laws.quantity import Quantity
from thalweg.trace import Trace


@dataclass(frozen=True)
class Played:
    """One trial that was played."""

    outcomes: Outcomes
    index: int
    """Of the trial in the outcomes."""
    trace: Trace | None


Numbers = Mapping[str, float]
Measured = Mapping[str, Values]


@dataclass(frozen=True)
class Experiment:
    """One scenario and what it is played for."""

    name: str
    """For files and for progress."""
    toml: str
    trials: int
    traced: bool
    """Whether the numbers need the trace of a trial; such trials run one by one."""
    numbers: Callable[[Played], Numbers]
    """Of one trial."""
    quantities: Callable[[Measured], Sequence[Quantity]]
    """Of all trials: each number is an array with one value for each."""
    packets: float = 0.0
    """About as many packets as all its trials send, for the order of costs; 0 if few."""
    tags: Mapping[str, str] = field(default_factory=dict)

    def scenario(self) -> Scenario:
        """Its scenario. Raises RequestError."""
        return Scenario.from_toml(self.toml, self.name)

    def play(
        self, seed: int, jobs: int, on_progress: Callable[[int], None] | None = None
    ) -> tuple[list[Quantity], float]:
        """Plays all trials; the quantities, and the processor time in seconds. Raises Interrupted."""
        scenario = self.scenario()
        if not self.traced:
            outcomes = scenario.trials(self.trials, seed, jobs, on_progress)
            found = [self.numbers(Played(outcomes, index, None)) for index in range(outcomes.n)]
            return list(self.quantities(columns(found))), outcomes.core_s
        found, core_s = [], 0.0

        def one(number: int) -> tuple[Numbers, float]:
            trial = scenario.run(seed + number, trace=True)
            return self.numbers(Played(trial.outcomes, 0, trial.trace)), trial.outcomes.core_s

        # A trace is large: only those at work are in memory.
        with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            try:
                for number, (numbers, spent_s) in enumerate(pool.map(one, range(self.trials))):
                    found.append(numbers)
                    core_s += spent_s
                    if on_progress:
                        on_progress(number + 1)
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise Interrupted(None) from None
        return list(self.quantities(columns(found))), core_s


def columns(trials: Iterable[Numbers]) -> dict[str, Values]:
    """The numbers of all trials, one array for each.

    >>> columns([{"a": 1.0}, {"a": 2.0}])["a"].tolist()
    [1.0, 2.0]
    """
    rows = list(trials)
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}
