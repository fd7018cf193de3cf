"""The exceptions of the package: a small tree, and messages that name the accepted forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import thalweg
from thalweg import _native
from thalweg.cli import main
from thalweg.realtime import LiveScenario


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("RequestError", "ThalwegError"),
        ("ScenarioError", "RequestError"),
        ("ResultError", "RequestError"),
        ("RealTimeError", "RequestError"),
        ("AuditError", "ThalwegError"),
        ("QuicError", "ThalwegError"),
    ],
)
def test_errors_form_a_tree(name: str, base: str) -> None:
    assert getattr(thalweg, name).__mro__[1] is getattr(thalweg, base)
    assert not issubclass(thalweg.Interrupted, thalweg.ThalwegError)


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"path.rate": 10}, '10 has no unit; accepted: a text with a unit, such as "20 Mbps"'),
        ({"path.rate": 1e7}, "has no unit"),
        ({"path.rtt": 0.05}, 'such as "80 ms"'),
        ({"path.loss": 2}, '"2" is more than one; accepted: "1 %", "0.01"'),
        ({"pass.0.at_most": 5}, 'such as "5 s"'),
        ({"time_limit": 10}, "has no unit"),
        ({"path.rate": None}, "accepted: a text"),
        ({"path.jitter": {"model": "wifi"}}, "accepted: a text"),
        ({3: "10 Mbps"}, "accepted: a mapping"),
        ("path.rate=10 Mbps", "accepted: a mapping"),
        (["path.rate"], "accepted: a mapping"),
        (7, "accepted: a mapping"),
    ],
)
def test_a_setting_without_its_unit_is_refused_with_the_accepted_forms(overrides: Any, says: str) -> None:
    with pytest.raises(thalweg.RequestError) as refusal:
        thalweg.Scenario.load("c4/simple-20mbps", overrides)
    assert says in str(refusal.value)
    assert isinstance(refusal.value, thalweg.ScenarioError) == (
        "accepted: a mapping" not in says and says != "accepted: a text"
    )


def test_numbers_and_truths_that_need_no_unit_are_accepted() -> None:
    scenario = thalweg.Scenario.load("c4/simple-20mbps", {"flow.main.streams": 4, "path.reorder": True})
    assert "streams = 4" in scenario.toml
    assert "reorder = true" in scenario.toml


@pytest.mark.parametrize("controllers", [{"main": 4}, {"main": None}, "main=cubic"])
def test_a_controller_is_a_name(controllers: Any) -> None:
    with pytest.raises(thalweg.RequestError, match="accepted: "):
        thalweg.Scenario.load("c4/simple-20mbps", controllers=controllers)
    assert not issubclass(TypeError, thalweg.ThalwegError)


@pytest.mark.parametrize(
    ("n", "seed"),
    [(0, 1), (-3, 1), (2.5, 1), ("3", 1), (None, 1), (1, -1), (1, 2**64), (1, 1.5), (1, "1"), (True, 1)],
)
def test_trials_and_seeds_are_whole_numbers(n: Any, seed: Any) -> None:
    scenario = thalweg.Scenario.load("c4/simple-20mbps")
    with pytest.raises(thalweg.RequestError, match="accepted: "):
        scenario.trials(n, seed)
    if n == 1 and n is not True:
        with pytest.raises(thalweg.RequestError, match="accepted: "):
            scenario.run(seed)


@pytest.mark.parametrize("jobs", [-1, 1.5, "2", None])
def test_threads_are_a_whole_number(jobs: Any) -> None:
    with pytest.raises(thalweg.RequestError, match="0 for all cores"):
        thalweg.Scenario.load("c4/simple-20mbps").trials(1, jobs=jobs)


def test_what_the_auditor_finds_in_a_suite_is_status_three(
    scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(*_: object) -> bool:
        raise _native.AuditError("seed 1: a packet came before it was sent")

    monkeypatch.setattr(_native, "run_batches", find)
    suite = ["suite", str(scenario_file.parent), "--audit", "--no-report", "--out", str(tmp_path / "out")]
    assert main(suite) == 3
    assert capsys.readouterr().err == "error: seed 1: a packet came before it was sent\n"


def test_each_kind_of_error_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(thalweg.ResultError):
        thalweg.SuiteResult.load(tmp_path)
    with pytest.raises(thalweg.ScenarioError):
        thalweg.Scenario.from_toml("title = 1", "mine")
    with pytest.raises(thalweg.ScenarioError):
        LiveScenario.from_toml("title = 1", "mine")


def test_a_flow_keeps_its_host_when_another_controller_plays_it() -> None:
    # Hosts belong to virtual time; that a controller is bound says nothing about the clock.
    scenario = thalweg.Scenario.load("ccafct/alone", {"flow.short.host": "linux"}, {"short": "reno"})
    assert scenario.flows[0]["controller"] == "reno"
    assert 'host = "linux"' in scenario.toml
