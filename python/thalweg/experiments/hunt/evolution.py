"""A sampler that changes what did best, and lets things coincide.

It is an evolution like CC-Fuzz's (Ray and Seshan, "CC-Fuzz: Genetic Algorithm-Based Fuzzing for Stress Testing
Congestion Control Algorithms", HotNets 2022), which keeps variety as MAP-Elites does (Mouret and Clune,
"Illuminating Search Spaces by Mapping Elites", 2015).

Scenarios in which something else happened are in different niches (`judge.py`): how many packets were lost, how
far the RTT rose. The best of each niche is kept. Some of the new scenarios are one of these, or a mixture of two,
of which a few values change, by a little or altogether; in others, two moments of a scenario that was played are
made to meet (`meetings.py`); the rest is drawn independently. In half of what is changed or drawn, the elements
happen at about the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from thalweg.experiments.hunt.meetings import ELEMENT, Meetings
from thalweg.experiments.hunt.moments import TIMES
from thalweg.experiments.hunt.search import BEHAVIOUR, Behaviour, Clock

_AT_FIRST = 24
"""Independent draws before anything is changed."""
_FRESH = 0.35
"""Share of independent draws later: what meets has to be there first."""
_MEETING = 0.5
"""Share of those in which moments of another one meet."""
_MIXED = 0.3
"""Share of those with two parents."""
_TOGETHER = 0.5
"""Share of the others in which elements are made to meet at one moment."""
_BY_VALUE = 0.35
"""Share of parents that are taken for their value; others come from any niche."""
_BEST = 12
"""Parents that are taken for their value."""
_CHANGES = 2.0
"""Values that change, on average."""
_NEAR = (0.0, 0.005, 0.02)
"""Standard deviations of the times of elements that meet, in shares of their range."""
_LITTLE = (0.01, 0.05, 0.2)
"""Standard deviations of a little change, in shares of a range."""
Parameters = dict[str, Any]


@dataclass(frozen=True)
class _Elite:
    value: float
    number: int
    parameters: Parameters


class Evolution(BaseSampler):
    """One that is seeded; it knows of scenarios that were told."""

    def __init__(self, seed: int, clock: Clock) -> None:
        self._random = np.random.default_rng(seed)
        self._meetings = Meetings(clock, self._random)
        self._elites: dict[Any, _Elite] = {}
        self._count = 0
        self._children: dict[int, Parameters] = {}
        self._moments: dict[int, float] = {}

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """None: each parameter is decided on when it is asked for."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Nothing."""
        return {}

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Makes the parameters of a scenario, as far as its parents have them."""
        early = self._count < _AT_FIRST or not self._elites
        way = self._random.random()
        met = self._meetings.make() if not early and way > 1 - _MEETING else None
        child = {} if early or way < _FRESH else self._child()
        if met is not None:
            child = dict(met)
        elif not early and self._random.random() < _TOGETHER:
            times = [name for name in child if _is_time(name)]
            moment = child[times[int(self._random.integers(len(times)))]] if times else self._random.random()
            child |= {name: self._near(moment) for name in times}
            self._moments[trial.number] = float(moment)
        self._children[trial.number] = child

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """What was made for a parameter, or a draw."""
        child = self._children[trial.number]
        if param_name in child:
            return _within(child[param_name], param_distribution)
        moment = self._moments.get(trial.number)
        if moment is not None and _is_time(param_name):
            return self._near(moment)
        return self._draw(param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Keeps what is the best of its niche."""
        self._children.pop(trial.number, None)
        self._moments.pop(trial.number, None)
        self._count += 1
        if state is not TrialState.COMPLETE or not values:
            return
        seen: Behaviour = trial.user_attrs[BEHAVIOUR]
        ranges = trial.distributions
        most = {name: one.high for name, one in ranges.items() if isinstance(one, IntDistribution)}
        self._meetings.add(trial.params, most, seen.moments)
        known = self._elites.get(seen.niche)
        if known is None or values[0] > known.value:
            self._elites[seen.niche] = _Elite(values[0], trial.number, dict(trial.params))

    def _draw(self, distribution: BaseDistribution) -> Any:
        match distribution:
            case FloatDistribution():
                return float(self._random.uniform(distribution.low, distribution.high))
            case IntDistribution():
                return int(self._random.integers(distribution.low, distribution.high + 1))
            case CategoricalDistribution():
                return distribution.choices[int(self._random.integers(len(distribution.choices)))]
        raise TypeError(distribution)

    def _parent(self) -> Parameters:
        ranked = sorted(self._elites.values(), key=lambda elite: (-elite.value, elite.number))
        most = min(_BEST, len(ranked)) if self._random.random() < _BY_VALUE else len(ranked)
        return ranked[int(self._random.integers(most))].parameters

    def _child(self) -> Parameters:
        child = dict(self._parent())
        if self._random.random() < _MIXED:
            child = self._mixed(child, self._parent())
        names = list(child)
        if not names:
            return {}  # nothing varies
        for _ in range(1 + self._random.poisson(_CHANGES - 1)):
            name = names[int(self._random.integers(len(names)))]
            child[name] = self._changed(name, child)
        return {name: value for name, value in child.items() if value is not None}

    def _mixed(self, first: Parameters, second: Parameters) -> Parameters:
        """Each axis of one of both, and each element as a whole."""
        taken: dict[str, bool] = {}
        mixed = dict(first)
        for name, value in second.items():
            element = ELEMENT.fullmatch(name)
            group = f"{element['list']}.{element['number']}" if element else name
            if taken.setdefault(group, bool(self._random.random() < 0.5)):
                mixed[name] = value
        return mixed

    def _changed(self, name: str, child: Mapping[str, Any]) -> Any:
        """Another value; None for an independent draw."""
        value, way = child[name], self._random.random()
        if not isinstance(value, float) or way < 0.3:
            return None
        return float(np.clip(value + self._random.normal(0, self._random.choice(_LITTLE)), 0, 1))

    def _near(self, moment: float) -> float:
        """A time close to a moment, or at it, as shares of a range."""
        return float(np.clip(moment + self._random.normal(0, self._random.choice(_NEAR)), 0, 1))


def _is_time(name: str) -> bool:
    """Whether a parameter says when an element happens."""
    element = ELEMENT.fullmatch(name)
    return element is not None and element["key"] in TIMES


def _within(value: Any, distribution: BaseDistribution) -> Any:
    """A value as a distribution has it."""
    if isinstance(distribution, IntDistribution):
        return int(min(max(value, distribution.low), distribution.high))
    return value
