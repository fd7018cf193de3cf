"""An experiment: one scenario, the measurements of a trial, and the resulting quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.engine.outcome import Outcomes, Trial
from thalweg.engine.scenario import Scenario
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.laws.quantity import Quantity
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values


@dataclass(frozen=True)
class Played:
    """One finished trial."""

    outcomes: Outcomes
    index: int
    """Of the trial in the outcomes."""
    trace: Trace | None


Numbers = Mapping[str, float]
Measured = Mapping[str, Values]


@dataclass(frozen=True, eq=False)
class Experiment:
    """One scenario and its purpose: a cell of the study."""

    name: str
    """For files."""
    toml: str
    trials: int
    traced: bool
    """Whether the numbers need the trace of a trial; such trials run one by one."""
    numbers: Callable[[Played], Numbers]
    """Of one trial."""
    quantities: Callable[[Measured], Sequence[Quantity]]
    """Of all trials: each number is an array with one value for each."""

    @property
    def title(self) -> str:
        """Its title is its name."""
        return self.name

    def scenario(self) -> Scenario:
        """Its scenario. Raises RequestError."""
        return Scenario.from_toml(self.toml, self.name)

    def measure(self, trials: CellTrials) -> list[Quantity]:
        """Runs all trials; returns the quantities. Raises RequestError and Interrupted."""
        if self.traced:
            found = trials.each(self._numbers_of, self.name)
        else:
            outcomes = trials.outcomes()
            found = [self.numbers(Played(outcomes, index, None)) for index in range(outcomes.n)]
        return list(self.quantities(columns(found)))

    def _numbers_of(self, trial: Trial) -> Numbers:
        """Of a trial with its trace, as plain numbers, which a store can keep."""
        numbers = self.numbers(Played(trial.outcomes, 0, trial.trace))
        return {name: float(value) for name, value in numbers.items()}


def columns(trials: Iterable[Numbers]) -> dict[str, Values]:
    """The numbers of all trials, one array for each.

    >>> columns([{"a": 1.0}, {"a": 2.0}])["a"].tolist()
    [1.0, 2.0]
    """
    rows = list(trials)
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}
