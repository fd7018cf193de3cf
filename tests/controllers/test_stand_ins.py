"""The events that `thalweg check` makes up have every attribute of those of a trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.experiments.checking.sequences import check_sequences

CONTROLLER = """
import thalweg
from thalweg import _native

def look(kind, event):
    wanted = {name for name in vars(getattr(_native, kind)) if not name.startswith("_")}
    missing = sorted(name for name in wanted if not hasattr(event, name))
    assert not missing, f"{kind} has no {missing}"
    for name in wanted & {"ecn", "snapshot", "rate"}:
        part = getattr(event, name)
        if part is not None and not isinstance(part, float):
            look({"ecn": "EcnCounts", "snapshot": "Snapshot", "rate": "RateSample"}[name], part)

class Mine(thalweg.Controller):
    report_every = "1 rtt"

    def __init__(self, init):
        look("Init", init)
        self.window = init.initial_window
"""
EVENTS = {
    "on_ack": "Ack",
    "on_lost": "Lost",
    "on_sent": "Sent",
    "on_timeout": "Timeout",
    "on_spurious_loss": "SpuriousLoss",
    "on_ecn": "EcnCounts",
    "on_rtt": "RttSample",
    "on_report": "Report",
}


@pytest.mark.parametrize("handler", EVENTS)
def test_an_event_of_a_random_sequence_has_the_attributes_of_one_of_a_trial(
    handler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = f"    def {handler}(self, event, path):\n"
    looks = f"{head}        look({EVENTS[handler]!r}, event)\n        look('Path', path)\n"
    ack = "" if handler == "on_ack" else "    def on_ack(self, event, path):\n        pass\n"
    (tmp_path / "mine.py").write_text(CONTROLLER + looks + ack, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    broken = [found for found in check_sequences("./mine.py", n=5) if found]
    assert [found.what for found in broken] == []
