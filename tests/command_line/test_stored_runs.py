"""`thalweg run --out`: the result of one scenario in a folder, as a suite stores it."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.cli import main
from thalweg.results.suite_result import SuiteResult

Capture = pytest.CaptureFixture[str]


def test_a_stored_run_is_a_result_that_replays_and_compares(tmp_path: Path, capsys: Capture) -> None:
    stored = tmp_path / "stored"
    assert main(["run", "c4/simple-20mbps", "-n", "3", "--seed", "5", "--out", str(stored), "--quiet"]) == 0
    result = SuiteResult.load(stored)
    assert [(outcomes.scenario.name, outcomes.n, outcomes.seed) for outcomes in result.outcomes] == [
        ("simple-20mbps", 3, 5)
    ]
    assert main(["replay", str(stored), "simple-20mbps", "2"]) == 0
    assert "same as stored" in capsys.readouterr().out
    assert main(["compare", str(stored), str(stored), "--quiet"]) == 0


def test_a_run_replaces_an_older_result_and_nothing_else(tmp_path: Path, capsys: Capture) -> None:
    stored = tmp_path / "stored"
    for trials in ("1", "2"):
        assert main(["run", "c4/simple-20mbps", "-n", trials, "-o", str(stored), "--quiet"]) == 0
    assert SuiteResult.load(stored).outcomes[0].n == 2
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("mine")
    assert main(["run", "c4/simple-20mbps", "-o", str(tmp_path / "own"), "--quiet"]) == 2
    assert (tmp_path / "own" / "thesis.txt").read_text() == "mine"
    assert str(tmp_path / "own") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "main=c4", "-c", "main=reno"], "--out cannot be combined with several controllers"),
        (["--capture", "packets.pcapng"], "--retry and --capture require --live"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["run", "c4/simple-20mbps", *arguments, "-o", str(tmp_path / "stored")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "stored").exists()


def test_a_second_only_adds_scenarios(tmp_path: Path) -> None:
    only = ["--only", "simple-20mbps", "--only", "low-*"]
    assert main(["suite", "c4", *only, "-n", "1", "-o", str(tmp_path / "s"), "--no-report", "--quiet"]) in (0, 1)
    assert [outcomes.scenario.name for outcomes in SuiteResult.load(tmp_path / "s").outcomes] == [
        "simple-20mbps",
        "low-and-up",
    ]
