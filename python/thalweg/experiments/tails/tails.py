"""An experiment: how likely an event is in a trial of a scenario.

Several runs of subset simulation, independent of each other, go side by side: what all of them ask for next is
played in one batch. If the trials with which they begin have the event often enough, they are the answer: the rate
with its interval by Clopper and Pearson.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.base.progress import Progress, silent
from thalweg.base.toml import read_toml
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.scenario import Scenario
from thalweg.experiments.tails.estimate import lognormal_mean
from thalweg.experiments.tails.event import Event
from thalweg.experiments.tails.subset import SHARE, Repeat, Seeds, Values, simulate
from thalweg.experiments.tails.tape import KEY, tape_text
from thalweg.judging.statistics.interval import CONFIDENCE, Interval, finite
from thalweg.judging.statistics.rates import rate_interval, rate_upper_bound
from thalweg.results.provenance import Provenance
from thalweg.trials.pace import Pace

_MOST_BYTES = 1 << 30
"""What the tapes of all runs may take."""
SEED = 1
"""The seed of all trials: their tapes have the seeds of all blocks."""
How: TypeAlias = Literal["counted", "subset simulation", "bounded"]


@dataclass
class TailsResult(Provenance):
    """How likely an event is, and the trial that is furthest towards it."""

    asked: Tails
    how: How
    """Counted among independent trials; the mean of runs of subset simulation; or a bound from above only."""
    probability: Interval
    """The value is 0 where there is only a bound."""
    runs: list[Repeat]
    scenario: str
    """With the tape of the trial furthest towards the event."""
    tape: str
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
        return [run.probability(self.asked.event.threshold) for run in self.runs]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        asked, event = self.asked, self.asked.event
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
                "estimate": estimate,
            }
            for number, (run, estimate) in enumerate(zip(self.runs, self.estimates, strict=True), 1)
        ]
        bound = {"above" if event.is_above else "below": event.bound}
        return {
            **self.head("tails", asked.name, asked.title, None, SEED, asked.played, asked.core_s),
            "controllers": asked.controllers,
            "flow": event.flow,
            "stream": event.stream,
            "metric": event.measure.name,
            "unit": event.measure.unit,
            **bound,
            "to": asked.to,
            "particles": asked.particles,
            "seed_set": asked.seed,
            "how": self.how,
            "probability": self.probability.value if self.how != "bounded" else None,
            "probability_interval95": self.probability.document(),
            "worst": {
                "value": finite(self.worst),
                "seed": SEED,
                "tape": self.tape,
                "trace_hash": self.trace_hash,
            },
            "runs": curve,
        }


@dataclass
class _Round:
    """Trials that are played together, and what came of them."""

    tapes: Sequence[Seeds]
    values: Values = field(init=False)
    ends_s: list[float] = field(init=False)
    hashes: list[str] = field(init=False)
    outcomes: dict[int, dict[int, _native.Outcomes]] = field(default_factory=dict, init=False)
    """What has come of batches that are not finished, by the first of their trials."""

    def __post_init__(self) -> None:
        """Nothing has come yet."""
        n = len(self.tapes)
        self.values, self.ends_s, self.hashes = np.empty(n), [0.0] * n, [""] * n


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
    played: int = field(default=0, init=False)
    """Trials."""
    core_s: float = field(default=0.0, init=False)
    _pace: Pace = field(default_factory=Pace, init=False)
    _resolver: Resolver = field(default_factory=Resolver, init=False)
    """Runs a file with a controller once, and not for each tape."""

    @property
    def controllers(self) -> dict[str, str]:
        """The controller of each flow."""
        return {str(flow["name"]): str(flow["controller"]) for flow in self._scenario.flows}

    @property
    def title(self) -> str:
        """The title of the scenario."""
        return self._scenario.title

    @cached_property
    def _scenario(self) -> Scenario:
        return Scenario.from_toml(self.text, self.name)

    def run(self, executor: Executor, on_progress: Progress = silent) -> TailsResult:
        """Plays. Raises RequestError if the trials are all one trial, and ControllerError."""
        begin = time.perf_counter()
        found = self._explore(executor, on_progress)
        how, probability = judge(found, self.event.threshold)
        best = max(found, key=lambda run: run.best_value)
        assert best.best is not None
        furthest = _Round([best.best])
        self._play(executor, iter([self._batches(furthest, executor)]))
        return TailsResult(
            asked=self,
            how=how,
            probability=probability,
            runs=found,
            wall_s=time.perf_counter() - begin,
            scenario=self._with_tape(best.best).toml,
            tape=tape_text(best.best),
            worst=self.event.towards(float(furthest.values[0])),
            trace_hash=furthest.hashes[0],
        )

    def _explore(self, executor: Executor, on_progress: Progress) -> list[Repeat]:
        """The runs, side by side."""
        blocks = self._blocks()
        draws = [np.random.default_rng([self.seed, run]) for run in range(self.runs)]
        runs = [simulate(blocks, self.particles, self.event.threshold, self.to, draw) for draw in draws]
        finished: dict[int, Repeat] = {}

        def rounds() -> Iterator[Iterator[Batch]]:
            asked = {number: next(run) for number, run in enumerate(runs)}
            is_first = True
            while asked:
                played = _Round([tape for tapes in asked.values() for tape in tapes])
                yield self._batches(played, executor)
                if is_first:
                    self._check_first(played)
                is_first = False
                on_progress(f"{len(asked)} runs", self.played, 0)
                first, following = 0, {}
                for number, tapes in asked.items():
                    own = slice(first, first + len(tapes))
                    first += len(tapes)
                    try:
                        longest = _blocks_until(max(played.ends_s[own]))
                        following[number] = runs[number].send((played.values[own], longest))
                    except StopIteration as end:
                        finished[number] = end.value
                asked = following

        self._play(executor, rounds())
        return [finished[number] for number in range(self.runs)]

    def _with_tape(self, tape: Seeds) -> Scenario:
        return Scenario.from_toml(self.text, self.name, {KEY: tape_text(tape)}, resolver=self._resolver)

    def _blocks(self) -> int:
        """How many blocks a trial may have. Raises RequestError if it has a tape, or for too many blocks."""
        if "tape" in read_toml(self.text, self.name).get("noise", {}):
            raise RequestError(f"{self.name}: {KEY}: tails draws tapes itself; accepted: a scenario without one")
        limit_s = Scenario.from_toml(self.text, self.name).description.time_limit_s
        blocks = _blocks_until(limit_s)
        most = _MOST_BYTES // (8 * blocks * self.runs)
        if self.particles > most:
            raise RequestError(
                f"--particles {self.particles}: {self.runs} runs of trials of up to {blocks} blocks take too much "
                f"memory; accepted: at most {most}, or a shorter time_limit"
            )
        return blocks

    def _check_first(self, played: _Round) -> None:
        """Refuses what has no answer. Raises RequestError."""
        if len(set(played.hashes)) == 1:
            raise RequestError(
                f"{self.name}: all trials are one trial, since nothing in it is random; accepted: a scenario "
                "with jitter, loss, noise or cross traffic that is drawn"
            )
        if self.event.measure.unit != "s" and np.isinf(played.values).all():
            raise RequestError(f"{self.name}: no trial has a value of {self.event.measure.name}")

    def _play(self, executor: Executor, rounds: Iterator[Iterator[Batch]]) -> None:
        """Plays rounds, each before the next is made."""
        if executor.lanes > 1:
            for batches in rounds:
                executor.play(batches, self._take)
        else:
            # In one call: processes, which controllers in Python have, stay until its end.
            executor.play(chain.from_iterable(rounds), self._take)

    def _batches(self, played: _Round, executor: Executor) -> Iterator[Batch]:
        for numbers, seeds in self._pace.pieces(executor, len(played.tapes), [SEED]):
            scenarios = [self._with_tape(played.tapes[number]) for number in numbers]
            yield Batch(scenarios, seeds, label=(played, numbers))
        self.played += len(played.tapes)

    def _take(self, result: Finished | Failed) -> None:
        if isinstance(result, Failed):
            raise result.error
        played, numbers = result.batch.label
        self.core_s += self._pace.add(result.outcomes)
        trials, number = result.outcomes.trials, numbers[result.number]
        played.ends_s[number] = float(np.asarray(trials["end_s"])[0])
        played.hashes[number] = str(trials["trace_hash"][0])
        own = played.outcomes.setdefault(numbers.start, {})
        own[number] = result.outcomes
        if len(own) == len(numbers):
            # Some at once: a table of one trial costs as much as one of many.
            in_order = [own[one] for one in numbers]
            played.values[list(numbers)] = self.event.values(result.batch.scenarios[0], in_order)
            del played.outcomes[numbers.start]


def _blocks_until(end_s: float) -> int:
    """How many blocks a trial has that ends then: one may begin with its end."""
    return math.ceil(end_s / _native.TAPE_BLOCK_S) + 1


def judge(runs: Sequence[Repeat], threshold: float) -> tuple[How, Interval]:
    """What independent runs say about the probability of values above a threshold."""
    first = np.concatenate([run.levels[0].values for run in runs])
    hits = int(np.count_nonzero(first > threshold))
    if hits >= SHARE * len(first) or (hits and all(len(run.levels) == 1 for run in runs)):
        return "counted", rate_interval(hits, len(first))
    if all(run.probability(threshold) > 0 for run in runs):
        return "subset simulation", _mean(runs, threshold)
    return "bounded", Interval(0.0, 0.0, _bound(runs, threshold), len(runs))


def _bound(runs: Sequence[Repeat], threshold: float) -> float:
    """What the event is not more likely than: a level that all runs have passed, or the trials at the start."""
    first = np.concatenate([run.levels[0].values for run in runs])
    hits = int(np.count_nonzero(first > threshold))
    passed = min(run.levels[-1].at for run in runs)
    if not math.isfinite(passed) or passed > threshold:
        return rate_upper_bound(hits, len(first))
    # Half of the error for each of both.
    counted = rate_upper_bound(hits, len(first), (1 + CONFIDENCE) / 2)
    return min(counted, _mean(runs, passed, at_it=True).high)


def _mean(runs: Sequence[Repeat], threshold: float, at_it: bool = False) -> Interval:
    """The mean of what the runs say, all above zero."""
    least = float(np.mean([run.least_variance(threshold, at_it) for run in runs]))
    return lognormal_mean([run.probability(threshold, at_it) for run in runs], least)
