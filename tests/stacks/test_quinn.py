"""quinn-proto 0.11, of examples/stacks, in the gate; what each stack does is in test_every_stack.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.built import built

pytestmark = pytest.mark.soak


def test_a_gate_of_an_unchanged_stack_differs_by_nothing(tmp_path: Path) -> None:
    words = [
        "gate",
        "c4",
        "--only",
        "simple-20mbps",
        "-n",
        "3",
        "--stack",
        str(built("quinn")),
        "-c",
        "main=cubic",
    ]
    command = [str(Path(sys.executable).with_name("thalweg")), *words, "--baseline", "b.json"]
    accepted = subprocess.run([*command, "--accept"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert accepted.returncode == 0, accepted.stderr
    assert json.loads((tmp_path / "b.json").read_text())
    same = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert same.returncode == 0, same.stderr
    assert "3 of 3 trials are identical to the baseline" in same.stdout
    other = [word.replace("main=cubic", "main=new-reno") for word in command]
    changed = subprocess.run(other, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert changed.returncode != 0, changed.stdout
    assert "0 of 3 trials are identical to the baseline" in changed.stdout
