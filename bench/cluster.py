"""What Dask costs: a scheduler that feeds 64 workers that only sleep, and two workers against two threads.

    python bench/cluster.py sleep      share of the time that 64 workers sleep, which no batch keeps waiting
    python bench/cluster.py two        the same sweep on two threads and on two workers: wall and processor time

On a machine with other work the second says little but for processor time.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import distributed

from thalweg import Scenario, Sweep
from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.trials.cluster import Cluster, connected
from thalweg.trials.machine import ThisMachine
from thalweg.trials.portable import Portable, document_of
from thalweg.trials.remote import Answers

_WORKERS, _PROCESSES, _ROUNDS, _SLEEP_S = 64, 4, 30, 1.0


def _slept(seconds: float, answer: dict[str, Any]) -> Answers:
    time.sleep(seconds)
    return Answers([answer])


class Sleeping(Cluster):
    """Workers that sleep and then answer with a trial that was played before."""

    def __init__(self, client: distributed.Client, answer: dict[str, Any]) -> None:
        super().__init__(client, "local")
        self._answer = answer

    def submit(self, part: Any) -> Any:
        """Sends a second of sleep."""
        return self._client.submit(_slept, _SLEEP_S, self._answer, pure=False)


def sleep() -> float:
    """The share of the time that workers are at work."""
    scenario = Scenario.load("c4/simple-20mbps")
    answer = Portable.of(document_of(scenario, False)).answer(1)
    taken: list[Finished | Failed] = []

    def batches() -> Iterator[Batch]:
        for seed in range(1, _WORKERS * _ROUNDS + 1):
            yield Batch([scenario], [seed])

    with (
        distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=_PROCESSES, threads_per_worker=_WORKERS // _PROCESSES, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        executor = Sleeping(client, answer)
        begin = time.perf_counter()
        executor.play(batches(), taken.append)
        wall_s = time.perf_counter() - begin
    assert len(taken) == _WORKERS * _ROUNDS
    return _ROUNDS * _SLEEP_S / wall_s


def two() -> None:
    """Prints what 80 000 trials take on two threads and on two workers, twice in turns, and the ratio."""
    axes = {"path.rate": {"from": "5 Mbps", "to": "50 Mbps", "steps": 100}}
    sweep = Sweep("c4/simple-20mbps", axes, trials=800)

    def run(executor: Executor, name: str) -> float:
        with tempfile.TemporaryDirectory() as folder:
            before, begin = os.times(), time.perf_counter()
            sweep.run(folder, executor=executor)
            after, wall_s = os.times(), time.perf_counter() - begin
            print(f"{name}: {wall_s:.1f} s, {after[0] + after[1] - before[0] - before[1]:.1f} s of this process")
            return wall_s

    threads_s = workers_s = 0.0
    for _ in range(2):
        threads_s += run(ThisMachine(2), "two threads")
        with connected("local:2") as executor:
            workers_s += run(executor, "two workers")
    print(f"two workers reach {100 * threads_s / workers_s:.1f} % of two threads")


if __name__ == "__main__":
    if sys.argv[1:] == ["two"]:
        two()
    else:
        print(f"{_WORKERS} workers sleep {100 * sleep():.1f} % of the time")
