"""Trains a small policy against a simulated bottleneck, and writes it as a controller: `python train.py learnt.py`.

Method: the cross-entropy method (Rubinstein, "The Cross-Entropy Method for Combinatorial and Continuous Optimization",
1999). Policies are drawn from a normal distribution of weights; each runs on the same scenarios, and the distribution
moves to the best of them. There are no gradients, and nothing but numpy is needed.

The reward is the default of the environment: the logarithm of rate over RTT, less ten times the loss. Scenarios have one
flow, alone: nothing here teaches a policy how to share a bottleneck.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from policy import FEATURES, WEIGHTS, Numbers, act

from thalweg import Scenario
from thalweg.gym import VectorCongestion

BOTTLENECK = """
title = "A bottleneck"
time_limit = "60 s"

[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "1 bdp"

[[flow]]
name = "main"
controller = "cubic"
download = "10 GB"
background = true
"""
RANGES: dict[str, Any] = {
    "path.rate": ("4 Mbps", "50 Mbps"),
    "path.rtt": ("10 ms", "100 ms"),
    "path.buffer": ("0.5 bdp", "4 bdp"),
}
POLICIES = 32
SCENARIOS = 4
STEPS = 150
"""Round trips for which each policy runs on each scenario."""
BEST = 8

LEARNT = '''"""Written by examples/gym/train.py: {generations} generations, seed {seed}."""

import sys
from pathlib import Path

import numpy as np

from thalweg.gym import Policy

sys.path.append({folder!r})
import policy

WEIGHTS = np.array({weights})


class Learnt(Policy):
    features = policy.FEATURES

    def act(self, observation):
        return policy.act(WEIGHTS, observation)

    def observe(self):
        return {{"window_packets": self.window / 1440}}
'''


def train(generations: int, seed: int, jobs: int = 0) -> Numbers:
    """The weights after some generations."""
    env = VectorCongestion(
        POLICIES * SCENARIOS, Scenario.from_toml(BOTTLENECK, "bottleneck"), observe=FEATURES, vary=RANGES, jobs=jobs
    )
    source = np.random.default_rng(seed)
    mean, spread = np.zeros(WEIGHTS), np.full(WEIGHTS, 1.0)
    for generation in range(generations):
        drawn = mean + spread * source.standard_normal((POLICIES, WEIGHTS))
        seeds = source.integers(2**32, size=SCENARIOS).tolist() * POLICIES
        rewards = rewards_of(env, np.repeat(drawn, SCENARIOS, axis=0), seeds)
        each = rewards.reshape(POLICIES, SCENARIOS)
        # Scenarios differ in what can be had there: what counts is how much better a policy is than the others.
        scores = (each - np.median(each, axis=0)).mean(axis=1)
        best = drawn[np.argsort(scores)[-BEST:]]
        mean, spread = best.mean(axis=0), np.maximum(best.std(axis=0), 0.05)
        print(f"generation {generation + 1:2}: mean reward {each.mean():6.3f}, of the best {each[scores.argmax()].mean():6.3f}")
    return mean


def rewards_of(env: VectorCongestion, weights: Numbers, seeds: list[int]) -> Numbers:
    """The mean reward of each policy, one in each environment."""
    given: Any = seeds
    seen, _ = env.reset(seed=given)
    total = np.zeros(len(weights))
    for _ in range(STEPS):
        seen, rewards, *_ = env.step(act(weights, seen).astype(np.float32))
        total += rewards
    return total / STEPS


def main() -> None:
    """Trains, and writes the controller."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("file", type=Path, help="where to write the controller")
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begin = time.perf_counter()
    weights = train(given.generations, given.seed)
    text = LEARNT.format(
        generations=given.generations,
        seed=given.seed,
        folder=str(Path(__file__).resolve().parent),
        weights=np.array2string(weights, separator=", ", max_line_width=110, precision=17, floatmode="maxprec"),
    )
    given.file.write_text(text, encoding="utf-8")
    print(f"{given.file} is a controller; {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
