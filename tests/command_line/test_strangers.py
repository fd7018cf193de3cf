"""Files of strangers: commands that do not play run no code that these name, neither Python nor a library."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from thalweg.cli import main

Capture = pytest.CaptureFixture[str]
SCENARIO = """\
title = "x"
[path]
rate = "5 Mbps"
rtt = "20 ms"
[[flow]]
name = "main"
controller = "CONTROLLER"
download = "30 kB"
"""
CONTROLLER = """\
from pathlib import Path
import thalweg
Path(__file__).with_name("ran").touch()
class Mine(thalweg.Controller):
    def on_ack(self, event, path):
        pass
"""
LIBRARY = """\
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { FILE *file = fopen(RAN, "w"); if (file) fclose(file); }
"""


@pytest.fixture(name="python")
def of_python(tmp_path: Path) -> Path:
    """A scenario whose controller leaves a trace when its file is run."""
    (tmp_path / "mine.py").write_text(CONTROLLER, encoding="utf-8")
    file = tmp_path / "python.toml"
    name = json.dumps(f"{tmp_path}/mine.py:Mine")[1:-1]
    file.write_text(SCENARIO.replace("CONTROLLER", name), encoding="utf-8")
    return file


@pytest.fixture(name="library")
def of_library(tmp_path: Path) -> Path:
    """A scenario whose stack is a library that leaves a trace when it is loaded."""
    compiler = shutil.which("cc")
    assert compiler, "a C compiler is a requirement of this repository"
    source = tmp_path / "lib.c"
    source.write_text(LIBRARY.replace("RAN", json.dumps(str(tmp_path / "ran"))), encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "lib.so", source], check=True)
    file = tmp_path / "library.toml"
    file.write_text(
        SCENARIO.replace("CONTROLLER", "any").replace('"any"', '"any"\nstack = "./lib.so"'), encoding="utf-8"
    )
    return file


@pytest.mark.parametrize("command", [["check"], ["check", "--live"], ["show"]])
def test_a_scenario_is_checked_and_shown_and_its_controller_is_not_run(
    command: list[str], python: Path, capsys: Capture
) -> None:
    assert main([*command, str(python)]) == 0
    assert not python.with_name("ran").exists()
    if command == ["check"]:
        told = f"{python}: x: accepted; not run, so unchecked: {python.with_name('mine.py')}\n"
        assert capsys.readouterr().out == told
    assert main(["run", str(python)]) == 0
    assert python.with_name("ran").exists()


@pytest.mark.parametrize("command", [["check"], ["show"]])
def test_a_scenario_is_checked_and_shown_and_its_library_is_not_loaded(
    command: list[str], library: Path, capsys: Capture
) -> None:
    assert main([*command, str(library)]) == 0
    assert not library.with_name("ran").exists()
    if command == ["check"]:
        assert capsys.readouterr().out.endswith(
            f"accepted; not run, so unchecked: {library.with_name('lib.so')}\n"
        )
    assert main(["run", str(library)]) == 2
    assert library.with_name("ran").exists()


def test_a_controller_that_is_no_python_or_not_there_is_refused_without_running_it(
    python: Path, capsys: Capture
) -> None:
    file = python.with_name("mine.py")
    file.write_text("import\n", encoding="utf-8")
    assert main(["check", str(python)]) == 2
    assert f"{file}:1: SyntaxError" in capsys.readouterr().err
    file.unlink()
    assert main(["check", str(python)]) == 2
    assert f"cannot read {file}" in capsys.readouterr().err


def test_a_report_of_a_stored_result_runs_no_controller_and_says_what_does(
    python: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder, page, ran = tmp_path / "result", tmp_path / "page.html", python.with_name("ran")
    assert main(["run", str(python), "-n", "2", "--out", str(folder)]) == 0
    ran.unlink()
    # Its file has changed, so that nothing that was loaded before stands for it.
    python.with_name("mine.py").write_text(f"{CONTROLLER}\n# changed\n", encoding="utf-8")
    assert main(["report", str(folder), "-o", str(page)]) == 0
    assert not ran.exists()
    text = page.read_text(encoding="utf-8")
    assert "mine.py is code, which a report of a stored result does not run; thalweg replay does" in text
    capsys.readouterr()
    main(["replay", str(folder), "python", "0"])
    assert ran.exists()
