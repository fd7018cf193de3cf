"""What searches find where there is nothing to find: only what fresh trials say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from thalweg.cli import main
from thalweg.experiments.hunt import Find, Hunt

# Bursts of jitter make times vary by tens of percent from seed to seed, and an RTT of 1.5 to 2.5 ms by no more
# than 3 %: what a search of single trials finds there is luck.
PLAN: dict[str, Any] = {
    "scenario": "c4/bad-wifi",
    "controllers": {"main": "c4:variant=draft-04"},
    "objective": "slowdown",
    "axes": {"path.rtt": {"from": "1.5 ms", "to": "2.5 ms"}},
    "sampler": "random",
    "budget": 16,
}


def hunt(search_seed: int) -> Find:
    """One with a trial of each scenario, as plans have by default, on seeds of its own."""
    return Hunt(**PLAN, search_seed=search_seed, seed=1 + 1000 * search_seed).run()


LUCKY = 2
"""The number of a search in which one seed tells 1.40 times the slowdown of the plan's own scenario."""


@pytest.mark.soak
def test_a_space_without_an_effect_yields_nothing_though_one_seed_tells_a_difference() -> None:
    finds = [hunt(seed) for seed in range(LUCKY - 2, LUCKY + 3)]
    # Each has a chance of at most 2.5 % to find something; two of five, one of 0.6 %.
    assert sum(find.is_worse for find in finds) <= 1
    lucky = finds[2]
    assert (lucky.says, lucky.shrunk) == ("nothing found", lucky.found)
    (worst, *_) = lucky.refuted
    assert worst.value > 1.3 * lucky.baseline
    assert worst.objective.value < 1.05 * worst.base.value


def test_a_real_effect_is_found_with_its_interval_on_fresh_seeds() -> None:
    scenario = {
        "title": "A download with random loss",
        "path": {"rate": "20 Mbps", "rtt": "40 ms", "loss": "1 %"},
        "flow": [{"name": "main", "controller": "reno", "download": "300 kB"}],
    }
    axes = {"path.loss": ["1 %", "8 %"]}
    find = Hunt(scenario=scenario, objective="slowdown", axes=axes, budget=8, replays=40).run()
    assert find.says == "found"
    assert find.replayed is not None
    assert find.shrunk_replayed is not None
    assert find.replays == find.replayed.objective.n == 40
    assert find.replayed.worse_by.low > 0
    assert find.replayed.objective.low > find.replayed.base.high
    document = find.document()
    assert document["shrunk_replayed"]["interval95"][0] > document["replayed"]["baseline"]


def test_the_command_says_what_was_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        "scenario = 'c4/bad-wifi'\nobjective = 'slowdown'\nbudget = 16\nsampler = 'random'\nreplays = 100\n"
        f"search_seed = {LUCKY}\nseed = {1 + 1000 * LUCKY}\n"
        "[axes]\n'path.rtt' = { from = '1.99 ms', to = '2.01 ms' }\n",
        encoding="utf-8",
    )
    assert main(["hunt", str(plan), "--out", str(tmp_path / "out"), "--no-figure"]) == 5
    printed = " ".join(capsys.readouterr().out.split())
    assert "nothing found: none of 16 scenarios is worse than the plan's on fresh seeds" in printed
    document = json.loads((tmp_path / "out" / "experiment.json").read_text(encoding="utf-8"))
    assert (document["says"], document["replayed"], document["replays"]) == ("nothing found", None, 100)
    assert document["refuted"]
    assert all(one["worse_by_interval"][0] <= 0.01 * one["baseline"] for one in document["refuted"])
