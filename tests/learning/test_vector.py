"""Many trials at once: each is the trial of one environment, on any number of threads."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import thalweg.gym
from learning.ten_packets import TenPackets
from thalweg.gym import Congestion, VectorCongestion

SHORT = {"flow.main.download": "500 kB"}
VARY: Any = {"path.rate": ("5 Mbps", "50 Mbps")}


def hashes(env: Any, steps: int) -> list[tuple[int, str]]:
    """Seed and hash of each trial that ends, with actions that follow from what is seen."""
    found = []
    seen, _ = env.reset(seed=10)
    for _ in range(steps):
        action = np.where(seen[:, :1] > 1.3, -0.4, 0.3).astype(np.float32)
        seen, rewards, terminated, truncated, info = env.step(action)
        assert seen.shape == (env.num_envs, 5)
        assert np.isfinite(rewards).all()
        for i in np.flatnonzero(terminated | truncated):
            found.append((int(info["seed"][i]), str(info["trace_hash"][i])))
    return found


@pytest.mark.parametrize("controllers", [{}, {"background": TenPackets}])
def test_its_trials_are_those_of_single_environments_one_after_the_other(controllers: Any) -> None:
    arguments: Any = {
        "scenario": "c4/cubic-short", "flow": "main", "overrides": SHORT, "vary": VARY, "controllers": controllers
    }  # fmt: skip
    many = VectorCongestion(3, **arguments, jobs=2)
    ended = hashes(many, 150)
    assert len(ended) > 6
    assert ended == hashes(VectorCongestion(3, **arguments, jobs=1), 150)
    one = Congestion(**arguments)
    for seed, trace_hash in ended:
        seen, _ = one.reset(seed=seed)
        over = False
        while not over:
            action = np.where(seen[:1] > 1.3, -0.4, 0.3).astype(np.float32)
            seen, _, terminated, truncated, info = one.step(action)
            over = terminated or truncated
        assert info["trace_hash"] == trace_hash


def test_gymnasium_makes_it_and_an_action_after_an_end_begins_the_next_trial() -> None:
    env = gymnasium.make_vec(thalweg.gym.ID, num_envs=2, overrides=SHORT)
    assert isinstance(env.unwrapped, VectorCongestion)
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    seeds: Any = [7, 7]
    first, info = env.reset(seed=seeds)
    assert info["seed"].tolist() == [7, 7]
    assert (first[0] == first[1]).all()
    ended = np.zeros(2, bool)
    while not ended.any():
        _, _, ended, _, info = env.step(np.array([[0.5], [0.5]], np.float32))
    assert ended.all()
    again, rewards, terminated, _, _ = env.step(np.array([[1.0], [-1.0]], np.float32))
    assert rewards.tolist() == [0.0, 0.0]
    assert not terminated.any()
    # The observation of a beginning: ten packets, no queue.
    assert again[0] == pytest.approx(first[0], rel=0.05)


def test_an_action_that_is_no_number_is_refused_before_any_trial_goes_on() -> None:
    def trials(mistakes: bool) -> list[tuple[int, str]]:
        env = VectorCongestion(3, overrides=SHORT, vary=VARY, jobs=2)
        env.reset(seed=10)
        found, going_on = [], np.ones(3, np.bool_)
        actions = np.array([[0.3], [-0.2], [0.1]], np.float32)
        for _ in range(150):
            # What a trial that begins is given is ignored.
            for wrong in np.flatnonzero(going_on) if mistakes else ():
                mistaken = actions.copy()
                mistaken[wrong] = np.nan if wrong else np.inf
                with pytest.raises(thalweg.RequestError) as refusal:
                    env.step(mistaken)
                assert f"environment {wrong}: action = [" in str(refusal.value)
                assert "accepted: one finite number" in str(refusal.value)
            _, _, terminated, truncated, info = env.step(actions)
            going_on = ~(terminated | truncated)
            found += [(int(info["seed"][i]), str(info["trace_hash"][i])) for i in np.flatnonzero(~going_on)]
        return found

    expected = trials(mistakes=False)
    assert len(expected) > 6
    assert trials(mistakes=True) == expected
