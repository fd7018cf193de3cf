"""An experiment: how likely an event is in a trial of a scenario.

Several runs of subset simulation, independent of each other, go side by side: what all of them ask for next is
played in one batch. If the trials with which they begin have the event often enough, they are the answer: the rate
with its interval by Clopper and Pearson.
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.base.progress import Progress, silent
from thalweg.base.quantity import seconds
from thalweg.engine.scenario import Scenario
from thalweg.experiments.tails.estimate import lognormal_mean
from thalweg.experiments.tails.event import Event
from thalweg.experiments.tails.subset import SHARE, Repeat, Seeds, Values, simulate
from thalweg.experiments.tails.tape import BLOCK_S, KEY, tape_text
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.rates import rate_interval, rate_upper_bound

_TIME_LIMIT = "10 min"
_PILOT = 20
SEED = 1
"""The seed of all trials: their tapes have the seeds of all blocks."""
How: TypeAlias = Literal["counted", "subset simulation", "bounded"]


@dataclass(frozen=True)
class TailsResult:
    """How likely an event is, and the trial that is furthest towards it."""

    event: Event
    how: How
    """Counted among independent trials; the mean of runs of subset simulation; or a bound from above only."""
    probability: Interval
    """The value is 0 where there is only a bound."""
    to: float
    runs: list[Repeat]
    trials: int
    core_s: float
    wall_s: float
    scenario: str
    """With the tape of the trial furthest towards the event."""
    tape: str
    seed: int
    worst: float
    """What the metric has there."""
    trace_hash: str

    @property
    def means(self) -> str:
        """What the numbers rest on, in words."""
        if self.how == "counted":
            return f"counted among {self.probability.n} trials"
        if self.how == "subset simulation":
            return f"the mean of {len(self.runs)} runs of subset simulation"
        reached = sum(estimate > 0 for estimate in self.estimates)
        stuck = sum(run.stuck for run in self.runs)
        told = f"{reached} of {len(self.runs)} runs came as far"
        return f"{told}, and in {stuck} all trials had the same value at last" if stuck else told

    @property
    def estimates(self) -> list[float]:
        """What each run says."""
        return [run.probability(self.event.threshold) for run in self.runs]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        event = self.event
        curve = [
            {
                "run": number,
                "levels": [
                    {
                        "at": finite(event.towards(level.at)),
                        "probability": level.probability,
                        "steps": level.steps,
                        "taken": level.taken,
                    }
                    for level in run.levels
                ],
                "stuck": run.stuck,
                "estimate": run.probability(event.threshold),
            }
            for number, run in enumerate(self.runs, 1)
        ]
        bound = {"above" if event.is_above else "below": event.bound}
        return {
            "flow": event.flow,
            "stream": event.stream,
            "metric": event.measure.name,
            "unit": event.measure.unit,
            **bound,
            "to": self.to,
            "how": self.how,
            "probability": self.probability.value if self.how != "bounded" else None,
            "probability_interval95": self.probability.document(),
            "trials": self.trials,
            "core_s": self.core_s,
            "wall_s": self.wall_s,
            "worst": {
                "value": finite(self.worst),
                "seed": self.seed,
                "tape": self.tape,
                "trace_hash": self.trace_hash,
            },
            "runs": curve,
        }


@dataclass
class Tails:
    """How likely an event is in trials of a scenario."""

    text: str
    """The scenario, as it runs."""
    name: str
    event: Event
    to: float
    particles: int = 1000
    runs: int = 10
    seed: int = 1
    _core_s: float = field(default=0.0, init=False)
    _trials: int = field(default=0, init=False)
    _hashes: list[str] = field(default_factory=list, init=False)
    _ends_s: list[float] = field(default_factory=list, init=False)

    def run(self, executor: Executor, on_progress: Progress = silent) -> TailsResult:
        """Plays. Raises RequestError if the trials are all one trial, and ControllerError."""
        begin = time.perf_counter()
        blocks, active = self._look(executor)
        runs = [
            simulate(
                blocks,
                active,
                self.particles,
                self.event.threshold,
                self.to,
                np.random.default_rng([self.seed, run]),
            )
            for run in range(self.runs)
        ]
        finished: dict[int, Repeat] = {}
        asked = {number: next(run) for number, run in enumerate(runs)}
        while asked:
            values = self._values([tape for tapes in asked.values() for tape in tapes], executor)
            on_progress(f"{len(asked)} runs", self._trials, 0)
            first, following = 0, {}
            for number, tapes in asked.items():
                told = values[first : first + len(tapes)]
                first += len(tapes)
                try:
                    following[number] = runs[number].send(told)
                except StopIteration as end:
                    finished[number] = end.value
            asked = following
        found = [finished[number] for number in range(self.runs)]
        how, probability = judge(found, self.event.threshold)
        best = max(found, key=lambda run: run.best_value)
        assert best.best is not None
        [value] = self._values([best.best], executor)
        return TailsResult(
            event=self.event,
            how=how,
            probability=probability,
            to=self.to,
            runs=found,
            trials=self._trials,
            core_s=self._core_s,
            wall_s=time.perf_counter() - begin,
            scenario=self._with_tape(best.best).toml,
            tape=tape_text(best.best),
            seed=SEED,
            worst=self.event.towards(float(value)),
            trace_hash=self._hashes[0],
        )

    def _with_tape(self, tape: Seeds) -> Scenario:
        return Scenario.from_toml(self.text, self.name, {KEY: tape_text(tape)})

    def _look(self, executor: Executor) -> tuple[int, int]:
        """How many blocks a trial may have, and how many trials have. Raises RequestError."""
        limit_s = seconds(str(tomllib.loads(self.text).get("time_limit", _TIME_LIMIT)), "time_limit")
        blocks = math.ceil(limit_s / BLOCK_S) + 1
        self._values([np.full(blocks, seed, dtype=np.uint64) for seed in range(1, _PILOT + 1)], executor)
        if len(set(self._hashes)) == 1:
            raise RequestError(
                f"{self.name}: all trials are one trial, since nothing in it is random; accepted: a scenario "
                "with jitter, loss, noise or cross traffic that is drawn"
            )
        return blocks, min(blocks, math.ceil(max(self._ends_s) / BLOCK_S) + 1)

    def _values(self, tapes: Sequence[Seeds], executor: Executor) -> Values:
        """The values of trials with these tapes."""
        scenarios = [self._with_tape(tape) for tape in tapes]
        played: dict[int, _native.Outcomes] = {}

        def take(result: Finished | Failed) -> None:
            if isinstance(result, Failed):
                raise result.error
            played[result.number] = result.outcomes

        executor.play([Batch(scenarios, [SEED])], take)
        outcomes = [played[number] for number in range(len(tapes))]
        trials = [one.trials for one in outcomes]
        self._core_s += sum(float(np.asarray(one["core_s"])[0]) for one in trials)
        self._ends_s = [float(np.asarray(one["end_s"])[0]) for one in trials]
        self._hashes = [str(one["trace_hash"][0]) for one in trials]
        self._trials += len(tapes)
        return self.event.values(scenarios[0], outcomes)


def judge(runs: Sequence[Repeat], threshold: float) -> tuple[How, Interval]:
    """What independent runs say of the probability of values above a threshold."""
    first = np.concatenate([run.levels[0].values for run in runs])
    hits = int(np.count_nonzero(first > threshold))
    if hits >= SHARE * len(first):
        return "counted", rate_interval(hits, len(first))
    estimates = [run.probability(threshold) for run in runs]
    if all(estimate > 0 for estimate in estimates):
        return "subset simulation", lognormal_mean(estimates)
    return "bounded", Interval(0.0, 0.0, _bound(runs, threshold), len(runs))


def _bound(runs: Sequence[Repeat], threshold: float) -> float:
    """What the event is not more likely than: a level that all runs have passed, or the trials at the start."""
    first = np.concatenate([run.levels[0].values for run in runs])
    hits = int(np.count_nonzero(first > threshold))
    counted = rate_upper_bound(hits, len(first))
    passed = min(run.levels[-1].at for run in runs)
    if not math.isfinite(passed) or passed > threshold:
        return counted
    estimates = [run.probability(passed, at_it=True) for run in runs]
    return min(counted, lognormal_mean(estimates).high)
