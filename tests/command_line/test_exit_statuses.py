"""Exit statuses that hold whoever reads the output, and whenever they stop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(arguments: list[str], both: bool = False) -> subprocess.CompletedProcess[str]:
    """The command with standard output, and perhaps standard error, into a pipe whose reader has left."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "thalweg", *arguments]
    err = write if both else subprocess.PIPE
    done = subprocess.run(command, check=False, stdout=write, stderr=err, text=True)
    os.close(write)
    return done


@pytest.fixture
def failing(scenario_file: Path) -> Path:
    """A scenario that fails, and is not infeasible."""
    text = scenario_file.read_text(encoding="utf-8")
    # Floor: 1.5 RTT, 205 kB with headers at 20 Mbps, half an RTT: 0.16 s. Slow start takes three more round trips.
    scenario_file.write_text(text.replace('"5 s"', '"170 ms"'), encoding="utf-8")
    return scenario_file


@pytest.mark.parametrize(("format_", "both"), [("table", True), ("json", False), ("markdown", False)])
def test_a_failing_suite_whose_reader_has_left_stores_its_result_and_fails(
    format_: str, both: bool, failing: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    suite = ["suite", str(failing.parent), "-n", "2", "--out", str(out), "--format", format_, "--no-report"]
    done = run(suite, both)
    assert done.returncode == 1
    assert (out / "short" / "flows.parquet").exists()
    assert "Traceback" not in (done.stderr or "")


@pytest.mark.parametrize("format_", ["table", "json"])
def test_a_failing_run_whose_reader_has_left_fails(format_: str, failing: Path) -> None:
    done = run(["run", str(failing), "--format", format_])
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)


@pytest.mark.parametrize("arguments", [["list", "controllers"], ["run", "c4/simple-20mbps", "--format", "json"]])
def test_a_reader_who_leaves_is_no_failure(arguments: list[str]) -> None:
    done = run(arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("format_", ["table", "json"])
def test_files_are_stored_even_if_the_reader_has_left(format_: str, scenario_file: Path, tmp_path: Path) -> None:
    out, trace = tmp_path / "out", tmp_path / "trial.csv"
    for words in (
        ["suite", str(scenario_file.parent), "-n", "1", "--out", str(out)],
        ["run", str(scenario_file), "--trace", str(trace)],
    ):
        done = run([*words, "--format", format_])
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert (out / "report.html").exists()
    assert trace.exists()


def test_a_refused_check_whose_reader_has_left_is_refused(scenario_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("title = 1", encoding="utf-8")
    done = run(["check", str(scenario_file), str(wrong), str(scenario_file)])
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")


def test_head_takes_one_line_and_the_report_is_written_and_the_shell_sees_the_failure(
    failing: Path, tmp_path: Path
) -> None:
    suite = f"{sys.executable} -m thalweg suite {failing.parent} -n 2 --out {tmp_path / 'out'}"
    line = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{suite} | head -1"], check=False, capture_output=True, text=True
    )
    assert line.returncode == 1
    assert len(line.stdout.splitlines()) == 1
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_command_without_output_still_answers_by_its_status_and_its_files(
    closed: str, failing: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    suite = f"{sys.executable} -m thalweg suite {failing.parent} -n 2 --no-report --out {out}"
    line = subprocess.run(["sh", "-c", f"{suite} {closed}"], check=False, capture_output=True, text=True)
    assert line.returncode == 1
    assert "Traceback" not in line.stderr
    # What would have been printed is in none of them.
    assert (out / "experiment.json").read_bytes()[:1] == b"{"
    assert (out / "short" / "flows.parquet").read_bytes()[:4] == b"PAR1"
