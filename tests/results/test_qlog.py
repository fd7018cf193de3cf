"""Our qlog, judged by a reader that others wrote: the crate `qlog` 0.18, of the drafts -13 and -12.

The crate passes over what it cannot read, so its counts are set against those of the file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from thalweg import Scenario

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
READER = ROOT / "tests" / "readers" / "qlog"


@pytest.fixture(scope="module")
def reader() -> Path:
    """The program that reads a file with the crate."""
    if shutil.which("cargo") is None:
        pytest.skip("SKIPPED: a reader of qlog is built with cargo, which is not here")
    target = ROOT / "target" / "readers"
    command = ["cargo", "build", "--quiet", "--locked", "--manifest-path", str(READER / "Cargo.toml")]
    built = subprocess.run(
        command, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return target / "debug" / "read-qlog"


@pytest.mark.parametrize(
    ("scenario", "stack"), [("c4/media-10mbps", None), ("c4/wifi-fade", None), ("c4/simple-20mbps", "quic")]
)
def test_a_reader_of_others_understands_every_event(
    scenario: str, stack: str | None, reader: Path, tmp_path: Path
) -> None:
    trace = Scenario.load(scenario, stack=stack).run(1, trace=True).trace
    assert trace is not None
    file = tmp_path / "trace.sqlog"
    trace.save(file)
    read = subprocess.run([reader, file], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    found: dict[str, Any] = json.loads(read.stdout)
    header, *events = (json.loads(record) for record in file.read_text(encoding="utf-8").split("\x1e")[1:])
    assert found["counts"] == Counter(event["name"] for event in events)
    assert {"quic:packet_sent", "quic:packet_received", "quic:recovery_metrics_updated"} <= found["counts"].keys()
    assert found["last"] == pytest.approx(events[-1]["time"])
    trace_of = found["header"]["trace"]
    assert trace_of["event_schemas"] == header["trace"]["event_schemas"]
    assert "urn:ietf:params:qlog:events:quic-12" in trace_of["event_schemas"]
    # A clock that does not count from 1970 has no known epoch.
    assert trace_of["common_fields"]["reference_time"] == {"clock_type": "monotonic", "epoch": "unknown"}
    # Lengths are those of `raw`, and a later name of the same thing is not ours.
    sent = next(event for event in events if event["name"] == "quic:packet_sent")
    assert sent["data"]["raw"]["length"] > 0
    assert not any("path" in event for event in events)
