"""What an agent is to do: the arguments that all environments share, checked, and the trials that follow.

The seed of an episode determines its scenario, if keys are drawn from ranges, and is the seed of its trial.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import between, plain, split
from thalweg.engine.catalogue import Entry, find_scenario
from thalweg.engine.scenario import Controllers, Scenario, Settings, pairs

FEATURES = dict(_native.gym_features())
"""What can be observed and rewarded, with its meaning."""
ACTIONS = {name: meaning for name, meaning, _ in _native.gym_actions()}
"""What can be decided, with its meaning."""

INTERVAL = "1 rtt"
OBSERVE = ("rtt_ratio", "loss_ratio", "mark_ratio", "window_ratio", "log_rate")
ACT = ("window_factor",)
REWARD: Mapping[str, float] = {"log_rate": 1.0, "log_rtt_ratio": -1.0, "loss_ratio": -10.0}
"""The logarithm of rate over RTT, which is Kleinrock's power, and a penalty for losses."""

Range: TypeAlias = "tuple[str | float, str | float] | list[Any]"
"""A range between two bounds, or a list to choose from."""
Reward: TypeAlias = Mapping[str, float]
"""Features and their weights: their sum is the reward."""

_WHOLE = ("", "B", "packets")
"""Units that have whole numbers only."""


@dataclass(frozen=True)
class Task:
    """Scenario, flows, and what agents see, decide and are rewarded for."""

    scenario: str | Path | Scenario
    flows: tuple[str, ...]
    """The flows that agents steer; all that have one connection if none is named."""
    interval: str | Mapping[str, str]
    observe: tuple[str, ...]
    act: tuple[str, ...]
    reward: Mapping[str, float]
    overrides: list[tuple[str, str]]
    controllers: Controllers
    vary: Mapping[str, Range]
    interface: _native.Interface = field(init=False)
    base: Scenario = field(init=False)
    """The scenario before anything is drawn."""
    _file: tuple[Entry, bytes] | None = field(init=False, default=None)
    """Its file, found and read once: to search the catalogue takes longer than to begin an episode."""

    def __post_init__(self) -> None:
        terms = _weights(self.reward)
        try:
            interface = _native.Interface(self.observe, self.act, terms)
        except ValueError as error:
            raise RequestError(str(error)) from None
        object.__setattr__(self, "interface", interface)
        if not isinstance(self.scenario, Scenario):
            entry = find_scenario(self.scenario)
            object.__setattr__(self, "_file", (entry, entry.read()))
        object.__setattr__(self, "base", self._read(()))
        names = [flow["name"] for flow in self.base.flows]
        for flow in self.flows:
            if flow not in names:
                raise RequestError(f"{self.base.name} has no flow {flow!r}{did_you_mean(flow, names)}")
        if len(set(self.flows)) < len(self.flows) or not self.flows:
            raise RequestError(f"flows = {self.flows!r}: accepted: one or more flows, each once")
        for key, given in self.vary.items():
            _check_range(key, given)
        # What cannot be steered, or drawn, is refused now and not in the first episode.
        for seed in (0, 1):
            self.episode(self.draw(seed)[0], seed)

    @property
    def steered(self) -> list[tuple[int, str]]:
        """Index in the scenario and interval of each steered flow."""
        names = [flow["name"] for flow in self.base.flows]
        return [(names.index(flow), self.interval_of(flow)) for flow in self.flows]

    def interval_of(self, flow: str) -> str:
        """How often a flow decides. Raises RequestError."""
        if isinstance(self.interval, str):
            return self.interval
        if flow not in self.interval:
            raise RequestError(f"interval has nothing for flow {flow!r}{did_you_mean(flow, self.interval)}")
        return self.interval[flow]

    def draw(self, seed: int) -> tuple[Scenario, dict[str, str]]:
        """The scenario of an episode, and the keys that were drawn for it. Raises RequestError."""
        if not self.vary:
            return self.base, {}
        source = random.Random(f"thalweg/{seed}")
        drawn = {key: _drawn(given, source) for key, given in self.vary.items()}
        return self._read([*drawn.items()]), drawn

    def episode(self, scenario: Scenario, seed: int) -> _native.Episode:
        """The trial of a scenario, before its first event. Raises RequestError."""
        try:
            return _native.Episode(scenario.native, seed, self.steered, self.interface)
        except ValueError as error:
            raise RequestError(f"{scenario.name}: {error}") from None

    def _read(self, drawn: Sequence[tuple[str, str]]) -> Scenario:
        settings = [*self.overrides, *drawn]
        if self._file is not None:
            entry, text = self._file
            return Scenario.from_toml(text, entry.name, settings, self.controllers, str(entry.file), entry.suite)
        assert isinstance(self.scenario, Scenario)
        if not settings and not self.controllers:
            return self.scenario
        name, suite = self.scenario.name, self.scenario.description.suite
        return Scenario.from_toml(self.scenario.toml, name, settings, self.controllers, suite=suite)


def task(
    scenario: str | Path | Scenario,
    flows: str | Sequence[str] | None,
    interval: str | Mapping[str, str],
    observe: str | Sequence[str],
    act: str | Sequence[str],
    reward: Reward,
    overrides: Settings,
    controllers: Controllers,
    vary: Mapping[str, Range] | None,
) -> Task:
    """The task that the arguments of an environment describe. Raises RequestError."""
    if not isinstance(scenario, (str, Path, Scenario)):
        raise RequestError(f"scenario = {scenario!r:.60}: accepted: a name, a path, or a thalweg.Scenario")
    given = pairs(overrides)
    if flows is None:
        first = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario, given, controllers)
        flows = first.flows[0]["name"]
    if vary is not None and not isinstance(vary, Mapping):
        raise RequestError(
            f'vary = {vary!r:.60}: accepted: ranges by key, such as {{"path.rate": ("5 Mbps", "50 Mbps")}}'
        )
    if not isinstance(interval, (str, Mapping)):
        raise RequestError(f'interval = {interval!r:.60}: accepted: "1 rtt" or a time such as "10 ms"')
    return Task(
        scenario=scenario,
        flows=words("flow", flows),
        interval=interval,
        observe=words("observe", observe),
        act=words("act", act),
        reward=reward,
        overrides=given,
        controllers=controllers,
        vary=vary or {},
    )


def words(argument: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several. Raises RequestError.

    >>> words("act", "window"), words("act", ["window", "pacing"])
    (('window',), ('window', 'pacing'))
    """
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names) or not names:
        raise RequestError(f"{argument} = {given!r:.60}: accepted: a name, or a list of names")
    return tuple(names)


def _weights(reward: object) -> list[tuple[str, float]]:
    if isinstance(reward, Mapping):
        try:
            weights = [(str(name), float(weight)) for name, weight in reward.items()]
        except (TypeError, ValueError):
            weights = [("", math.nan)]
        if all(math.isfinite(weight) for _, weight in weights):
            return weights
    raise RequestError(f'reward = {reward!r:.60}: accepted: weights of features, such as {{"log_rate": 1.0}}')


def _check_range(key: str, given: object) -> None:
    accepted = 'accepted: two bounds of one unit, ("5 Mbps", "50 Mbps"), or a list to choose from'
    if isinstance(given, tuple) and len(given) == 2:
        low, high = (split(str(bound)) for bound in given)
        if low and high and low[1] == high[1] and 0 <= float(low[0]) <= float(high[0]):
            return
    elif isinstance(given, list) and given:
        return
    raise RequestError(f"vary: {key} = {given!r:.80}; {accepted}")


def _drawn(given: Any, source: random.Random) -> str:
    """A text from a range: between two bounds by orders of magnitude, unless one is 0.

    >>> _drawn(("5 Mbps", "50 Mbps"), random.Random(1)), _drawn(("2 packets", "9 packets"), random.Random(1))
    ('6.813 Mbps', '2 packets')
    """
    if isinstance(given, list):
        return str(source.choice(given))
    (least, unit), (most, _) = filter(None, (split(str(bound)) for bound in given))
    low, high, share = float(least), float(most), source.random()
    value = between(low, high, share) if low > 0 else low + (high - low) * share
    is_whole = unit in _WHOLE and least.isdigit() and most.isdigit()
    number = f"{value:.0f}" if is_whole else plain(float(f"{value:.4g}"))
    return f"{number} {unit}".strip()
