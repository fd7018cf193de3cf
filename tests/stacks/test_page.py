"""docs/how-to/stacks.md, followed to the letter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from documentation.blocks import ROOT, blocks
from stacks.built import built

pytestmark = pytest.mark.soak

PAGE = ROOT / "docs" / "how-to" / "stacks.md"


def test_every_command_of_the_page_does_what_it_shows(tmp_path: Path) -> None:
    quinn = built("quinn")
    (tmp_path / "target" / "stacks").mkdir(parents=True)
    (tmp_path / "target" / "stacks" / quinn.name).symlink_to(quinn)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    played = 0
    for block in blocks("docs/how-to/stacks.md"):
        if block.language not in ("sh", "console"):
            continue
        for command, shown in commands(block.language, block.text):
            if command.startswith("make"):
                continue  # it has built the library
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            # A target that is missed is an answer of `run`: CUBIC is not a match for C4.
            answers = (0, 1) if command.startswith("thalweg run") else (0,)
            allowed = (2,) if "error: " in shown else answers
            assert done.returncode in allowed, f"{command}\n{done.stdout}{done.stderr}"
            if shown:
                pattern = ".*".join(re.escape(" ".join(part.split())) for part in shown.split("..."))
                told = " ".join((done.stdout + done.stderr).split())
                assert re.search(pattern, told), f"{command}\n{told}"
            played += 1
    assert played == 10
    assert (tmp_path / "quinn.svg").exists()


def commands(language: str, text: str) -> list[tuple[str, str]]:
    """Commands of a block, each with what the page shows of its output."""
    if language == "sh":
        return [(line, "") for line in text.splitlines() if line]
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, shown.strip()) for command, _, shown in (part.partition("\n") for part in parts)]
