"""One flow as an environment of Gymnasium: it keeps to the interface, and its trials are those of controllers."""

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import thalweg
import thalweg.gym
from thalweg.engine.catalogue import Suite
from thalweg.gym import FEATURES, Congestion, Policy

SHORT = {"flow.main.download": "1 MB"}
Act = Callable[[Any], Any]


def play(env: gymnasium.Env[Any, Any], act: Act, seed: int) -> tuple[list[float], dict[str, Any]]:
    observation, _ = env.reset(seed=seed)
    rewards = []
    while True:
        observation, reward, terminated, truncated, info = env.step(act(observation))
        assert observation in env.observation_space
        rewards.append(float(reward))
        if terminated or truncated:
            return rewards, info


def careful(seen: Any) -> list[float]:
    """Down where the RTT has grown or something is lost, up otherwise."""
    return [-0.5 if seen[0] > 1.5 or seen[1] > 0 else 0.2]


class Careful(Policy):
    def act(self, observation: Any) -> Any:
        return careful(observation)


@pytest.mark.parametrize("flow", ["main", "background"])
def test_gymnasium_finds_nothing_wrong(flow: str) -> None:
    env = gymnasium.make(thalweg.gym.ID, scenario="c4/cubic-short", flow=flow, observe=list(FEATURES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*action space.*")  # it wants all actions between -1 and 1
        check_env(env.unwrapped)


@pytest.mark.parametrize(
    "scenario", [one.reference for one in Suite.find("c4").entries if not one.name.endswith("long")]
)
def test_a_policy_has_the_trial_of_the_agent_that_acts_like_it(scenario: str) -> None:
    both = thalweg.Scenario.load(scenario, controllers={"main": Careful})
    with_reports = both.run(seed=5)
    env = Congestion(scenario, flow="main")
    _, info = play(env, careful, 5)
    assert info["trace_hash"] == with_reports.trace_hash
    assert env.outcomes.flows.drop("controller").equals(with_reports.flows.drop("controller"), null_equal=True)


@pytest.mark.parametrize(
    ("decides", "how"),
    [
        (("pacing",), lambda seen: [20 if seen[0] < 1.2 else 5]),
        (("pacing_factor",), lambda seen: [0.3 if seen[0] < 1.2 else -0.4]),
        (("window",), lambda seen: [100 if seen[0] < 1.2 else 2.5]),
        (("window_factor", "pacing"), lambda seen: [0.1, 10 * seen[0]]),
    ],
)
@pytest.mark.parametrize("interval", ["0.5 rtt", "20 ms"])
def test_every_kind_of_action_does_the_same_in_both(decides: tuple[str, ...], how: Act, interval: str) -> None:
    class Same(Policy):
        report_every = interval
        actions = decides

        def act(self, observation: Any) -> Any:
            return how(observation)

    keys = {"path.loss": "0.5 %", "path.buffer": "30 packets", **SHORT}
    trial = thalweg.Scenario.load("c4/simple-20mbps", keys, {"main": Same}).run(seed=9)
    env = Congestion("c4/simple-20mbps", interval=interval, act=decides, overrides=keys)
    assert play(env, how, 9)[1]["trace_hash"] == trial.trace_hash


def test_the_seed_of_reset_is_that_of_the_trial_and_without_one_it_is_drawn() -> None:
    env = Congestion("c4/bad-wifi", overrides=SHORT)
    _, info = env.reset(seed=2**64 - 1)
    assert info["seed"] == 2**64 - 1
    seeds = [env.reset(seed=4)[1]["seed"]] + [env.reset()[1]["seed"] for _ in range(3)]
    again = [env.reset(seed=4)[1]["seed"]] + [env.reset()[1]["seed"] for _ in range(3)]
    assert seeds == again
    assert len(set(seeds)) == 4


def test_a_reward_is_the_sum_of_its_weighted_features_or_what_a_function_says() -> None:
    weights = {"delivered": 2.0, "elapsed": -1000.0}
    names = tuple(weights)
    env = Congestion(observe=names, reward=weights, overrides=SHORT)
    env.reset(seed=1)
    seen, reward, *_ = env.step(np.array([0.5], np.float32))
    assert reward == pytest.approx(2 * seen[0] - 1000 * seen[1], rel=1e-6)
    same = Congestion(
        observe=names, reward=lambda all_: 2 * all_["delivered"] - 1000 * all_["elapsed"], overrides=SHORT
    )
    assert play(same, lambda _: [0.1], 1) == play(env, lambda _: [0.1], 1)


def test_rewards_count_each_byte_and_each_second_once() -> None:
    trial = (
        thalweg.Scenario.load("c4/simple-20mbps", SHORT, {"main": Careful}).run(seed=1).flows.row(0, named=True)
    )
    for term, total in (("sent", trial["packets_sent"] * 1440), ("elapsed", trial["completion_s"])):
        rewards, _ = play(Congestion(reward={term: 1.0}, overrides=SHORT), careful, 1)
        # Less the first report, which reset shows, and the handshake; packets of 1252 bytes come first.
        assert 0.8 * total < sum(rewards) < total


def test_a_trial_that_ends_at_its_time_limit_is_truncated() -> None:
    text = """
title = "Two seconds"
time_limit = "2 s"
path = { rate = "20 Mbps", rtt = "40 ms" }
flow = [{ name = "main", controller = "cubic", download = "100 MB", background = true }]
"""
    env = Congestion(thalweg.Scenario.from_toml(text, "two-seconds"), observe="elapsed")
    env.reset(seed=1)
    elapsed = 0.0
    while True:
        seen, _, terminated, truncated, info = env.step(np.array([0.0], np.float32))
        elapsed += float(seen[0])
        if terminated or truncated:
            break
        assert info == {}
    assert (terminated, truncated) == (False, True)
    # Less the handshake and the first round trip: 40 ms each, and the request.
    assert 1.8 < elapsed <= 2.0


def test_keys_are_drawn_within_their_ranges_by_the_seed_alone() -> None:
    vary: Any = {
        "path.rate": ("5 Mbps", "50 Mbps"),
        "path.buffer": ("20 packets", "90 packets"),
        "path.rtt": ["20 ms", "60 ms"],
    }
    env = Congestion(overrides=SHORT, vary=vary)
    drawn = [env.reset(seed=seed)[1]["drawn"] for seed in range(40)]
    rates = [float(one["path.rate"].removesuffix(" Mbps")) for one in drawn]
    # By orders of magnitude: half of them below the geometric mean, 15.8 Mbps.
    assert 5 <= min(rates) < 8
    assert 30 < max(rates) <= 50
    assert 12 <= sum(rate < 15.8 for rate in rates) <= 28
    assert {one["path.rtt"] for one in drawn} == {"20 ms", "60 ms"}
    assert all(one["path.buffer"].removesuffix(" packets").isdigit() for one in drawn)
    assert env.reset(seed=7)[1]["drawn"] == drawn[7]
    assert f'rate = "{drawn[7]["path.rate"]}"' in env.scenario.toml
    trial = thalweg.Scenario.load("c4/simple-20mbps", {**SHORT, **drawn[7]}, {"main": Careful}).run(seed=7)
    assert play(env, careful, 7)[1]["trace_hash"] == trial.trace_hash


def test_controllers_in_python_of_other_flows_take_part() -> None:
    from learning.ten_packets import TenPackets  # noqa: PLC0415

    bound = {"background": TenPackets}
    env = Congestion("c4/cubic-short", flow="main", controllers=bound)
    trial = thalweg.Scenario.load("c4/cubic-short", controllers={**bound, "main": Careful}).run(seed=2)
    assert play(env, careful, 2)[1]["trace_hash"] == trial.trace_hash


@pytest.mark.parametrize("rates", [("5000 kbps", "50000 kbps"), ("5e6 bps", "9e6 bps")])
def test_numbers_are_drawn_without_exponents(rates: tuple[str, str]) -> None:
    env = Congestion(overrides=SHORT, vary={"path.rate": rates})
    drawn = {env.reset(seed=seed)[1]["drawn"]["path.rate"] for seed in range(20)}
    assert len(drawn) > 15
    assert not any("e" in rate for rate in drawn)
