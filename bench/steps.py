"""What a step of a learning environment costs: `python bench/steps.py beyond`, or `many`.

`beyond`: microseconds of the processor for a step of `thalweg/Congestion-v0` beyond what the simulation itself
costs. It takes a trial of a minute in which the agent keeps its window, less the same trial with a controller that
does, over its steps.

`many`: wall time for a step of each of 16 environments on two threads, over the time for one environment. It needs
two idle cores; with other load, `chrt -f 1` gives it those for a few seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import thalweg
from thalweg.engine.controllers import Init, Path, Report
from thalweg.gym import Congestion, VectorCongestion

ROUNDS = 5
PACKETS = 120
MTU = 1440
TEXT = """title = "Steps"
time_limit = "60 s"
[path]
rate = "20 Mbps"
rtt = "40 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "1 GB"
background = true
"""


class Keeps(thalweg.Controller):
    """The window of the agent; it is hardly ever called."""

    report_every = "1000 s"
    senders_only = True

    def __init__(self, init: Init) -> None:
        self.window = PACKETS * MTU

    def on_report(self, report: Report, path: Path) -> None:
        """Nothing."""


def beyond() -> float:
    """Microseconds for a step beyond the simulation."""
    scenario = thalweg.Scenario.from_toml(TEXT, "steps")
    bound = thalweg.Scenario.from_toml(TEXT, "steps", controllers={"main": Keeps})
    env = Congestion(scenario, act="window")
    alone = min(_processor_s(lambda: bound.run(seed=1)) for _ in range(ROUNDS))
    stepped = min(_processor_s(lambda: _episode(env)) for _ in range(ROUNDS))
    return (stepped - alone) / _episode(env) * 1e6


def many() -> float:
    """Time for a step on two threads, over the time for one environment."""
    scenario = thalweg.Scenario.from_toml(TEXT, "steps")
    env, vector = Congestion(scenario, act="window"), VectorCongestion(16, scenario, act="window", jobs=2)
    actions = np.full((16, 1), PACKETS, np.float32)
    single = many = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        steps = _episode(env)
        single = min(single, (time.perf_counter() - begin) / steps)
        vector.reset(seed=1)
        begin, steps = time.perf_counter(), 400
        for _ in range(steps):
            vector.step(actions)
        many = min(many, (time.perf_counter() - begin) / (16 * steps))
    return many / single


def _episode(env: Congestion) -> int:
    """Plays one, and counts its steps."""
    env.reset(seed=1)
    action, steps, ended = np.array([PACKETS], np.float32), 0, False
    while not ended:
        _, _, terminated, truncated, _ = env.step(action)
        steps, ended = steps + 1, terminated or truncated
    return steps


def _processor_s(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    print({"beyond": beyond, "many": many}[sys.argv[1]]())
