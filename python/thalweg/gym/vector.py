"""Many trials at once as a vector environment of Gymnasium, stepped on threads without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.engine.scenario import Controllers, Scenario, Settings
from thalweg.gym.environment import flow_name, spaces
from thalweg.gym.episode import checked_seed, end_of, stepping
from thalweg.gym.task import ACT, INTERVAL, OBSERVE, REWARD, Range, Reward, task

Numbers = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


class VectorCongestion(VectorEnv[Numbers, Numbers, npt.NDArray[Any]]):
    """`num_envs` environments of one task, each with trials of its own, on `jobs` threads (0: all cores).

    `reset(seed=s)` gives environment `i` the seed `s + i`. A trial that has ended is followed by another one at
    the next step, whose action for it is ignored (`AutoresetMode.NEXT_STEP`). Limits: rewards are weights of
    features, as a function would need the interpreter; trials with controllers in Python are stepped one after
    the other.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as its base class has it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        scenario: str | Path | Scenario = "c4/simple-20mbps",
        flow: str | None = None,
        interval: str = INTERVAL,
        observe: str | Sequence[str] = OBSERVE,
        act: str | Sequence[str] = ACT,
        reward: Reward = REWARD,
        overrides: Settings = (),
        controllers: Controllers = (),
        vary: Mapping[str, Range] | None = None,
        jobs: int = 0,
    ) -> None:
        """It takes the arguments of `Congestion`. Raises RequestError."""
        for name, number, least, most in (("num_envs", num_envs, 1, 100_000), ("jobs", jobs, 0, 1000)):
            if not isinstance(number, int) or not least <= number <= most:
                raise RequestError(f"{name} = {number!r}: accepted: a whole number from {least} to {most}")
        if callable(reward):
            raise RequestError('reward: a function needs the interpreter; accepted: weights, {"log_rate": 1.0}')
        self.task = task(scenario, flow_name(flow), interval, observe, act, reward, overrides, controllers, vary)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces(self.task.interface)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._pool = _native.Pool(min(jobs or os.cpu_count() or 1, num_envs))
        self._sources: list[np.random.Generator] = []
        self._scenarios: list[Scenario] = []
        self._episodes: list[_native.Episode] = []
        self._seeds: list[int] = []
        self._ended = np.zeros(num_envs, np.bool_)
        self._begins = np.zeros(num_envs, np.bool_)
        """Whether the next step is the first of its trial."""

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins an episode everywhere. Raises RequestError."""
        del options
        seeds = self._seeds_of(seed)
        if not self._sources or any(given is not None for given in seeds):
            self._sources = [gymnasium.utils.seeding.np_random(given)[0] for given in seeds]
        self._seeds = [self._next(i) if given is None else given for i, given in enumerate(seeds)]
        begun = [self._begin(i) for i in range(self.num_envs)]
        self._scenarios, self._episodes = [scenario for scenario, _ in begun], [episode for _, episode in begun]
        self._ended[:] = self._begins[:] = False
        with stepping(self.task.base):
            observations, _, ended = self._pool.step(self._episodes, self._nothing())
        self._refuse_silent(ended)
        infos: dict[str, Any] = {}
        for i, trial_seed in enumerate(self._seeds):
            infos = self._add_info(infos, {"seed": trial_seed}, i)
        return observations, infos

    def step(self, actions: Numbers) -> tuple[Numbers, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """One step everywhere. Raises RequestError; a refused action leaves all trials where they are."""
        if not self._episodes:
            raise RequestError("there are no episodes; step() requires reset() first")
        for i in np.flatnonzero(self._ended).tolist():
            self._seeds[i] = self._next(i)
            self._scenarios[i], self._episodes[i] = self._begin(i)
            self._ended[i], self._begins[i] = False, True
        with stepping(self.task.base):
            given = np.asarray(actions, np.float32).reshape(self.num_envs, -1)
            observations, rewards, ended = self._pool.step(self._episodes, given)
        self._refuse_silent(ended & self._begins)
        rewards[self._begins] = 0.0
        self._begins[:] = False
        terminated = np.zeros(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(ended).tolist():
            terminated[i] = self._episodes[i].is_closed(0)
            infos = self._add_info(infos, end_of(self._episodes[i].outcomes(), self._seeds[i]), i)
        self._ended = ended
        return observations, rewards, terminated, ended & ~terminated, infos

    def _seeds_of(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, Sequence):
            if len(seed) != self.num_envs:
                raise RequestError(f"seed has {len(seed)} seeds; accepted: one for each of {self.num_envs}")
            return [None if given is None else checked_seed(given) for given in seed]
        return [checked_seed(checked_seed(seed) + i) for i in range(self.num_envs)]

    def _next(self, i: int) -> int:
        return int(self._sources[i].integers(2**63))

    def _begin(self, i: int) -> tuple[Scenario, _native.Episode]:
        scenario, _ = self.task.draw(self._seeds[i])
        return scenario, self.task.episode(scenario, self._seeds[i])

    def _nothing(self) -> Numbers:
        return np.zeros((self.num_envs, len(self.task.act)), np.float32)

    def _refuse_silent(self, ended: Flags) -> None:
        for i in np.flatnonzero(ended).tolist():
            raise RequestError(f"{self._scenarios[i].name}: the trial ends before the flow decides anything")
