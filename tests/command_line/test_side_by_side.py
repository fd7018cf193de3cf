"""`thalweg run` with several controllers for one flow, and `--quiet`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thalweg.cli import main

Capture = pytest.CaptureFixture[str]


def test_each_controller_has_the_same_trials_and_they_stand_side_by_side(
    scenario_file: Path, capsys: Capture
) -> None:
    run = ["run", str(scenario_file), "-n", "8", "--format", "json"]
    alone = {}
    for name in ("cubic", "reno"):
        assert main([*run, "-c", f"main={name}"]) == 0
        alone[name] = json.loads(capsys.readouterr().out)
    assert main([*run, "-c", "main=cubic", "-c", "main=reno"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert [side["controllers"] for side in both["sides"]] == [{"main": "cubic"}, {"main": "reno"}]
    for side in both["sides"]:
        name = side["controllers"]["main"]
        assert side["flows"] == alone[name]["flows"]
        assert side["scenarios"][0]["criteria"] == alone[name]["scenarios"][0]["criteria"]
    (comparison,) = both["comparisons"]
    assert (comparison["a"], comparison["b"]) == ("main=cubic", "main=reno")
    assert comparison["rows"][0]["pairs"]["n"] == 8


def test_the_tables_name_each_choice(scenario_file: Path, capsys: Capture) -> None:
    choices = ["-c", "main=cubic", "-c", "main=reno", "-c", "main=c4"]
    assert main(["run", str(scenario_file), "-n", "6", *choices]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("cubic", "reno", "c4"):
        # A flow, two links, and a verdict.
        assert sum(f"main={name}" in line for line in lines) >= 4
    assert "A: main=cubic; B: main=c4" in lines
    first = [line.split()[:2] for line in lines if line.startswith("main  ")]
    assert first == [["main", "main=cubic"], ["main", "main=reno"], ["main", "main=c4"]]


def test_one_choice_that_fails_fails_the_run(scenario_file: Path, capsys: Capture) -> None:
    strict = ["--set", "path.rtt=100 ms", "--set", "pass.0.at_most=450 ms"]
    statuses = {
        name: main(["run", str(scenario_file), *strict, "-c", f"main={name}"]) for name in ("cubic", "prague")
    }
    both = main(["run", str(scenario_file), *strict, "-c", "main=cubic", "-c", "main=prague"])
    assert both == max(statuses.values())
    capsys.readouterr()


def test_combinations_of_two_flows_are_all_run(tmp_path: Path, scenario_file: Path, capsys: Capture) -> None:
    text = scenario_file.read_text(encoding="utf-8")
    second = '[[flow]]\nname = "other"\ncontroller = "reno"\ndownload = "100 kB"\n\n[[pass]]'
    scenario_file.write_text(text.replace("[[pass]]", second), encoding="utf-8")
    choices = ["-c", "main=cubic", "-c", "other=c4", "-c", "main=reno", "-c", "other=bbr"]
    assert main(["run", str(scenario_file), *choices, "--format", "json"]) == 0
    sides = json.loads(capsys.readouterr().out)["sides"]
    assert [tuple(side["controllers"].values()) for side in sides] == [
        ("cubic", "c4"),
        ("cubic", "bbr"),
        ("reno", "c4"),
        ("reno", "bbr"),
    ]


def test_a_quiet_command_says_nothing_but_errors(scenario_file: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ["--quiet"]
    assert main(["run", str(scenario_file), *arguments]) == 0
    assert main(["run", str(scenario_file), "-c", "main=c4", "-c", "main=reno", *arguments]) == 0
    suite = ["suite", str(scenario_file.parent), "-n", "2", "--out", str(tmp_path / "out"), "--no-report"]
    assert main([*suite, *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert not (tmp_path / "out" / "report.html").exists()
    assert (tmp_path / "out" / "short" / "flows.parquet").exists()
    assert main(["run", str(scenario_file), *arguments, "--set", "time_limit=5 ms"]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    # It holds for that command alone.
    assert main(["run", str(scenario_file)]) == 0
    assert "main completion <= 5 s" in capsys.readouterr().out


def test_a_quiet_command_still_prints_the_document_that_is_asked_for(
    scenario_file: Path, tmp_path: Path, capsys: Capture
) -> None:
    suite = ["suite", str(scenario_file.parent), "-n", "2", "--no-report", "--out", str(tmp_path / "out")]
    sides = ["-c", "main=c4", "-c", "main=reno"]
    for words in (["run", str(scenario_file)], ["run", str(scenario_file), *sides], suite):
        assert main([*words, "--format", "json", "--quiet"]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)
        assert said.err == ""
    assert main([*suite, "--format", "markdown", "--quiet"]) == 0
    said = capsys.readouterr()
    assert "| main completion <= 5 s |" in said.out
    assert said.err == ""
