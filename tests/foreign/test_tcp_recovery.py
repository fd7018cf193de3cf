"""TCP repairs losses by rules of its own, which replay must not take for those of the controller."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.explain import writers
from pages.explain.paths import make
from thalweg.engine.scenario import Scenario
from thalweg.foreign.inference.recovery import recovers
from thalweg.foreign.inference.replay import FORGOTTEN, LOST, Script
from thalweg.foreign.reading import View, read
from thalweg.foreign.reading.view import steps

NAN = np.nan


def test_a_retransmission_that_is_lost_is_forgotten_and_any_other_packet_is_lost(tmp_path: Path) -> None:
    made = make("wired", 3, "cubic")
    changes = {"path.loss": "20 %", "time_limit": "12 s"}
    trace = Scenario.from_toml(made.text, made.kind, overrides=changes).run(1, trace=True).trace
    assert trace is not None
    found = writers.entries(trace, "main")
    writers.capture(found, tmp_path / "x.pcap")
    (view,) = read(tmp_path / "x.pcap")
    assert view.repeats.sum() == sum(entry.kind == "sent" and entry.again >= 0 for entry in found)
    script = Script.of(view, np.zeros(0))
    is_lost = np.isfinite(view.lost_s) & ~view.is_spurious
    # A fifth of the packets is lost, and a fifth of what is sent again.
    assert (script.kinds == FORGOTTEN).sum() == (is_lost & view.repeats).sum() > 5
    assert (script.kinds == LOST).sum() == (is_lost & ~view.repeats).sum() > 20


def test_recovery_lasts_from_the_first_loss_until_what_was_sent_again_is_acknowledged() -> None:
    # The second packet is known to be lost at 0.13 s, sent again at 0.15 s, and acknowledged at 0.25 s.
    view = View(
        "flow", "sender", "a capture of TCP", 0.5, "TCP",
        sent_s=np.array([0.0, 0.01, 0.12, 0.14, 0.15, 0.20, 0.26]),
        sent_bytes=np.full(7, 1448),
        acked_s=np.array([0.10, NAN, 0.22, 0.24, 0.25, 0.30, 0.36]),
        lost_s=np.array([NAN, 0.13, NAN, NAN, NAN, NAN, NAN]),
        repeats=np.array([False, False, False, False, True, False, False]),
        rtt=steps([0.1], [0.1]),
    )  # fmt: skip
    assert recovers(view).tolist() == [False, False, False, True, True, True, False]
    # A file that does not tell what was sent again has no recovery to leave out.
    assert not recovers(View("flow", "sender", "qlog", 0.5, sent_s=view.sent_s, lost_s=view.lost_s)).any()
