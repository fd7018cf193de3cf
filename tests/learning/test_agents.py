"""Several flows of one trial, each an agent that decides at its own times."""

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

import thalweg
from thalweg.gym import CongestionAgents, Policy

FLOWS = ("main", "background")
SHORT = {"flow.main.download": "2 MB", "flow.background.download": "2 MB"}


def make(**more: Any) -> CongestionAgents:
    return CongestionAgents("c4/cubic-short", **{"flows": FLOWS, "overrides": SHORT, **more})


def careful(seen: Any) -> list[float]:
    return [-0.5 if seen[0] > 1.5 or seen[1] > 0 else 0.2]


class Careful(Policy):
    def act(self, observation: Any) -> Any:
        return careful(observation)


def test_pettingzoo_finds_nothing_wrong() -> None:
    api_test(make(), num_cycles=1000)
    seed_test(make, num_cycles=50)


def play(env: CongestionAgents, seed: int) -> tuple[list[str], dict[str, float], dict[str, Any]]:
    env.reset(seed=seed)
    order, totals, infos = [], dict.fromkeys(env.possible_agents, 0.0), {}
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, infos[agent] = env.last()
        totals[agent] += reward
        over = terminated or truncated
        order += [] if over else [agent]
        env.step(None if over else np.array(careful(seen), np.float32))
    return order, totals, infos


def test_two_agents_have_the_trial_of_two_policies() -> None:
    order, _, infos = play(make(), 3)
    trial = thalweg.Scenario.load("c4/cubic-short", SHORT, dict.fromkeys(FLOWS, Careful)).run(seed=3)
    assert infos["main"]["trace_hash"] == trial.trace_hash
    # They take no turns: each decides when its own interval is over.
    assert set(order) == set(FLOWS)
    assert order != [FLOWS[i % 2] for i in range(len(order))]


def test_each_flow_is_rewarded_for_its_own_bytes_and_until_its_own_end() -> None:
    _, totals, _ = play(make(reward={"sent": 1.0}), 3)
    flows = thalweg.Scenario.load("c4/cubic-short", SHORT, dict.fromkeys(FLOWS, Careful)).run(seed=3).flows
    for row in flows.iter_rows(named=True):
        assert 0.8 * 1440 * row["packets_sent"] < totals[row["flow"]] < 1440 * row["packets_sent"]


def test_each_flow_may_have_its_own_interval() -> None:
    order, _, _ = play(make(interval={"main": "10 ms", "background": "200 ms"}), 1)
    assert order.count("main") > 5 * order.count("background")
    with pytest.raises(thalweg.RequestError, match="nothing for flow 'background'"):
        make(interval={"main": "10 ms"})
