"""One flow of one trial as an environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Controllers, Scenario, Settings
from thalweg.gym.episode import checked_seed, end_of, stepping
from thalweg.gym.task import ACT, FEATURES, INTERVAL, OBSERVE, REWARD, Range, Reward, task

Numbers = npt.NDArray[np.float32]


class Congestion(gymnasium.Env[Numbers, Numbers]):
    """An agent decides window or pacing of one flow at each interval; an episode is a trial.

    The episode terminates when the trial ends, and is truncated at the time limit of its scenario.
    `reset(seed=)` is the seed of the trial; without one, the next is drawn. The `info` of the last step has the
    `trace_hash` of the trial, and `outcomes` its numbers.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as its base class has it

    def __init__(
        self,
        scenario: str | Path | Scenario = "c4/simple-20mbps",
        flow: str | None = None,
        interval: str = INTERVAL,
        observe: str | Sequence[str] = OBSERVE,
        act: str | Sequence[str] = ACT,
        reward: Reward | Callable[[Mapping[str, float]], float] = REWARD,
        overrides: Settings = (),
        controllers: Controllers = (),
        vary: Mapping[str, Range] | None = None,
        render_mode: None = None,
    ) -> None:
        """The flow, the first one by default, decides every `interval` ("1 rtt", or a time).

        `observe`, `act` and the weights of `reward` are names of `thalweg.gym.FEATURES` and actions; a function
        as `reward` gets all features by name. `vary` redraws keys of the scenario for each episode. Raises
        RequestError.
        """
        self._judge = reward if callable(reward) else None
        weights = {} if callable(reward) else reward
        self.task = task(scenario, flow_name(flow), interval, observe, act, weights, overrides, controllers, vary)
        self.observation_space: gymnasium.spaces.Box[Any]
        self.action_space: gymnasium.spaces.Box[Any]
        self.observation_space, self.action_space = spaces(self.task.interface)
        self.scenario: Scenario = self.task.base
        """The scenario of the present episode."""
        self._episode: _native.Episode | None = None
        self._seed = 0
        self._ended: tuple[Scenario, _native.Outcomes] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins an episode: the trial up to the first decision. Raises RequestError."""
        del options
        if seed is not None:
            seed = checked_seed(seed)
        super().reset(seed=seed)
        self._seed = int(self.np_random.integers(2**63)) if seed is None else seed
        self.scenario, drawn = self.task.draw(self._seed)
        self._episode = self.task.episode(self.scenario, self._seed)
        with stepping(self.scenario):
            if self._episode.begin() < 0:
                raise RequestError(f"{self.scenario.name}: the trial ends before the flow decides anything")
        return self._episode.observation(0), {"seed": self._seed, "drawn": drawn}

    def step(self, action: Numbers) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Takes an action, and goes on until the next decision or the end. Raises RequestError."""
        episode = self._episode
        if episode is None:
            raise RequestError("there is no episode; step() requires reset() first")
        try:
            observation, reward, ended = episode.step_alone(action)
        except (ValueError, TypeError, _native.ControllerFailed) as error:
            with stepping(self.scenario):
                raise error from None
        if self._judge is not None:
            reward = float(self._judge(dict(zip(FEATURES, episode.features(0), strict=True))))
        if not ended:
            return observation, reward, False, False, {}
        terminated = episode.is_closed(0)
        self._episode, self._ended = None, (self.scenario, episode.outcomes())
        info = end_of(self._ended[1], self._seed)
        return observation, reward, terminated, not terminated, info

    @property
    def outcomes(self) -> Outcomes:
        """The outcomes of the last trial that has ended, as `Scenario.run` has them. Raises RequestError."""
        if self._ended is None:
            raise RequestError("outcomes require an episode that has ended")
        scenario, native = self._ended
        return Outcomes.of(native, scenario.description)


def flow_name(flow: str | None) -> str | None:
    """The name of a flow, or none. Raises RequestError."""
    if flow is not None and not isinstance(flow, str):
        raise RequestError(
            f"flow = {flow!r:.60}: accepted: the name of one flow; several are for CongestionAgents"
        )
    return flow


def spaces(interface: _native.Interface) -> tuple[gymnasium.spaces.Box[Any], gymnasium.spaces.Box[Any]]:
    """What is observed, and what can be done."""
    observed, acted = (
        gymnasium.spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
        for low, high in (interface.observed(), interface.acted())
    )
    return observed, acted
