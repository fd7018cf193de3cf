"""How a study ends: with a page or without, and with a status of its own if real time was not right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.base import extras
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.cli.options import Format
from thalweg.cli.study.end import Ending, conclude
from thalweg.cli.study.live import timing
from thalweg.experiments.studies.catalogue import study_of
from thalweg.experiments.studies.runner.study import Finished
from thalweg.realtime import faithful
from thalweg.trials.machine import ThisMachine

Capture = pytest.CaptureFixture[str]
QUICK = ["study", "stacks", "-n", "1", "--scenario", "simple-20mbps"]


def finished() -> Finished[Any, Any, Any]:
    study: Any = study_of("stacks")
    parameters = study.choose({"names": ["simple-20mbps"]})
    done: Finished[Any, Any, Any] = study.run(
        parameters, 1, scenarios=study.scenarios(parameters, 1), seed=1, executor=ThisMachine(1)
    )
    return done


def test_a_study_without_a_report_has_its_document_and_no_page(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "study"
    assert main([*QUICK, "--out", str(folder), "--no-report"]) in (0, 2)
    assert (folder / "experiment.json").stat().st_size > 1000
    assert not (folder / "report.html").exists()
    assert "report.html" not in capsys.readouterr().err
    assert main([*QUICK, "--out", str(folder)]) in (0, 2)
    assert (folder / "report.html").exists()
    # The page of an older study does not stay beside a newer one.
    assert main([*QUICK, "--out", str(folder), "--no-report"]) in (0, 2)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("strict", "late", "status"), [(True, 1, 4), (True, 0, 0), (False, 1, 0), (False, 2, 4), (True, 2, 4)]
)
def test_a_cell_without_a_trial_in_time_has_a_status_and_any_late_one_if_it_is_asked_for(
    strict: bool, late: int, status: int, capsys: Capture
) -> None:
    done = finished()
    done.result.checks.clear()
    for cell, unfaithful in (("c", late), ("d", 0)):
        reports = [{"unfaithful": ["late"] * (number < unfaithful), "lateness_p999_s": 0.1} for number in (0, 1)]
        done.result.add_live(cell, 1, reports)
    assert conclude(done, Ending(Format.TABLE, strict_timing=strict)) == status
    said = capsys.readouterr().err
    assert ("--strict-timing: some trials" in said) == (status == 4 and strict)
    assert ("no trial of c was what its scenario describes: end other programs" in said) == (
        status == 4 and not strict
    )


@dataclass
class Late:
    """A scenario of which the first trials are late."""

    late: int
    ran: int = 0
    name: str = "c"

    def run(self, seed: int, **_: object) -> Any:
        self.ran += 1
        return SimpleNamespace(report={"unfaithful": ["late"] if self.ran <= self.late else []})


@pytest.mark.parametrize(("late", "ran"), [(0, 1), (1, 2), (5, 3)])
def test_a_study_in_real_time_runs_a_late_trial_again_up_to_twice(late: int, ran: int, capsys: Capture) -> None:
    scenario: Any = Late(late)
    done = faithful(scenario, 7, timing(True, False, None))
    assert (scenario.ran, done.report["attempts"]) == (ran, ran)
    said = capsys.readouterr().err.splitlines()
    again = min(late, 2)
    assert said == [f"c, seed 7, attempt {number}: late; once more" for number in range(1, again + 1)]
    once: Any = Late(late)
    assert faithful(once, 7, timing(True, False, None, retry=0)).report["attempts"] == 1


@pytest.mark.parametrize("words", [["--strict-timing"], ["--retry", "1"], ["--realtime"]])
def test_options_of_real_time_are_for_real_time(words: list[str], capsys: Capture) -> None:
    assert main(["study", "harm", *words]) == 2
    assert "require --live" in capsys.readouterr().err


def test_what_an_installation_lacks_is_said_before_any_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    for words, extra in (
        ([*QUICK, "--out", str(tmp_path / "study")], "plots"),
        ([*QUICK, "--figures", str(tmp_path / "figures")], "plots"),
        (["study", "transient", "-n", "1"], "fits"),
        (["plot", "c4/simple-20mbps", "-o", str(tmp_path / "a.png")], "plots"),
        (["run", "c4/simple-20mbps", "--plot", str(tmp_path / "a.pdf")], "plots"),
        (["probe", "analyze", "docs/how-to/probe/good.csv.gz"], "fits"),
    ):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert f" requires {' and '.join(extras.EXTRAS[extra].values())}: make build" in said  # this is a checkout
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(RequestError, match="altair and vl-convert-python"):
        extras.require("plots", "a picture")
