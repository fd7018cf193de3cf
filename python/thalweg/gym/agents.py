"""Several flows of one trial, each an agent, in the AEC form of PettingZoo: each decides at its own times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv

from thalweg.base.errors import RequestError
from thalweg.engine.scenario import Controllers, Scenario, Settings
from thalweg.gym.environment import spaces
from thalweg.gym.episode import checked_seed, end_of, stepping
from thalweg.gym.task import ACT, INTERVAL, OBSERVE, REWARD, Range, Reward, task

Numbers = npt.NDArray[np.float32]


class CongestionAgents(AECEnv):  # type: ignore[misc] # PettingZoo says no types
    """Each of `flows` is an agent of its name; `agent_selection` is the one that has to decide.

    A flow terminates when its connection closes, and is truncated if the trial ends at its time limit before.
    The reward of a flow covers the time since its last decision. The `info` of every agent has the
    `trace_hash` once the trial has ended.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "congestion_v0",
        "render_modes": [],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        scenario: str | Path | Scenario,
        flows: Sequence[str],
        interval: str | Mapping[str, str] = INTERVAL,
        observe: str | Sequence[str] = OBSERVE,
        act: str | Sequence[str] = ACT,
        reward: Reward = REWARD,
        overrides: Settings = (),
        controllers: Controllers = (),
        vary: Mapping[str, Range] | None = None,
    ) -> None:
        """It takes the arguments of `Congestion`; `interval` may be one for each flow. Raises RequestError."""
        super().__init__()
        self.task = task(scenario, flows, interval, observe, act, reward, overrides, controllers, vary)
        self.possible_agents = list(self.task.flows)
        observed, acted = spaces(self.task.interface)
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed)
        self.action_spaces = dict.fromkeys(self.possible_agents, acted)
        self.agents: list[str] = []
        self.scenario: Scenario = self.task.base
        self.render_mode = None
        self._source, _ = gymnasium.utils.seeding.np_random(None)

    def observation_space(self, agent: str) -> gymnasium.spaces.Box[Any]:
        """What an agent observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Box[Any]:
        """What an agent can do."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins an episode: the trial up to the first decision. Raises RequestError."""
        del options
        if seed is not None:
            self._source, _ = gymnasium.utils.seeding.np_random(checked_seed(seed))
        self._seed = int(self._source.integers(2**63)) if seed is None else seed
        self.scenario, drawn = self.task.draw(self._seed)
        self._episode = self.task.episode(self.scenario, self._seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"seed": self._seed, "drawn": drawn} for agent in self.agents}
        # For a flow that has not been asked yet: the smallest observation.
        self._seen: dict[str, Numbers] = {agent: self.observation_spaces[agent].low for agent in self.agents}
        self._skip_agent_selection = None
        with stepping(self.scenario):
            asked = self._episode.begin()
        if asked < 0:
            raise RequestError(f"{self.scenario.name}: the trial ends before a flow decides anything")
        self._show(asked)

    def step(self, action: Numbers | None) -> None:
        """Takes the action of the agent that has to decide, and goes on until another has. Raises RequestError."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise RequestError(f"flow {agent} has to decide and requires an action")
        with stepping(self.scenario):
            asked = self._episode.step(action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if asked < 0:
            self._end()
        else:
            self._close(asked)
            self._show(asked)
            self.rewards[self.agent_selection] = self._episode.reward(asked)
        self._accumulate_rewards()
        self._deads_step_first()

    def observe(self, agent: str) -> Numbers:
        """What an agent saw when it was last asked, or at its end."""
        return self._seen[agent]

    def _show(self, number: int) -> None:
        self.agent_selection = self.possible_agents[number]
        self._seen[self.agent_selection] = self._episode.observation(number)

    def _close(self, asked: int) -> None:
        """Notes which flows have closed since the last step; the flow that is asked has not."""
        for number, agent in enumerate(self.possible_agents):
            is_going_on = agent in self.agents and not self.terminations[agent] and number != asked
            if is_going_on and self._episode.is_closed(number):
                self._finish(number, agent, closed=True)

    def _end(self) -> None:
        """The trial has ended, and every flow with it."""
        left = [
            (n, a) for n, a in enumerate(self.possible_agents) if a in self.agents and not self.terminations[a]
        ]
        for number, agent in left:
            self._finish(number, agent, closed=self._episode.is_closed(number))
        known = end_of(self._episode.outcomes(), self._seed)
        for agent in self.agents:
            self.infos[agent] = {**self.infos[agent], **known}

    def _finish(self, number: int, agent: str, closed: bool) -> None:
        self._seen[agent] = self._episode.observation(number)
        self.rewards[agent] = self._episode.reward(number)
        (self.terminations if closed else self.truncations)[agent] = True
