"""What the gate finds of changes of a library: some of the table of docs/how-to/gate.md, on two scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.cli import main

pytestmark = pytest.mark.soak

STACKS = Path(__file__).parents[2] / "target" / "stacks"
ONLY = ("--only", "simple-20mbps", "--only", "cubic-short")
CHANGES = [
    ("quinn", "cubic", "cubic:window=1.02", ()),
    ("quinn", "cubic", "cubic:window=0.98", ()),
    ("quiche", "cubic", "cubic:hystart=off", ()),
    ("quiche", "bbr2", "bbr2:pacing=0.95", ()),
    ("quiche", "bbr2", "bbr2:pacing=1.05", ()),
    ("ngtcp2", "cubic", "cubic", ("--set", "transport.max_ack_delay=20ms")),
]


@pytest.mark.parametrize(("library", "before", "after", "options"), CHANGES)
def test_an_unchanged_library_is_silent_and_a_changed_one_is_found(
    library: str, before: str, after: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    stack = STACKS / f"lib{library}.so"
    if not stack.exists():
        pytest.skip(f"NO STACK: {stack.name} is missing; `make stacks` builds it")
    gate = ["gate", "c4", *ONLY, "-n", "2", "--baseline", str(tmp_path / "b.json")]
    gate += ["--set", f"flow.main.stack={stack}"]
    assert main([*gate, "-c", f"main={before}", "--accept"]) == 0
    assert main([*gate, "-c", f"main={before}", "--strict"]) == 0
    assert main([*gate, "-c", f"main={after}", *options, "--strict"]) == 1
