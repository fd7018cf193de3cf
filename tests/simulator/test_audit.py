"""The auditor across the language border: who switches it on, and what a finding becomes."""

import random
from typing import Any

import pytest

import audit_part
import thalweg
from thalweg.cli import main
from thalweg.engine import audit
from thalweg.engine.scenario import Scenario

FINDING = "audit: seed 7, 1.62 s, flow main (server): declares packet 812 lost, which has arrived"


@pytest.mark.parametrize("stack", ["model", "quic"])
def test_an_audited_trial_equals_the_same_trial_without_auditor(stack: str) -> None:
    scenario = Scenario.load("c4/simple-20mbps", {"flow.*.stack": stack})
    plain = scenario.trials(2, seed=3, jobs=1)
    watched = scenario.trials(2, seed=3, jobs=1, audit=True)
    assert plain.trials["trace_hash"].to_list() == watched.trials["trace_hash"].to_list()
    traced = scenario.run(3, trace=True, audit=True)
    assert traced.trace_hash == plain.trials["trace_hash"][0]


def watch(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Notes of each run whether it is watched."""
    seen: list[bool] = []
    trials = Scenario.trials

    def noted(self: Scenario, *args: Any, **kwargs: Any) -> thalweg.Outcomes:
        seen.append(audit.is_on())
        return trials(self, *args, **kwargs)

    monkeypatch.setattr(Scenario, "trials", noted)
    return seen


def test_the_option_watches_the_trials_of_its_command_and_of_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watch(monkeypatch)
    assert main(["run", "c4/simple-20mbps", "--audit"]) == 0
    assert main(["run", "c4/simple-20mbps"]) == 0
    assert seen == [True, False]


def test_a_study_is_watched_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watch(monkeypatch)
    assert main(["study", "stacks", "--scenario", "simple-20mbps", "-n", "6", "--audit"]) == 0
    assert len(seen) > 1
    assert all(seen)


def test_a_finding_is_an_exception_and_status_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(*_: Any, **__: Any) -> None:
        raise thalweg.AuditError(FINDING)

    monkeypatch.setattr(Scenario, "trials", find)
    assert main(["run", "c4/simple-20mbps", "--audit"]) == 3
    said = capsys.readouterr()
    assert said.err == f"error: {FINDING}\n"
    assert not said.out


def test_real_time_cannot_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "c4/simple-20mbps", "--live", "--audit"]) == 2
    assert "--audit cannot be combined with --live" in capsys.readouterr().err


def test_a_text_chooses_the_part_that_is_played() -> None:
    def draws(seed: str) -> list[tuple[str, str, str, int]]:
        dice = random.Random(seed)
        return [audit_part.draw(dice) for _ in range(20)]

    assert draws("one commit") == draws("one commit")
    assert draws("one commit") != draws("another commit")
    names = audit_part.controllers()
    assert {"c4", "cubic", "reno", "bbr", "bbr1", "prague", "cubic:start=classic"} <= set(names)
