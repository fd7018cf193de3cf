"""quiche 0.30, of examples/stacks: its options and its build; what each stack does is in test_every_stack.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import thalweg
from stacks.built import ROOT, built, played_by

pytestmark = pytest.mark.soak

SOURCE = ROOT / "examples" / "stacks" / "quiche"


def test_its_own_settings_are_options() -> None:
    work, quiche = 'download = "4 MB"', built("quiche")
    for plain, changed in (("cubic", "cubic:hystart=off"), ("bbr2", "bbr2:pacing=0.95")):
        assert (
            played_by(quiche, plain, work).run(1).trace_hash != played_by(quiche, changed, work).run(1).trace_hash
        )
    for wrong in ("cubic:gain=2", "bbr2:pacing=x", "reno:hystart=perhaps", "bbr2:pacing=1000"):
        with pytest.raises(
            thalweg.StackError, match=f'"{wrong.partition(":")[2]}" is not an option of .*; accepted: '
        ):
            played_by(quiche, wrong, work).run(1)


def test_without_cmake_it_is_skipped_aloud(tmp_path: Path) -> None:
    for name in ("make", "sh", "cc", "c++"):
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=True)
        (tmp_path / name).symlink_to(found.stdout.strip())
    done = subprocess.run(
        [tmp_path / "make", "-C", str(SOURCE), f"TARGET={tmp_path / 'out'}", "PYTHON=false"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done
    assert "SKIPPED the stack quiche: BoringSSL needs cmake" in done.stdout
