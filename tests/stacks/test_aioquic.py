"""aioquic 1.7, of examples/stacks: Python in a library; what each stack does is in test_every_stack.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import thalweg
from stacks.built import built, played_by

pytestmark = pytest.mark.soak


def test_what_aioquic_refuses_is_said() -> None:
    problem = "creates no stack: Unknown congestion control algorithm: cubic:beta=1"
    with pytest.raises(thalweg.StackError, match=problem):
        played_by(built("aioquic"), "cubic:beta=1", 'download = "100 kB"').run(1)


def test_a_library_without_its_packages_says_so(tmp_path: Path) -> None:
    alone = shutil.copy(built("aioquic"), tmp_path)
    with pytest.raises(thalweg.StackError, match="aioquic does not start; Python has printed why"):
        played_by(Path(alone), "cubic", 'download = "100 kB"').run(1)
