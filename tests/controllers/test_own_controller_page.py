"""Every block of docs/own-controller.md runs, in the order of the page."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from thalweg.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "own-controller.md"
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_every_block_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "notebook"}
    for kind, text in BLOCKS:
        if kind == "python":
            exec(compile(text, str(PAGE), "exec"), names)
            continue
        for line in text.splitlines():
            command = shlex.split(line)
            assert command[0] == "thalweg"
            # 1: a criterion, or a check of a study, has failed, which is an answer; 2: too few trials to tell.
            expected = (0, 1, 2) if command[1] == "study" else (0, 1) if command[1] in ("run", "suite") else (0,)
            assert main(command[1:]) in expected, line
    for file in ("mine.html", "trial.html", "results/mine/report.html"):
        assert (tmp_path / file).stat().st_size > 1000
    assert names["trial"].flows.height == 1


def test_a_figure_takes_ten_commands_or_fewer() -> None:
    first = PAGE.read_text().partition("## What a class looks like")[0]
    commands = [line for line in first.splitlines() if line.startswith("thalweg ")]
    assert 5 <= len(commands) <= 10
