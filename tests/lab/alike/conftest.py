"""Functions of the page, called under Node.

Where there is no Node, or no packages of the page, the tests are skipped, and fail in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

HERE = Path(__file__).parent
LAB = HERE.parents[2] / "lab"
Ask: TypeAlias = Callable[[str, Sequence[Sequence[Any]]], list[Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What functions of a module of the page return."""
    node = shutil.which("node")
    if node is None or not (LAB / "node_modules").is_dir():
        assert "CI" not in os.environ, "Node, or the packages of the page, are missing: make lab"
        pytest.skip("Node, or the packages of the page, are missing: make lab")
    words = [node, str(HERE / "call.mjs"), str(LAB)]

    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        questions, answers = process.stdin, process.stdout
        assert questions is not None
        assert answers is not None

        def ask_(module: str, calls: Sequence[Sequence[Any]]) -> list[Any]:
            print(json.dumps([module, calls], allow_nan=False), file=questions, flush=True)
            said = json.loads(answers.readline())
            assert "error" not in said, said["error"]
            return list(said["answers"])

        yield ask_
        questions.close()
