"""`noise.handshake` and `noise.phase`: what a document leaves open is drawn, and nothing else changes with it."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario

PATH = """
title = "t"
[path]
rate = "20 Mbps"
rtt = "10 ms"
buffer = "20 ms"
jitter = { model = "normal", mean = "1 ms" }
repeat = "2 s"
[[path.change]]
at = "1.8 s"
rate = "0 bps"
[[flow]]
name = "main"
controller = "c4"
download = "200 kB"
[[flow]]
name = "late"
controller = "bbr"
download = "100 kB"
start = "100 ms"
"""


def hashes(**noise: str) -> list[str]:
    """The hashes of twelve trials with these keys of `noise`."""
    scenario = Scenario.from_toml(PATH, "t", {f"noise.{key}": value for key, value in noise.items()})
    return [scenario.run(seed).trace_hash for seed in range(12)]


def test_a_draw_that_is_switched_off_is_none() -> None:
    assert hashes() == hashes(handshake="0 B", phase="0 s")


def test_a_draw_of_no_bytes_leaves_the_other_draws_of_the_trial_as_they_were() -> None:
    # One byte at most: a quarter of the trials draw none for both flows, and these are as without the draw.
    plain, drawn = hashes(), hashes(handshake="1 B")
    same = sum(a == b for a, b in zip(plain, drawn, strict=True))
    assert 0 < same < 12


def test_all_flows_start_later_by_the_same_and_in_all_phases() -> None:
    plain = Scenario.from_toml(PATH, "t")
    drawn = Scenario.from_toml(PATH, "t", {"noise.phase": "2 s"})

    def starts(scenario: Scenario) -> np.ndarray:
        return scenario.trials(60).flows["start_s"].to_numpy().reshape(60, 2)

    later = starts(drawn) - starts(plain)
    assert np.ptp(later, axis=1).max() < 1e-8
    assert later.min() >= 0
    assert later.max() <= 2
    # Each quarter of the period has about 15 of 60; below 4 is less likely than 1 in 4000.
    assert np.histogram(later[:, 0], 4, (0, 2))[0].min() >= 4


def test_a_phase_is_no_part_of_a_completion() -> None:
    still = PATH.replace('repeat = "2 s"\n[[path.change]]\nat = "1.8 s"\nrate = "0 bps"\n', "")
    scenario = Scenario.from_toml(
        still + '[[pass]]\nflow = "main"\nmetric = "completion"\nat_most = "5 s"\n',
        "t",
        {"noise.phase": "60 s", "path.jitter": '{ model = "none" }'},
    )
    criterion = scenario.trials(10).verdict().criteria[0]
    assert criterion.worst < 1


@pytest.mark.parametrize("suite", ["c4", "c4-as-printed"])
def test_suites_of_verdicts_draw_the_handshake(suite: str) -> None:
    texts = {entry.name: entry.read() for entry in Suite.find(suite).entries}
    missing = [name for name, text in texts.items() if 'handshake = "3 B"' not in str(text)]
    assert not missing
