"""An experiment: one scenario, the measurements of a trial, and the resulting quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from thalweg.engine.outcome import Outcomes, Trial
from thalweg.engine.scenario import Scenario
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.claims import Answer, within
from thalweg.judging.statistics.interval import CONFIDENCE, Interval, Values
from thalweg.judging.statistics.means import mean_interval


@dataclass(frozen=True)
class TrialRecord:
    """One finished trial."""

    outcomes: Outcomes
    index: int
    """The index of the trial in the outcomes."""
    trace: Trace | None


Numbers = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Experiment:
    """One scenario and its purpose: a cell of the study."""

    name: str
    """For files."""
    toml: str
    trials: int
    traced: bool
    """Whether the numbers need the trace of a trial; such trials run one by one."""
    numbers: Callable[[TrialRecord], Numbers]
    """The numbers of one trial."""
    quantities: Mapping[str, Quantity]
    """The quantity of each number, without its values."""

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
            found = [self.numbers(TrialRecord(outcomes, index, None)) for index in range(outcomes.n)]
        values = columns(found)
        return [replace(quantity, values=values[number]) for number, quantity in self.quantities.items()]

    def _numbers_of(self, trial: Trial) -> Numbers:
        """The numbers of a trial with its trace, as plain ones, which a store can keep."""
        numbers = self.numbers(TrialRecord(trial.outcomes, 0, trial.trace))
        return {name: float(value) for name, value in numbers.items()}


def around(expected: float, tolerance: float) -> tuple[float, float, float]:
    """A number and its bounds, a share of it away on either side.

    >>> around(2.0, 0.5)
    (2.0, 1.0, 3.0)
    """
    return expected, expected * (1 - tolerance), expected * (1 + tolerance)


def columns(trials: Iterable[Numbers]) -> dict[str, Values]:
    """The numbers of all trials, one array for each.

    >>> columns([{"a": 1.0}, {"a": 2.0}])["a"].tolist()
    [1.0, 2.0]
    """
    rows = list(trials)
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}


@dataclass(frozen=True)
class Quantity:
    """One number, measured once in each trial, and its value by a document."""

    law: str
    """Which law, in a few words; quantities of one law, controller and stack make one check."""
    source: str
    """Document and clause."""
    controller: str
    """Or the queue discipline."""
    stack: str
    """`model` or `quic`."""
    case: str
    """The condition: "0.10 %, 100 ms" (loss rate and RTT), "10 Mbps, 10 ms"."""
    expected: float
    """What the law says."""
    low: float
    high: float
    unit: str
    arithmetic: str
    """How expected and bounds come out of the document."""
    values: Values = field(default_factory=lambda: np.empty(0))
    """One for each trial."""
    always: bool = False
    """Whether the law holds in every trial, and not only for the mean: its interval is then all that was
    seen."""
    judged: bool = True
    """False where the law does not claim to hold; `reason` says why, and the number is shown."""
    reason: str = ""
    compared: bool = False
    """Whether the modelled endpoint and the real stack are to agree on it."""

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """The mean over the trials, or of a law about every trial the least and the largest."""
        if self.always:
            least, largest = float(self.values.min()), float(self.values.max())
            return Interval(float(self.values.mean()), least, largest, len(self.values))
        return mean_interval(self.values, confidence)

    def answer(self, confidence: float = CONFIDENCE) -> Answer:
        """Whether the number lies within the bounds, with all of its interval.

        >>> import numpy as np
        >>> one = Quantity("", "", "", "", "", 1.0, 0.9, 1.1, "", "", np.full(6, 1.05))
        >>> one.answer()
        'holds'
        """
        return within(self.interval(confidence), self.low, self.high)

    def row(self) -> Row:
        """Its row in the table of the study."""
        mean = self.interval()
        return {
            "law": self.law,
            "source": self.source,
            "controller": self.controller,
            "stack": self.stack,
            "case": self.case,
            "unit": self.unit,
            "n": mean.n,
            "expected": self.expected,
            "at_least": self.low,
            "at_most": self.high,
            "measured": mean.value,
            "measured_low": mean.low,
            "measured_high": mean.high,
            "arithmetic": self.arithmetic,
            "judged": int(self.judged),
            "reason": self.reason,
        }
