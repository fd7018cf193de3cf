"""A few of the kills of `make kills`, others in each run of the tests than the day before."""

from __future__ import annotations

import datetime

import pytest

from kills import kill_some


@pytest.mark.timeout(600)  # longer than others: a loaded machine must not fail it
def test_a_killed_command_leaves_complete_results_and_nothing_else() -> None:
    seed = datetime.datetime.now(datetime.UTC).toordinal()
    tally = kill_some(10, seed)
    print(f"seed {seed}: {tally}")
    assert tally["suite"] >= 3
    assert tally["study"] >= 3
