"""Functions of the page, called under Node.

Where there is no Node, or no packages of the page, the tests are skipped, and fail in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

HERE = Path(__file__).parent
LAB = HERE.parents[2] / "lab"
Ask: TypeAlias = Callable[[str, Sequence[Sequence[Any]]], list[Any]]


@pytest.fixture
def ask() -> Ask:
    """What functions of a module of the page return."""
    node = shutil.which("node")
    if node is None or not (LAB / "node_modules").is_dir():
        assert "CI" not in os.environ, "Node, or the packages of the page, are missing: make lab"
        pytest.skip("Node, or the packages of the page, are missing: make lab")
    words = [node, str(HERE / "call.mjs"), str(LAB)]

    def ask_(module: str, calls: Sequence[Sequence[Any]]) -> list[Any]:
        asked = json.dumps(calls, allow_nan=False)
        done = subprocess.run(
            [*words, module], input=asked, check=False, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout))

    return ask_
