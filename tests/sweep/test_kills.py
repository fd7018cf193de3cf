"""A few of the kills of `make kills-sweep`, others in each run of the tests than the day before."""

from __future__ import annotations

import datetime

import pytest

from sweep_kills import kill_some


@pytest.mark.timeout(600)  # longer than others: a loaded machine must not fail it
def test_a_sweep_whose_processes_are_killed_ends_as_one_that_nothing_disturbs() -> None:
    seed = datetime.datetime.now(datetime.UTC).toordinal()
    tally = kill_some(4, seed, trials=12)
    print(f"seed {seed}: {tally}")
    assert tally["command"] + tally["worker"] + tally["scheduler"] >= 4
