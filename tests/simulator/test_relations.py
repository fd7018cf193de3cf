"""Relations between trials that cross the language border; all are in docs/explanation/relations.md."""

from typing import Any, ClassVar

import polars as pl
import pytest

import thalweg
from thalweg.engine.controllers import Ack, Lost
from thalweg.engine.controllers import Path as PathState

LOSSY = {"path.buffer": "0.3 bdp", "path.loss": "0.5 %", "flow.main.download": "1 MB"}


def trials(seeds: tuple[int, int], controller: Any = "cubic", jobs: int = 1) -> pl.DataFrame:
    """Rows of all flows for so many seeds from the first on."""
    first, count = seeds
    scenario = thalweg.Scenario.load("c4/simple-20mbps", LOSSY, {"main": controller})
    result = scenario.trials(count, seed=first, jobs=jobs)
    hashes = result.trials.select("trial", "seed", "trace_hash")
    # The number of a trial is counted from the first one of its run.
    return result.flows.join(hashes, on="trial").drop("trial")


@pytest.mark.parametrize("jobs", [1, 2])
def test_ten_blocks_of_seeds_are_the_thousand(jobs: int) -> None:
    whole = trials((1, 1000), jobs=jobs)
    blocks = pl.concat([trials((100 * block + 1, 100)) for block in range(10)])
    assert whole.equals(blocks, null_equal=True)
    assert whole["trace_hash"].n_unique() == 1000
    # The mutant: blocks that share a seed.
    overlapping = pl.concat([trials((99 * block + 1, 100)) for block in range(10)])
    assert not whole.equals(overlapping, null_equal=True)


class Halving(thalweg.Controller):
    """Reno by RFC 9002 section 7, without slow start's exit by delay: window and threshold in bytes."""

    def __init__(self, init: Any, beta: float = 0.5) -> None:
        self.window, self.beta = float(init.initial_window), beta

    def on_ack(self, event: Ack, path: PathState) -> None:
        self.window += event.newly_acked * path.mtu / self.window

    def on_lost(self, event: Lost, path: PathState) -> None:
        self.window = max(self.window * self.beta, 2.0 * path.mtu)


class Observed(Halving):
    """The same, which also shows itself in traces."""

    def observe(self) -> dict[str, float]:
        return {"window": self.window}


class Leaking(Halving):
    """The mutant: it remembers what earlier trials have lost."""

    lost: ClassVar[int] = 0

    def on_lost(self, event: Lost, path: PathState) -> None:
        Leaking.lost += 1
        self.window = (2.0 + Leaking.lost % 20) * path.mtu


def test_a_controller_in_python_that_remembers_earlier_trials_is_found() -> None:
    scenario = thalweg.Scenario.load("c4/simple-20mbps", LOSSY, {"main": Leaking})
    assert scenario.run(seed=5).trace_hash != scenario.run(seed=5).trace_hash


def test_a_controller_in_python_is_the_same_with_and_without_a_trace_and_after_another_flow() -> None:
    scenario = thalweg.Scenario.load("c4/simple-20mbps", LOSSY, {"main": Halving})
    plain = scenario.run(seed=5).trace_hash
    assert scenario.run(seed=5, trace=True).trace_hash == plain
    assert scenario.trials(3, seed=4).trials["trace_hash"].to_list()[1] == plain
    shown = thalweg.Scenario.load("c4/simple-20mbps", LOSSY, {"main": Observed})
    assert shown.run(seed=5).trace_hash == plain


def test_a_controller_in_python_that_starts_late_has_the_same_trial() -> None:
    def completion(start: str) -> float:
        keys = LOSSY | {"flow.main.start": start, "noise.start": "0 s"}
        scenario = thalweg.Scenario.load("c4/simple-20mbps", keys, {"main": Halving})
        flow = scenario.run(seed=3).flows.row(0, named=True)
        return float(round(flow["completion_s"] - flow["start_s"], 9))

    assert completion("0 s") == completion("7.3 s") == completion("61 s")
