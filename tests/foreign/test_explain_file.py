"""`thalweg explain` of a file: sentences, JSON, the page, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import thalweg
from pages.explain import writers
from pages.explain.measure import Case
from thalweg.cli import main
from thalweg.experiments.explain import account_of_file
from thalweg.foreign.inference.limits import CAUSES

from .logs import logged


@pytest.fixture
def log(tmp_path: Path) -> Path:
    case = Case.of("loss", 2005, "cubic")
    file = tmp_path / "x.qlog"
    file.write_text(writers.picoquic(writers.entries(case.trace, "main")))
    return file


def test_the_sentences_name_limits_cuts_path_and_controller(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(log)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in (
        "0a0b0c0d: qlog draft-00, logged by its server",
        "It was limited by its congestion window",
        "times: ",
        "The path has a capacity of",
        "Its controller behaves as",
        "cubic",
    ):
        assert words in said


def test_json_has_every_number_and_python_the_same(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(log), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "cubic" in document["controllers"]
    assert document["path"]["is_buffer_seen"]
    assert len(document["seconds"]) == 12
    found = thalweg.explain(log)
    assert found.document() == {key: value for key, value in document.items() if key != "file"}


def test_the_check_of_conformance_has_the_time_of_the_first_departure(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(log), "--as", "cubic"]) == 0
    assert "It follows cubic throughout" in capsys.readouterr().out
    assert main(["explain", str(log), "--as", "bbr"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "It follows bbr until" in said
    assert "were in flight" in said
    trace = thalweg.Scenario.load("c4/simple-20mbps").run(1, trace=True).trace
    assert trace is not None
    trace.save(tmp_path / "c4.sqlog")
    for name, words in (
        ("c4", "It follows c4 throughout"),
        ("bbr", "bbr nowhere in particular, but others fit better"),
    ):
        assert main(["explain", str(tmp_path / "c4.sqlog"), "--as", name]) == 0
        assert words in " ".join(capsys.readouterr().out.split())


def test_a_trace_that_is_too_short_is_compared_with_nothing_and_a_cut_one_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = thalweg.Scenario.load("c4/simple-20mbps", {"flow.main.download": "100 kB"}).run(1, trace=True).trace
    assert trace is not None
    for name in ("t.sqlog", "t.csv"):
        trace.save(tmp_path / name)
        assert main(["explain", str(tmp_path / name), "--as", "bbr", "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["conforms"]["residual"] is None
    assert main(["explain", str(tmp_path / "t.csv"), "--as", "bbr"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "limited it for too short a time to compare it with bbr" in said
    assert "cut off" not in said
    (tmp_path / "t.csv").write_bytes((tmp_path / "t.csv").read_bytes()[:-9])
    assert main(["explain", str(tmp_path / "t.csv")]) == 0
    assert "what comes after its last line, which is cut off" in " ".join(capsys.readouterr().out.split())


def test_a_page_works_offline_and_runs_nothing_from_the_file(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    text = writers.quic_go(logged()).replace("0a0b0c0d", json.dumps(evil)[1:-1])
    (tmp_path / "x.sqlog").write_text(text)
    assert main(["explain", str(tmp_path / "x.sqlog"), "--out", str(tmp_path / "x.html")]) == 0
    page = (tmp_path / "x.html").read_text()
    assert "<script>alert" not in page
    assert "Content-Security-Policy" in page


def test_what_the_lab_opens_has_the_sentences_and_a_value_at_each_time(tmp_path: Path) -> None:
    (tmp_path / "x.sqlog").write_text(writers.quic_go(logged()))
    assert main(["explain", str(tmp_path / "x.sqlog"), "--out", str(tmp_path / "x.json")]) == 0
    document = json.loads((tmp_path / "x.json").read_text())
    found = account_of_file(tmp_path / "x.sqlog")
    assert document["sentences"] == [*found.sentences(), found.reproduction.sentence()]
    assert document["scenarios"][0]["toml"] == found.scenario
    measured = document["measured"]
    assert sorted(measured["series"]) == [
        "delivery_bps", "in_flight_bytes", "latest_rtt_s", "smoothed_rtt_s", "window_bytes",
    ]  # fmt: skip
    assert {len(values) for values in measured["series"].values()} == {len(measured["time_s"])}
    assert measured["lost_s"] == pytest.approx(found.view.lost_s[np.isfinite(found.view.lost_s)], abs=1e-6)
    assert {limit for limit, _, _ in measured["limits"]} <= {*CAUSES, "controller"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--flow", "nobody"], "the file has no such connection"),
        (["--as", "nobody"], "--as nobody"),
        (["--seed", "3"], "--seed cannot be combined with a file"),
        (["-c", "main=bbr"], "--controller cannot be combined with a file"),
        (["--out", "x.txt"], "must end in one of .html, .png, .svg, .pdf, .json"),
    ],
)
def test_what_a_file_does_not_have_is_refused(
    log: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(log), *options]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_scenario_takes_no_options_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "c4/bad-wifi", "--as", "cubic"]) == 2
    assert "--as requires a file" in capsys.readouterr().err


def test_a_damaged_file_is_one_line_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.qlog").write_text('{"qlog_version": "0.3",\n "traces": [{"events": [}')
    assert main(["explain", str(tmp_path / "x.qlog")]) == 2
    assert "line 2, column 25" in " ".join(capsys.readouterr().err.split())
