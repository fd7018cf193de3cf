"""What `thalweg suite` prints: a line for what passes, and at the end what fails and how to see it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import thalweg
from terminal import typed
from thalweg.cli import main

Capture = pytest.CaptureFixture[str]
PROGRAM = "from thalweg.cli import main; main()"


@pytest.fixture
def folder(tmp_path: Path, scenario_file: Path) -> Path:
    """A suite of one scenario that passes by two criteria and one that fails."""
    passing = scenario_file.read_text(encoding="utf-8")
    suite = tmp_path / "mine"
    suite.mkdir()
    more = passing + '\n[[pass]]\nflow = "main"\nmetric = "rtt"\nat_most = "10 s"\n'
    (suite / "passing.toml").write_text(more, encoding="utf-8")
    (suite / "failing.toml").write_text(passing.replace('"5 s"', '"200 ms"'), encoding="utf-8")
    return suite


def test_a_suite_ends_with_what_fails_and_has_a_line_for_what_passes(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    arguments = ["suite", str(folder), "-n", "3", "--no-report", "--out", str(tmp_path / "out")]
    main(arguments)
    printed = capsys.readouterr().out.splitlines()
    assert len([line for line in printed if "passing" in line]) == 1
    assert printed[-3] == "failed:"
    assert printed[-2].endswith("fails in 3 of 3 trials")
    assert printed[-1].split()[:3] == ["thalweg", "replay", str(tmp_path / "out")]
    main([*arguments, "--only", "passing"])
    assert "replay" not in capsys.readouterr().out


def test_no_line_of_a_table_in_a_pipe_ends_in_spaces(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    main(["suite", str(folder), "-n", "2", "--no-report", "--out", str(tmp_path / "out")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if line != line.rstrip()] == []


def test_scenarios_that_pass_take_one_line_each_at_80_columns(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "suite",
        "c4",
        "--only",
        "media-?0*",
        "-n",
        "2",
        "--no-report",
        "--out",
        str(tmp_path),
    ]
    shown, _ = typed(command, b"", {"COLUMNS": "80", "LINES": "30"})
    lines = [line for line in shown.splitlines() if line.startswith("media-") and "holds" in line]
    named = {entry.name for entry in thalweg.engine.catalogue.Suite.find("c4").entries}
    assert {line.split()[0] for line in lines} <= named
    assert len(lines) == 3
    assert all("<=" in line and len(line) <= 80 for line in lines)
