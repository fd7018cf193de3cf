"""A recipe of CONTRIBUTING.md, followed: a copy of the repository gets a controller, and its tests take it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATE = Path("crates/control/src")


@pytest.mark.soak
@pytest.mark.timeout(1200)  # it compiles two crates
def test_a_controller_is_a_file_and_two_lines(tmp_path: Path) -> None:
    """The tests of all controllers and the tables of messages take it without another change."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in tracked.stdout.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    example = (ROOT / "examples/rust-controller/src/controller.rs").read_text(encoding="utf-8")
    (tmp_path / CRATE / "aimd.rs").write_text(example.replace("thalweg_control::", "crate::"), encoding="utf-8")
    insert(tmp_path / CRATE / "lib.rs", r"^mod alpha;$", "mod aimd;")
    insert(tmp_path / CRATE / "registry.rs", r"^    crate::cbr::ENTRY,$", "    crate::aimd::ENTRY,")
    cargo(tmp_path, "-p", "thalweg-control", "--lib")
    cargo(tmp_path, "-p", "thalweg-sim", "--test", "promises", "scenario_errors")
    cargo(tmp_path, "-p", "thalweg-sim", "--test", "trials", "--", "packet_size", "ignores_them")


def insert(file: Path, before: str, line: str) -> None:
    """Adds a line before the one line that the pattern matches."""
    old = file.read_text(encoding="utf-8")
    text, found = re.subn(before, lambda match: f"{line}\n{match[0]}", old, flags=re.MULTILINE)
    assert found == 1, f"{before} in {file}"
    file.write_text(text, encoding="utf-8")


def cargo(folder: Path, *arguments: str) -> None:
    """Runs tests of the copy, which compiles into a folder of its own."""
    command = ["cargo", "test", "--locked", "--quiet", *arguments]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
