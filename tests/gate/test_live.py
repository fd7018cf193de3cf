"""`thalweg gate --live`: before and now in pairs, until the pairs tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import make_outcomes
from real_time import needs_rights
from thalweg.cli import main
from thalweg.realtime import LiveScenario, Timing

Capture = pytest.CaptureFixture[str]
SCENARIO = """
title = "A short download"

[path]
rate = "20 Mbps"
rtt = "20 ms"

[[flow]]
name = "main"
controller = "cubic"
download = "200 kB"
"""
COMPLETION = '[gate]\nclosed = "off"\nrate = "off"\nloss = "off"\nqueue-delay = "off"\n'
Times = Callable[[bool, int], float | None]
"""Of now or not, and a seed: the completion time of a trial, None if it was not what its scenario describes."""
GATE = ["gate", "suite", "--live", "--before", "main=cubic", "-c", "main=reno", "--thresholds", "t.toml"]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Times], list[tuple[bool, int]]]:
    """Has trials take such times, and returns what is played, in order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/short.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "t.toml").write_text(COMPLETION, encoding="utf-8")

    def play(times: Times) -> list[tuple[bool, int]]:
        trials: list[tuple[bool, int]] = []

        def faithful(scenario: LiveScenario, seed: int, _timing: Timing) -> Any:
            is_now = scenario.flows[0]["controller"] == "reno"
            trials.append((is_now, seed))
            time = times(is_now, seed)
            outcomes = make_outcomes([1.0 if time is None else time], seed=seed)
            report = {"unfaithful": ["late"] if time is None else []}
            return SimpleNamespace(report=report, trial=SimpleNamespace(outcomes=outcomes))

        monkeypatch.setattr("thalweg.cli.gate.live.faithful", faithful)
        return trials

    return play


def test_what_is_worse_in_seven_pairs_of_seven_fails_and_ends_the_gate(
    played: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = played(lambda is_now, seed: (1.05 if is_now else 1.0) + seed / 10)
    assert main([*GATE, "--junit", "j.xml", "--markdown", "m"]) == 1
    said = capsys.readouterr()
    assert said.err == "worse: short: main completion: 1.4 s to 1.45 s, by more than 1.0 % in 7 of 7 pairs\n"
    assert "1 of 1 metrics are worse by more than their thresholds" in said.out
    # The order alternates, so that a machine that becomes slower favours neither side.
    assert trials == [(is_now ^ (seed % 2 == 0), seed) for seed in range(1, 8) for is_now in (False, True)]
    assert ElementTree.parse("j.xml").getroot().find(".//failure") is not None
    assert Path("m").read_text(encoding="utf-8").startswith("### Gate ")
    assert "in real time: failed" in Path("m").read_text(encoding="utf-8")


@pytest.mark.parametrize(("now", "answer"), [(1.0, "not worse"), (1.009, "not worse"), (0.5, "not worse")])
def test_what_is_not_worse_by_its_threshold_passes_as_soon_as_that_is_told(
    now: float, answer: str, played: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = played(lambda is_now, _: now if is_now else 1.0)
    assert main([*GATE, "--format", "json"]) == 0
    (metric,) = json.loads(capsys.readouterr().out)["metrics"]
    assert (metric["answer"], metric["pairs"], metric["worse_pairs"]) == (answer, 7, 0)
    assert len(trials) == 14


def test_pairs_that_contradict_each_other_pass_once_the_rest_cannot_tell(
    played: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = played(lambda is_now, seed: 1.0 + (0.1 if is_now == (seed % 2 == 0) else 0.0))
    assert main(GATE) == 0
    assert "not told apart" in capsys.readouterr().out
    # Of 23 pairs 11 are worse; with the 17 that are left 28 of 40 would be, with an evidence of 9.5, below 20.
    assert len(trials) == 2 * 23


def test_a_pair_with_an_unfaithful_trial_is_left_out(
    played: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    played(lambda is_now, seed: None if seed == 3 else 1.1 if is_now else 1.0)
    assert main(GATE) == 1
    said = capsys.readouterr()
    assert "7 of 7 pairs" in said.err
    assert "1 pairs are left out" in said.err
    played(lambda _is_now, _seed: None)
    assert main([*GATE, "-n", "8"]) == 4
    played(lambda is_now, seed: None if seed > 3 else 1.1 if is_now else 1.0)
    assert main([*GATE, "-n", "8"]) == 2
    assert "1 of 1 metrics have not enough pairs to tell whether they are worse" in capsys.readouterr().err


def test_a_download_that_does_not_finish_any_more_is_worse(
    played: Callable[[Times], list[tuple[bool, int]]],
) -> None:
    played(lambda is_now, _seed: float("nan") if is_now else 1.0)
    assert main(GATE) == 1
    played(lambda _is_now, _seed: float("nan"))
    assert main(GATE) == 0


def test_a_stopped_gate_says_what_it_has(
    played: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    def times(_is_now: bool, seed: int) -> float:
        if seed == 3:
            raise KeyboardInterrupt
        return 1.0

    played(times)
    assert main(GATE) == 130
    assert "0 of 2" in capsys.readouterr().out


LIVE = ["--live", "--before", "main=cubic", "-c", "main=reno"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--live"], "--live requires --before FLOW=NAME"),
        (["--live", "--before", "main=cubic"], "--live requires -c FLOW=NAME"),
        (["--before", "main=cubic"], "--before requires --live"),
        (["--bound", "2 ms"], "--realtime, --bound, --report, --strict-timing and --retry require --live"),
        ([*LIVE, "--accept"], "--accept cannot be combined with --live"),
        ([*LIVE, "--strict"], "--strict cannot be combined with --live"),
        ([*LIVE, "--out", "x"], "--out cannot be combined with --live"),
        ([*LIVE, "--jobs", "2"], "--jobs cannot be combined with --live"),
        ([*LIVE, "--stack", "model"], "--stack model cannot be combined with --live"),
        ([*LIVE, "-n", "8"], "-n 8: no 8 pairs could tell that one of 5 metrics is worse; accepted: 9 or more"),
        ([*LIVE, "--before", "main=vegas"], "main"),
        (["--live", "--before", "main=cubic", "-c", "other=reno"], "other"),
        ([*LIVE, "--bound", "soon"], "--bound"),
    ],
)
def test_what_real_time_cannot_do_is_refused(
    options: list[str], says: str, played: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = played(lambda _is_now, _seed: 1.0)
    assert main(["gate", "suite", *options]) == 2
    assert says in capsys.readouterr().err
    assert trials == []


@needs_rights
@pytest.mark.realtime
def test_a_sender_at_a_tenth_of_the_rate_is_found_in_real_time(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    gate = ["gate", str(tmp_path), "--live", "--bound", "100 ms", "--before", "main=kernel:cubic"]
    assert main([*gate, "-c", "main=cbr:rate=2Mbps", "-n", "12"]) == 1
    assert "worse: short: main completion: " in capsys.readouterr().err
