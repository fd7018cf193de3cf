"""Hand-made outcomes: what the statistics, the store and the figures are tested on."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from short_download import SCENARIO
from thalweg.engine.outcome import Description, Outcomes

pytest_plugins = ["chromium"]

# A run that was started in the background (`nohup make test &`) ignores SIGINT, and so would all that it starts.
# A signal that has a handler is at its default in a new program.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a collection makes stays until the end: to look through it for garbage takes time, then and in each test.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def make_outcomes(
    completions: Sequence[float],
    at_most: float = 5.0,
    floor: float | None = 4.0,
    name: str = "hand-made",
    seed: int = 1,
    more_criteria: Sequence[dict[str, Any]] = (),
) -> Outcomes:
    """Outcomes of a flow `main` with these completion times; nan for a trial that did not finish."""
    criterion = {"flow": "main", "metric": "completion", "source": None, "at_most": at_most, "unit": "s"}
    description = Description(
        name=name,
        suite=None,
        title="A hand-made scenario",
        source="nowhere",
        note=None,
        toml=SCENARIO,
        flows=[{"name": "main", "controller": "cubic", "workload": "200 kB", "start_s": 0.0}],
        criteria=[{**criterion, "floor": floor, "informative": False}, *more_criteria],
        floor_s=floor,
        time_limit_s=600.0,
    )
    trials = list(range(len(completions)))
    seeds = [seed + trial for trial in trials]
    flows = pl.DataFrame({"trial": trials, "seed": seeds, "flow": "main", "completion_s": list(completions)})
    flows = flows.with_columns(finished=pl.col("completion_s").is_finite(), controller=pl.lit("cubic"))
    links = pl.DataFrame({"trial": trials, "link": "forward", "dropped_packets": 0})
    hashes = [f"hash of {seed}" for seed in seeds]
    table = pl.DataFrame({"trial": trials, "seed": seeds, "core_s": 0.5, "trace_hash": hashes})
    return Outcomes(description, flows, links, table)


@pytest.fixture
def outcomes_of() -> Callable[..., Outcomes]:
    """Makes outcomes by hand."""
    return make_outcomes


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    """A scenario in a file."""
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file
