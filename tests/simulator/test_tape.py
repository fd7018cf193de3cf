"""A trial with a tape: streams of random numbers take a new seed at each boundary of 100 ms."""

from __future__ import annotations

import math
import random

import numpy as np
import polars as pl
import pytest

from thalweg import Scenario, ScenarioError
from thalweg.engine.audit import auditing

BLOCK_S = 0.1
TIMES = ("entered_s", "marked_s", "left_s", "sent_s", "arrived_s")
FADING = """
title = "Outages, noise, jitter in time, and a queue that drops at random"
time_limit = "3 s"
flow = [
    { name = "main", controller = "bbr", call = "2 s" },
    { name = "other", controller = "cubic", download = "2 MB" },
]
traffic = [{ name = "bursts", rate = "2 Mbps", mean_on = "50 ms", mean_off = "100 ms" }]
[path]
rate = "8 Mbps"
rtt = "30 ms"
buffer = "100 ms"
queue = "red"
noise = { rate_sd = "1 Mbps", delay_sd = "1 ms", every = "7 ms" }
jitter = { model = "wifi", mean = "4 ms", every = "30 ms" }
loss = { model = "gilbert-elliott", good = "300 ms", bad = "20 ms" }
"""
CELLS = {
    "fading": (FADING, {}),
    "wifi": ("wifi/apartment", {}),
    "wifi-quic": ("c4/bad-wifi", {"flow.*.stack": "quic"}),
    "requests": ("ccafct/against-cubic", {}),
    "alone": ("c4/bad-wifi", {}),
}


def read(cell: str, tape: str | None) -> Scenario:
    """A short scenario of a cell with a tape, or without."""
    of, settings = CELLS[cell]
    more = {"pass": "[]", "time_limit": "3 s", **settings} | ({} if tape is None else {"noise.tape": tape})
    return Scenario.from_toml(of, cell, more) if "\n" in of else Scenario.load(of, more)


def events(scenario: Scenario, until_s: float) -> set[tuple[object, ...]]:
    """All that happens to packets on links before a time."""
    packets = scenario.packets(seed=5)
    found: set[tuple[object, ...]] = set()
    for time in TIMES:
        rows = packets.filter(pl.col(time) < until_s).select("link", "flow", "packet", "size_bytes", time)
        found |= {(time, *row) for row in rows.iter_rows()}
    return found


@pytest.mark.parametrize("cell", CELLS)
def test_the_same_tape_is_the_same_trial_and_a_tape_without_seeds_begins_as_the_trial_itself(cell: str) -> None:
    tape = "0-3:7 9:3"
    assert read(cell, tape).run(5).trace_hash == read(cell, tape).run(5).trace_hash
    assert read(cell, tape).run(5).trace_hash != read(cell, "0-3:8 9:3").run(5).trace_hash
    plain, empty = read(cell, None), read(cell, "")
    assert events(plain, BLOCK_S) == events(empty, BLOCK_S) != set()
    assert plain.run(5).trace_hash != empty.run(5).trace_hash


@pytest.mark.parametrize("cell", CELLS)
def test_another_seed_of_a_block_changes_nothing_before_the_block(cell: str) -> None:
    draws = random.Random(cell)
    changed = 0
    for _ in range(8):
        block = draws.randrange(1, 25)
        before, after = (read(cell, f"{block}:{draws.randrange(2**63)}") for _ in range(2))
        begins_s = block * BLOCK_S
        assert events(before, begins_s) == events(after, begins_s), block
        changed += before.run(5).trace_hash != after.run(5).trace_hash
    # The requests of a flow are drawn when the trial begins; later blocks have the lateness of wake-ups only.
    least = 1 if cell == "requests" else 6
    assert changed >= least, f"{changed} of 8 changes of a block changed the trial"


def test_blocks_from_the_seed_of_a_stretch_do_not_depend_on_the_seed_of_the_trial() -> None:
    tape = "0-99:4"
    first, second = (read("fading", tape).run(seed) for seed in (1, 2))
    assert first.trace_hash == second.trace_hash
    # The text says which seed a block has, whatever the stretches are cut into.
    assert read("fading", "0-4:4 5:4 6-99:4").run(1).trace_hash == first.trace_hash


@pytest.mark.parametrize("cell", CELLS)
def test_an_auditor_finds_nothing_in_a_trial_with_a_tape_and_leaves_it_as_it_is(cell: str) -> None:
    scenario = read(cell, "2-7:1 11:2")
    with auditing():
        audited = scenario.run(3)
    assert audited.trace_hash == scenario.run(3).trace_hash == scenario.run(3, trace=True).trace_hash


def test_trials_with_tapes_have_the_distribution_of_trials_without() -> None:
    n = 400
    plain = read("fading", None).trials(n).flows
    taped = [read("fading", f"0-40:{seed}").run(1).flows for seed in range(n)]
    for column in ("mean_rate_bps", "mean_rtt_s"):
        with_tape = np.sort([flows.filter(flow="main")[column].item() for flows in taped])
        without = np.sort(plain.filter(flow="main")[column].to_numpy())
        grid = np.concatenate([with_tape, without])
        ecdf = [np.searchsorted(values, grid, side="right") / n for values in (with_tape, without)]
        # The test of Kolmogorov and Smirnov at a chance of 0.001: 1.95 sqrt(2 / n).
        assert float(np.max(np.abs(ecdf[0] - ecdf[1]))) < 1.95 * math.sqrt(2 / n), column


@pytest.mark.parametrize(
    "tape", ["7 8", "5-2:1", "3:1 3:2", "4:1 2:1", "-1:2", "1:99999999999999999999", "x:1", "1:+1", "1:1.5"]
)
def test_what_is_not_a_tape_is_refused_with_the_accepted_form(tape: str) -> None:
    with pytest.raises(
        ScenarioError, match=r"noise\.tape.* does not fit; accepted: BLOCK:SEED or FIRST-LAST:SEED"
    ):
        read("alone", tape)


def test_a_tape_of_more_than_a_day_is_refused() -> None:
    with pytest.raises(ScenarioError, match="a tape ends after"):
        Scenario.load("c4/bad-wifi", {"noise.tape": "", "time_limit": "25 h", "pass": "[]"})
