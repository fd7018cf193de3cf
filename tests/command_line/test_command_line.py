"""The command line: exit statuses, one message on stderr, one document on stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from thalweg.cli import main
from thalweg.engine.trace import FORMATS
from unsealing import unseal

Capture = pytest.CaptureFixture[str]


def document(arguments: list[str], capture: Capture) -> tuple[int, dict[str, Any]]:
    status = main(arguments)
    return status, json.loads(capture.readouterr().out)


@pytest.fixture
def result(tmp_path: Path, scenario_file: Path, capsys: Capture) -> Path:
    """A stored result of five trials."""
    folder = tmp_path / "result"
    assert main(["suite", str(scenario_file.parent), "--trials", "5", "--out", str(folder)]) == 0
    capsys.readouterr()
    return folder


def test_a_verdict_that_fails_is_status_one(scenario_file: Path, capsys: Capture) -> None:
    # Floor: a handshake and half a round trip (450 ms), 205 kB with headers at 1 Mbps (1.64 s), and half a
    # round trip (150 ms): 2.24 s. Ten packets fill 115 of the first 300 ms: no controller comes within 60 ms.
    text = scenario_file.read_text(encoding="utf-8").replace('"5 s"', '"2.3 s"').replace("40 ms", "300 ms")
    scenario_file.write_text(text, encoding="utf-8")
    arguments = ["run", str(scenario_file), "--set", "path.rate=1 Mbps", "--format", "json"]
    status, printed = document(arguments, capsys)
    assert (status, printed["scenarios"][0]["answer"]) == (1, "fails")


def test_an_infeasible_target_is_no_failure(scenario_file: Path, capsys: Capture) -> None:
    arguments = ["run", str(scenario_file), "--set", "path.rate=100 kbps", "--set", "path.buffer=20 packets"]
    status, printed = document([*arguments, "--format", "json"], capsys)
    assert (status, printed["scenarios"][0]["answer"]) == (0, "infeasible")


def test_the_replay_command_of_run_reproduces_the_worst_trial(scenario_file: Path, capsys: Capture) -> None:
    _, many = document(["run", str(scenario_file), "--trials", "5", "--seed", "40", "--format", "json"], capsys)
    criterion = many["scenarios"][0]["criteria"][0]
    seed = 40 + criterion["worst_trial"]
    _, alone = document(["run", str(scenario_file), "--seed", str(seed), "--format", "json"], capsys)
    assert alone["scenarios"][0]["criteria"][0]["worst"] == criterion["worst"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "c4/simple-20mbp"], "did you mean c4/simple-20mbps"),
        (["run", "FILE", "--plot", "x.gif"], "must end in one of .html"),
        (["run", "FILE", "--trace", "/nowhere/x.csv"], "there is no folder /nowhere"),
        (["suite", "c5"], "no suite 'c5'"),
        (["suite", "c4", "--only", "sattelite"], "did you mean satellite"),
        (["suite", "DIR", "--controller", "x=cubic", "--out", "OUT"], "no scenario of the suite has a flow 'x'"),
        (["suite", "DIR", "--out", "/dev/null/x"], "cannot write results"),
        (["replay", "DIR", "short", "0"], "holds no suite"),
        (["report", "NOWHERE", "-o", "x.html"], "no such folder"),
        (["report", "DIR", "-o", "x.pdf"], "must end in .html"),
        (["study", "harm", "--preset", "ccafct-tset"], "did you mean ccafct-test"),
        (["study", "wifi-compete", "--jitter-seed", "3"], "--shared-jitter"),
        (["run", "FILE", "--live", "--jobs", "2"], "--jobs"),
        # Even at their defaults: the user believes that they matter.
        (
            ["study", "transient", "--series=x", "--rtt", "50 ms", "--preset", "paper", "-n", "3", "--seed-set=1"],
            "--preset, --trials, --seed-set: cannot be combined with --series",
        ),
    ],
)
def test_a_wrong_request_is_one_message_and_status_two(
    arguments: list[str], message: str, scenario_file: Path, tmp_path: Path, capsys: Capture
) -> None:
    names = {"FILE": scenario_file, "DIR": tmp_path, "OUT": tmp_path / "o", "NOWHERE": "nowhere"}
    assert main([str(names.get(argument, argument)) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err
    assert "Traceback" not in said.err


def test_a_suite_leaves_a_result_a_report_and_the_way_back(result: Path, capsys: Capture) -> None:
    assert sorted(path.name for path in result.iterdir()) == [
        "experiment.json",
        "report.html",
        "short",
        "trials",
    ]
    assert pl.read_parquet(result / "short" / "flows.parquet").height == 5
    assert main(["replay", str(result), "short", "3"]) == 0
    assert "same as stored" in capsys.readouterr().out
    assert main(["replay", str(result), "short", "worst"]) == 0
    assert main(["replay", str(result), "short", "5"]) == 2
    assert "expected a number from 0 to 4" in capsys.readouterr().err


def test_a_replay_that_differs_is_reported(result: Path, capsys: Capture) -> None:
    file = result / "short" / "trials.parquet"
    pl.read_parquet(file).with_columns(trace_hash=pl.lit("0")).write_parquet(file)
    unseal(result / "experiment.json")
    assert main(["replay", str(result), "short", "0"]) == 1
    assert "not the stored trial" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["parquet", "csv", "sqlog", "qlog"])
def test_a_trace_is_written_in_each_format(ending: str, scenario_file: Path, tmp_path: Path) -> None:
    file = tmp_path / f"trace.{ending}"
    assert main(["run", str(scenario_file), "--trace", str(file)]) == 0
    if ending == "sqlog":
        records = file.read_text(encoding="utf-8").split("\x1e")[1:]
        events = [json.loads(record) for record in records]
        assert events[0]["serialization_format"] == "application/qlog+json-seq"
        assert {"quic:recovery_metrics_updated"} <= {event["name"] for event in events[1:]}
        return
    if ending == "qlog":
        document = json.loads(file.read_text(encoding="utf-8"))
        assert document["qlog_version"] == "0.3"
        names = {event["name"] for event in document["traces"][0]["events"]}
        assert {"transport:packet_sent", "transport:packet_received", "recovery:metrics_updated"} <= names
        return
    table = pl.read_parquet(file) if ending == "parquet" else pl.read_csv(file, infer_schema_length=None)
    assert {"flow", "link", "packet"} <= set(table["kind"])
    assert table["time_s"].is_sorted()


@pytest.mark.parametrize(
    ("ending", "begin"), [("html", b"<!"), ("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_a_plot_is_written_in_each_format(ending: str, begin: bytes, scenario_file: Path, tmp_path: Path) -> None:
    file = tmp_path / f"plot.{ending}"
    assert main(["run", str(scenario_file), "--plot", str(file)]) == 0
    assert file.read_bytes().lstrip().lower().startswith(begin.lower())


@pytest.mark.parametrize("kind", ["controllers", "scenarios", "suites", "models"])
def test_lists_are_not_empty_and_come_as_json_too(kind: str, capsys: Capture) -> None:
    status, printed = document(["list", kind, "--format", "json"], capsys)
    assert status == 0
    assert all(entry["name"] for entry in printed[kind])
    assert printed[kind]
    assert main(["list", kind]) == 0
    assert printed[kind][0]["name"] in capsys.readouterr().out


@pytest.mark.realtime
def test_ctrl_c_stops_within_a_second_and_keeps_finished_trials(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    # A million trials of the second scenario: it cannot finish while we wait.
    command = [sys.executable, "-m", "thalweg", "suite", "c4", "--trials", "1000000", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not (folder / "experiment.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    # One second is promised; two allow for a machine that is busy with the other tests.
    assert time.monotonic() - begin < 2
    assert process.returncode == 130
    assert "interrupted: none of" in err
    assert "Traceback" not in err
    assert os.listdir(folder) == ["experiment.json"]  # noqa: PTH208 - names are what is compared


@pytest.mark.parametrize(
    "arguments", [["run", "{}"], ["run", "{}", "-c", "main=c4", "-c", "main=reno"], ["plot", "{}", "-o", "x.html"]]
)
def test_ctrl_c_before_there_is_an_answer_says_so(
    arguments: list[str], scenario_file: Path, tmp_path: Path
) -> None:
    # Minutes of computing; a trial has no answer before its end.
    scenario_file.write_text(scenario_file.read_text().replace("200 kB", "100 GB"))
    begun = tmp_path / "begun"
    code = (
        "import sys; from thalweg.cli import main; from thalweg import Scenario;"
        "import thalweg.engine.scenario as s; load = s.Scenario.from_entry;"
        f"s.Scenario.from_entry = staticmethod(lambda *a: (open({str(begun)!r}, 'w').close(), load(*a))[1]);"
        "sys.exit(main())"
    )
    words = [word.format(scenario_file) for word in arguments]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--set", "time_limit=100000 s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 30
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["list", "controllers"], ["run", "c4/simple-20mbps", "--format", "json"]])
def test_an_answer_that_finds_no_room_is_one_message(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "thalweg", *arguments]
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write the output: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_trace_that_finds_no_room_is_one_message(tmp_path: Path, capsys: Capture) -> None:
    for ending in FORMATS:
        file = tmp_path / f"full{ending}"
        file.symlink_to("/dev/full")
        assert main(["run", "c4/simple-20mbps", "--trace", str(file)]) == 2
        assert f"error: cannot write {file}" in capsys.readouterr().err


def test_a_study_refuses_a_folder_that_it_may_not_write_before_it_runs(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The superuser may write anywhere. That the folder can be read is what Typer asks.
    monkeypatch.setattr("os.access", lambda _, mode: not mode & os.W_OK)
    assert main(["study", "stacks", "--scenario", "simple-20mbps", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"error: cannot write results to {tmp_path}: permission denied\n")


def test_a_live_report_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path, capsys: Capture) -> None:
    report = tmp_path / "missing" / "report.json"
    live = ["run", "c4/simple-20mbps", "--live", "-c", "main=kernel:cubic", "--report", str(report)]
    assert main(live) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_study_replaces_an_older_one_in_its_folder(tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "study")
    harm = ["study", "harm", "--preset", "ccafct-test", "--rtt", "10 ms", "-n", "1", "-o", out]
    assert main(harm) == 0
    assert (tmp_path / "study" / "requests.parquet").exists()
    assert main(["study", "stacks", "--scenario", "simple-20mbps", "-n", "6", "-o", out]) == 0
    names = {file.name for file in (tmp_path / "study").rglob("*") if file.is_file() and file.name[0] != "0"}
    variants = {f"simple-20mbps-c4-{variant}.toml" for variant in ("model", "wide", "quic")}
    assert names == {"experiment.json", "trials.parquet", "report.html", *variants}
    assert json.loads((tmp_path / "study" / "experiment.json").read_text())["name"] == "stacks"
    capsys.readouterr()
