"""What searches find where there is nothing to find: only what fresh trials say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from thalweg.cli import main
from thalweg.hunt import Find, Hunt

# Loss of 1 % makes times vary by tens of percent from seed to seed. Nothing that varies has an effect: the name of
# the scenario's only axis is a time limit that no trial reaches.
NOISY: dict[str, Any] = {
    "title": "A download with random loss",
    "path": {"rate": "20 Mbps", "rtt": "40 ms", "loss": "1 %"},
    "flow": [{"name": "main", "controller": "reno", "download": "300 kB"}],
}


def hunt(search_seed: int, **axes: Any) -> Find:
    """One with a trial of each scenario, as plans have by default, on seeds of its own."""
    return Hunt(
        scenario=NOISY,
        objective="completion",
        axes=axes,
        sampler="random",
        budget=24,
        search_seed=search_seed,
        seed=1 + 1000 * search_seed,
    ).run()


def test_a_space_without_any_effect_yields_nothing() -> None:
    finds = [hunt(seed, **{"time_limit": {"from": "100 s", "to": "200 s"}}) for seed in range(20)]
    # Each find by chance has 2.5 %: of 20, four or more have a chance of 0.1 %.
    assert sum(find.is_worse for find in finds) <= 3


def test_what_is_lucky_on_one_seed_is_refuted_by_fresh_ones() -> None:
    # The buffer is never reached: other buffers draw the same trials, but for how the path draws its noise.
    finds = [hunt(seed, **{"noise.start": {"from": "1 us", "to": "50 ms"}}) for seed in range(10)]
    lucky = [find for find in finds if find.refuted]
    assert lucky, "one seed tells a difference that is none"
    for find in lucky:
        assert all(not one.is_worse for one in find.refuted)
        assert all(one.value > find.baseline for one in find.refuted)
    assert sum(find.is_worse for find in finds) <= 2


def test_a_real_effect_is_found_with_its_interval_on_fresh_seeds() -> None:
    find = hunt(1, **{"path.loss": ["1 %", "8 %"]})
    assert find.says == "found"
    assert find.replayed is not None
    assert find.shrunk_replayed is not None
    assert find.replays == find.replayed.objective.n == 100
    assert find.replayed.worse_by.low > 0
    assert find.replayed.objective.low > find.replayed.base.high
    document = find.document()
    assert document["shrunk_replayed"]["interval95"][0] > document["replayed"]["baseline"]


def test_the_command_says_what_was_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        "objective = 'completion'\nbudget = 16\nsampler = 'random'\nreplays = 50\nseed = 1001\n"
        "[scenario]\ntitle = 'x'\n[scenario.path]\nrate = '20 Mbps'\nrtt = '40 ms'\nloss = '1 %'\n"
        "[[scenario.flow]]\nname = 'main'\ncontroller = 'reno'\ndownload = '300 kB'\n"
        "[axes]\n'noise.start' = { from = '1 us', to = '50 ms' }\n",
        encoding="utf-8",
    )
    assert main(["hunt", str(plan), "--out", str(tmp_path / "out"), "--no-figure"]) == 5
    printed = " ".join(capsys.readouterr().out.split())
    assert "nothing found: none of 16 scenarios is worse than that of the plan on fresh seeds" in printed
    document = json.loads((tmp_path / "out" / "hunt.json").read_text(encoding="utf-8"))
    assert (document["says"], document["replayed"], document["replays"]) == ("nothing found", None, 50)
    assert document["refuted"]
    assert all(one["worse_by_interval"][0] <= 0 for one in document["refuted"])
