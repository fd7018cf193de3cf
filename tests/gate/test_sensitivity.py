"""What the gate finds of changes of a stack: the table of docs/how-to/gate.md, with one of its sets of seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thalweg.cli import main

Capture = pytest.CaptureFixture[str]
TWELVE = (
    *(
        "simple-*",
        "satellite",
        "low-and-up",
        "drop-and-back",
        "bad-wifi",
        "wifi-fade",
        "cubic-short",
        "cubic-long",
    ),
    *("short-to-long", "media-10mbps", "media-20s"),
)
ROWS = [
    ("main=cubic", (), 240, 0),
    ("main=cubic:beta=0.714", (), 44, 1),
    ("main=cubic:beta=0.72", (), 44, 1),
    ("main=cubic:start=classic", (), 125, 1),
    ("main=cubic", ("--set", "transport.max_ack_delay=20ms"), 20, 1),
]
"""Controller and options, the trials of 240 that stay identical, and the status."""


@pytest.mark.soak
def test_the_table_of_the_manual_is_what_the_gate_finds(tmp_path: Path, capsys: Capture) -> None:
    only = [word for name in TWELVE for word in ("--only", name)]
    gate = ["gate", "c4", *only, "--baseline", str(tmp_path / "b.json")]
    assert main([*gate, "-c", "main=cubic", "--accept"]) == 0
    found = []
    for controller, options, *_ in ROWS:
        capsys.readouterr()
        status = main([*gate, "-c", controller, *options, "--format", "json"])
        document = json.loads(capsys.readouterr().out)
        assert document["played"] == 240
        found.append((controller, options, document["identical"], status))
    assert found == ROWS
