"""`thalweg.FakeTransport`: our controllers, driven event by event, as unit tests and vectors of others do."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import thalweg
from thalweg import FakeTransport

VECTORS = Path(__file__).parents[1] / "reference" / "vectors"


def replay(file: Path) -> list[str]:
    """Plays a vector: at each time an event, and the window in packets that it leaves. What differs."""
    head, *lines = file.read_text().splitlines()
    options = dict(word.split("=", 1) for word in head.removeprefix("# ").split())
    mtu = int(options["mtu"])
    controller, window = options["controller"].replace(";", ","), int(options["packets"]) * mtu
    flow = FakeTransport(controller, mtu=mtu, initial_window=window)
    wrong = []
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        flow.advance(float(row["time_s"]) - flow.now)
        match row["event"].split():
            case ["fill"]:
                flow.fill_window()
            case ["ack", count]:
                flow.ack(flow.in_flight[: int(count)])
            case ["mark", count]:
                flow.ack(flow.in_flight[: int(count)], marked=int(count))
            case ["lose", place]:
                flow.lose(flow.in_flight[int(place)])
            case ["timeout", count]:
                flow.timeout(int(count))
            case ["persistent", place]:
                flow.lose(flow.in_flight[int(place)], persistent_congestion=True)
            case other:
                raise ValueError(f"{file.name}: no event {other}")
        packets = flow.window / mtu
        if abs(packets - float(row["window_packets"])) > 0.01 or flow.state != row["state"]:
            wrong.append(f"{row}: {packets:.3f}, {flow.state}")
    return wrong


@pytest.mark.parametrize("file", sorted(VECTORS.glob("*.csv")), ids=lambda file: file.stem)
def test_a_vector_leaves_the_windows_that_its_document_gives(file: Path) -> None:
    assert replay(file) == []


def test_a_vector_with_another_window_is_told(tmp_path: Path) -> None:
    text = (VECTORS / "reno-rfc9002.csv").read_text()
    (tmp_path / "wrong.csv").write_text(text.replace(",20,slow start", ",21,slow start"))
    assert len(replay(tmp_path / "wrong.csv")) == text.count(",20,slow start") > 0


def test_cubic_grows_along_the_curve_of_rfc_9438() -> None:
    # RFC 9438: a reduction of 1000 packets to 700; then W(t) = 0.4 (t - K)^3 + 1000, K = cbrt(300 / 0.4) = 9.09 s
    # (section 4.2). Each ACK moves the window towards what it is to be a round trip later (sections 4.4 and 4.5):
    # at the end of one of 100 ms it is between what the curve has before it and after it, but for a packet.
    flow = FakeTransport("cubic:start=classic,fast_convergence=off", mtu=1000, initial_window=1_000_000)
    flow.handshake(0.1)
    sent = flow.fill_window()
    flow.advance(0.1)
    flow.lose(sent[0])
    flow.ack(sent[1:])
    assert flow.window == 700_000
    began = None
    for _ in range(150):
        sent = flow.fill_window()
        flow.advance(0.1)
        began = flow.now if began is None else began
        for packet in sent:
            flow.ack([packet])
        before, after = (
            0.4 * (flow.now - began + span - (300 / 0.4) ** (1 / 3)) ** 3 + 1000 for span in (-0.1, 0.1)
        )
        assert before - 1 <= flow.window / 1000 <= after + 1
    assert flow.variables["w_max"] == 1_000_000


def test_it_shows_what_a_controller_decides_and_measures() -> None:
    flow = FakeTransport("bbr", mtu=1200, now=5.0)
    assert (flow.now, flow.window, flow.ecn, flow.state, flow.in_flight) == (5.0, 12_000, "none", "Startup", [])
    flow.handshake(0.04)
    sent = flow.send(3)
    assert (sent, flow.in_flight, flow.bytes_in_flight) == ([0, 1, 2], [0, 1, 2], 3600)
    flow.advance(0.04)
    flow.ack([0, 1], delivery_rate=20e6)
    assert (flow.smoothed_rtt, flow.in_flight) == (0.04, [2])
    assert (flow.pacing or 0) > 20e6
    assert flow.variables["max_bw"] == 20e6
    assert (flow.startup_done, flow.app_limited) == (False, False)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda flow: flow.ack([7]), "packet 7 is not in flight; accepted: 2 packets from 0 to 1"),
        (lambda flow: flow.lose(9), "packet 9 is not in flight"),
        (lambda flow: flow.ack([0], marked=2), "marked is 2; accepted: at most 1"),
        (lambda flow: flow.ack([0], delivery_rate=float("nan")), "delivery_rate is NaN"),
        (lambda flow: flow.advance(-1), "span is -1; accepted: seconds from 0"),
        (lambda flow: flow.spurious(5), "packet 5 has not been sent"),
        (lambda flow: flow.send(1_000_000), "1000000 packets; accepted: at most 100000 at once"),
        (lambda _: FakeTransport("cubik"), 'did you mean "cubic"'),
        (lambda _: FakeTransport("cubic", mtu=0), "mtu is 0; accepted: bytes from 1"),
        (lambda _: FakeTransport("cubic").timeout(), "send one before"),
    ],
)
def test_what_cannot_happen_is_refused(call: Callable[[FakeTransport], object], says: str) -> None:
    flow = FakeTransport("cubic")
    flow.send(2)
    with pytest.raises(ValueError, match=re.escape(says)):
        call(flow)


OURS = [str(entry["name"]) for entry in thalweg.controllers() if ":" not in str(entry["name"])]


@pytest.mark.parametrize("name", OURS)
def test_every_controller_of_ours_can_be_driven(name: str) -> None:
    flow = FakeTransport(name)
    flow.handshake(0.05)
    for _ in range(20):
        sent = flow.send(4)
        flow.advance(0.05)
        flow.ack(sent[:3], marked=1, delivery_rate=1e6)
        flow.lose(sent[3])
    flow.idle_restart()
    flow.spurious(3)
    assert flow.window > 0
