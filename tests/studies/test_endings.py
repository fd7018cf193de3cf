"""How a study ends: with a page or without, and with a status of its own if real time was not right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from thalweg.base import extras
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.cli.options import Format
from thalweg.cli.study.end import Ending, conclude
from thalweg.experiments.studies.catalogue import STUDIES
from thalweg.experiments.studies.runner.study import Finished
from thalweg.trials.machine import ThisMachine

Capture = pytest.CaptureFixture[str]
QUICK = ["study", "stacks", "-n", "1", "--scenario", "simple-20mbps"]


def finished() -> Finished[Any, Any, Any]:
    study: Any = STUDIES["stacks"]
    parameters = study.choose({"names": ["simple-20mbps"]})
    done: Finished[Any, Any, Any] = study.run(
        parameters, 1, scenarios=study.scenarios(parameters, 1), seed=1, executor=ThisMachine(1)
    )
    return done


def test_a_study_without_a_report_has_its_document_and_no_page(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "study"
    assert main([*QUICK, "--out", str(folder), "--no-report"]) in (0, 2)
    assert (folder / "study.json").stat().st_size > 1000
    assert not (folder / "report.html").exists()
    assert "report.html" not in capsys.readouterr().err
    assert main([*QUICK, "--out", str(folder)]) in (0, 2)
    assert (folder / "report.html").exists()
    # The page of an older study does not stay beside a newer one.
    assert main([*QUICK, "--out", str(folder), "--no-report"]) in (0, 2)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(("strict", "late", "status"), [(True, True, 4), (True, False, 0), (False, True, 0)])
def test_trials_that_were_late_have_a_status_if_it_is_asked_for(
    strict: bool, late: bool, status: int, capsys: Capture
) -> None:
    done = finished()
    done.result.checks.clear()
    report = {"unfaithful": ["late"] if late else [], "lateness_p999_s": 0.1, "cell": "c", "seed": 1}
    done.result.live.append(report)
    assert conclude(done, Ending(Format.TABLE, strict_timing=strict)) == status
    assert ("--strict-timing" in capsys.readouterr().err) == (status == 4)


def test_strict_timing_is_for_real_time(capsys: Capture) -> None:
    assert main(["study", "harm", "--strict-timing"]) == 2
    assert "with --live" in capsys.readouterr().err


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
        assert f'pip install "thalweg[{extra}]"' in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(RequestError, match="altair and vl-convert-python"):
        extras.require("plots", "a picture")
