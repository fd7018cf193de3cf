"""The flow at a constant rate, beside others and against what would slow others down."""

from __future__ import annotations

import pytest

import thalweg


@pytest.mark.parametrize("stack", ["model", "quic"])
@pytest.mark.parametrize("mbps", [2, 12])
def test_an_unresponsive_flow_keeps_its_rate_beside_another(mbps: int, stack: str) -> None:
    trial = thalweg.Scenario.load(
        "c4/c4-background-first",
        {"sample": "1 s", "flow.*.stack": stack},
        {"main": "cubic", "background": f"cbr:rate={mbps}Mbps"},
    ).run(1)
    sent = trial.outcomes.series(0, "background").sent * 8 / 1e6
    # The first second has the handshake; headers are a few percent.
    assert sent[1:3].tolist() == pytest.approx([mbps] * 2, rel=0.05)


def test_neither_losses_nor_marks_nor_a_full_queue_slow_it_down() -> None:
    base = {"sample": "1 s", "path.rate": "10 Mbps"}
    for path in (
        {"path.loss": "30 %"},
        {"path.queue": "codel"},
        {"path.rate": "3 Mbps", "path.buffer": "10 packets"},
        {"path.rtt": "600 ms"},
    ):
        scenario = thalweg.Scenario.load("c4/simple-20mbps", {**base, **path}, {"main": "cbr:rate=4 Mbps"})
        sent = scenario.run(1).outcomes.series(0, "main").sent * 8 / 1e6
        assert sent[3:8].tolist() == pytest.approx([4] * 5, rel=0.05), path
