"""Sets of seeds."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from short_download import SCENARIO
from thalweg.base.seeds import LARGEST_SET, SET_SIZE, first_seed
from thalweg.cli import main
from thalweg.results.suite_result import SuiteResult

Capture = pytest.CaptureFixture[str]


def test_sets_follow_each_other_without_a_seed_in_common() -> None:
    for number in (1, 2, 77, LARGEST_SET - 1):
        assert first_seed(number) + SET_SIZE == first_seed(number + 1)
    assert first_seed(1) == 1
    assert first_seed(LARGEST_SET) + SET_SIZE - 1 <= 2**63


def test_suites_of_different_seeds_share_no_trial_and_each_trial_is_found_again_by_its_number(
    tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "short.toml").write_text(SCENARIO, encoding="utf-8")
    stored = []
    for number in (1, 2):
        out = tmp_path / f"seed-{number}"
        assert main(["suite", str(folder), "-n", "3", "--seed-set", str(number), "--out", str(out)]) == 0
        stored.append(SuiteResult.load(out)["short"].trials)
    assert stored[0]["seed"].to_list() == [1, 2, 3]
    assert stored[1]["seed"].to_list() == [2**20 + 1, 2**20 + 2, 2**20 + 3]
    assert not set(stored[0]["trace_hash"]) & set(stored[1]["trace_hash"])
    first, second = capsys.readouterr().out.split("seed set 2 (first trial 1048577); ")
    assert "3 trials, seed 1; " in first
    assert second
    assert "seed set 2 (first trial 1048577)" in (tmp_path / "seed-2" / "report.html").read_text(encoding="utf-8")
    assert main(["replay", str(tmp_path / "seed-2"), "short", "1"]) == 0
    assert f"seed {2**20 + 2}" in capsys.readouterr().out
    seed = str(2**20 + 2)
    assert main(["run", str(folder / "short.toml"), "--seed", seed, "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)["scenarios"][0]["criteria"][0]
    trial = pl.read_parquet(tmp_path / "seed-2" / "short" / "flows.parquet").row(1, named=True)
    assert again["worst"] == pytest.approx(trial["completion_s"] - trial["start_s"])


def test_a_set_before_the_first_is_refused(capsys: Capture) -> None:
    assert main(["suite", "c4", "--seed-set", "0"]) == 2
    assert "--seed-set" in capsys.readouterr().err
