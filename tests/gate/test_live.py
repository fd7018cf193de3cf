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
from thalweg.experiments.gate.pairs import pairs_of
from thalweg.judging.thresholds import Threshold
from thalweg.realtime import LiveScenario

Capture = pytest.CaptureFixture[str]
SCENARIO = """
title = "A short download"
path = { rate = "20 Mbps", rtt = "20 ms" }
flow = [{ name = "main", controller = "cubic", download = "200 kB" }]
"""
COMPLETION = '[gate]\nclosed = "off"\nrate = "off"\nloss = "off"\nqueue-delay = "off"\n'
Times = Callable[[bool, int], float | None]
"""From now or not, and a seed: the completion time of a trial, None if it was not what its scenario describes."""
GATE = ["gate", "suite", "--live", "--before", "main=cubic", "-c", "main=reno", "--thresholds", "t.toml"]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Times], list[tuple[bool, int]]]:
    """Has trials take such times, and returns the trials that were run, in order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/short.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "t.toml").write_text(COMPLETION, encoding="utf-8")

    def trials_of(times: Times) -> list[tuple[bool, int]]:
        trials: list[tuple[bool, int]] = []

        def faithful(scenario: LiveScenario, seed: int, *_: object) -> Any:
            is_now = scenario.flows[0]["controller"] == "reno"
            trials.append((is_now, seed))
            time = times(is_now, seed)
            outcomes = make_outcomes([1.0 if time is None else time], seed=seed)
            report = {"unfaithful": ["late"] if time is None else []}
            return SimpleNamespace(report=report, trial=SimpleNamespace(outcomes=outcomes))

        monkeypatch.setattr("thalweg.realtime.executor.faithful", faithful)
        return trials

    return trials_of


def test_what_is_worse_in_seven_pairs_of_seven_fails_and_ends_the_gate(
    play: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = play(lambda is_now, seed: (1.05 if is_now else 1.0) + seed / 10)
    assert main([*GATE, "--junit", "j.xml", "--markdown", "m"]) == 1
    said = capsys.readouterr()
    assert said.err == "worse: short: main: completion 1.4 s to 1.45 s, by more than 1.0 % in 7 of 7 pairs\n"
    assert "1 of 1 metrics are worse by more than their thresholds" in said.out
    # The order alternates, so that a machine that becomes slower favours neither side.
    assert trials == [(is_now ^ (seed % 2 == 0), seed) for seed in range(1, 8) for is_now in (False, True)]
    assert ElementTree.parse("j.xml").getroot().find(".//failure") is not None
    assert Path("m").read_text(encoding="utf-8").startswith("### Gate ")
    assert "in real time: failed" in Path("m").read_text(encoding="utf-8")


@pytest.mark.parametrize(("now", "answer"), [(1.0, "holds"), (1.009, "holds"), (0.5, "holds")])
def test_what_is_not_worse_by_its_threshold_passes_as_soon_as_that_is_told(
    now: float, answer: str, play: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = play(lambda is_now, _: now if is_now else 1.0)
    assert main([*GATE, "--format", "json"]) == 0
    (metric,) = json.loads(capsys.readouterr().out)["metrics"]
    assert (metric["answer"], metric["n"], metric["worse_pairs"]) == (answer, 7, 0)
    assert len(trials) == 14


def test_pairs_that_contradict_each_other_pass_once_the_rest_cannot_tell(
    play: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = play(lambda is_now, seed: 1.0 + (0.1 if is_now == (seed % 2 == 0) else 0.0))
    assert main(GATE) == 0
    assert "undecided" in capsys.readouterr().out
    # Of 23 pairs 11 are worse; with the 17 that are left 28 of 40 would be, with an evidence of 9.5, below 20.
    assert len(trials) == 2 * 23


def test_a_pair_with_an_unfaithful_trial_is_left_out(
    play: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    play(lambda is_now, seed: None if seed == 3 else 1.1 if is_now else 1.0)
    assert main(GATE) == 1
    said = capsys.readouterr()
    assert "7 of 7 pairs" in said.err
    assert "1 pair is left out: " in said.err
    play(lambda _is_now, _seed: None)
    assert main([*GATE, "-n", "8"]) == 4
    # Of eight, the six that are left then could not tell: seven must agree.
    assert "2 pairs are left out: " in capsys.readouterr().err
    play(lambda is_now, seed: None if seed > 3 else 1.1 if is_now else 1.0)
    assert main([*GATE, "-n", "8"]) == 2
    assert "1 of 1 metrics are undecided: not enough pairs to tell" in capsys.readouterr().err


def test_a_download_that_does_not_finish_any_more_is_worse(
    play: Callable[[Times], list[tuple[bool, int]]],
) -> None:
    play(lambda is_now, _seed: float("nan") if is_now else 1.0)
    assert main(GATE) == 1
    play(lambda _is_now, _seed: float("nan"))
    assert main(GATE) == 0


def test_a_stopped_gate_says_what_it_has(play: Callable[[Times], list[tuple[bool, int]]], capsys: Capture) -> None:
    def times(_is_now: bool, seed: int) -> float:
        if seed == 3:
            raise KeyboardInterrupt
        return 1.0

    play(times)
    assert main(GATE) == 130
    assert "0 of 2" in capsys.readouterr().out


BEFORE = ["--live", "-c", "main=reno", "--before"]
LIVE = [*BEFORE, "main=cubic"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--live"], "--live requires --before FLOW=NAME"),
        (["--live", "--before", "main=cubic"], "--live requires -c FLOW=NAME"),
        (["--before", "main=cubic"], "--before requires --live"),
        (["--bound", "2 ms"], "--strict-timing, --retry and --capture require --live"),
        ([*LIVE, "-n", "1001"], "-n 1001: with --live, accepted: at most 1000 pairs of each scenario"),
        ([*LIVE, "--baseline", "b.json"], "--baseline cannot be combined with --live"),
        ([*LIVE, "--baseline", "thalweg-baseline.json"], "--baseline cannot be combined with --live"),
        ([*LIVE, "--accept"], "--accept cannot be combined with --live"),
        ([*LIVE, "--strict"], "--strict cannot be combined with --live"),
        ([*LIVE, "--out", "x"], "--out cannot be combined with --live"),
        ([*LIVE, "--jobs", "2"], "--jobs cannot be combined with --live"),
        ([*LIVE, "--stack", "model"], "--stack model cannot be combined with --live"),
        (
            [*LIVE, "-n", "8"],
            "-n 8: so few pairs could never tell that one of 5 metrics is worse; accepted: 9",
        ),
        ([*LIVE, "--before", "main=vegas"], "error: --before main=...: given twice"),
        ([*BEFORE, "main"], "error: --before 'main': expected FLOW=NAME"),
        ([*BEFORE, "main=vegas"], "error: --before main=vegas: unknown controller"),
        ([*BEFORE, "main=./none.py"], "error: --before main=./none.py: cannot read"),
        ([*BEFORE, "other=cubic"], "error: --before other=cubic: there is no flow"),
        (["--live", "--before", "main=cubic", "-c", "main=vegas"], "error: --controller main=vegas: unknown"),
        (["--live", "--before", "main=cubic", "-c", "other=reno"], "error: --controller other=reno: there is no"),
        ([*LIVE, "--bound", "soon"], "--bound"),
    ],
)
def test_what_real_time_cannot_do_is_refused(
    options: list[str], says: str, play: Callable[[Times], list[tuple[bool, int]]], capsys: Capture
) -> None:
    trials = play(lambda _is_now, _seed: 1.0)
    assert main(["gate", "suite", *options]) == 2
    assert says in capsys.readouterr().err
    assert trials == []


@needs_rights
@pytest.mark.realtime
def test_a_sender_at_a_tenth_of_the_rate_is_found_in_real_time(tmp_path: Path, capsys: Capture) -> None:
    """A host that is later than the bound leaves out pairs, and tells nothing."""
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    gate = ["gate", str(tmp_path), "--live", "--bound", "50 ms", "--before", "main=kernel:cubic"]
    status = main([*gate, "-c", "main=cbr:rate=2Mbps", "-n", "12"])
    said = capsys.readouterr().err
    if status in (2, 4) and "left out: " in said and "have not enough pairs" in said:
        pytest.skip(f"this machine is too slow for real time: {said}")
    assert status == 1, said
    assert "worse: short: main: completion " in said


def test_real_time_compares_what_it_measures() -> None:
    """It has percentiles of waits, and no utilisation."""
    thresholds = dict.fromkeys(("rate", "p95-queue-delay", "utilisation", "event-rtt"), Threshold(0.1))
    found = pairs_of({"short": {"name": "main", "workload": "download 1 MB"}}, thresholds)
    assert [one.measure.name for one in found] == ["rate", "p95-queue-delay"]
