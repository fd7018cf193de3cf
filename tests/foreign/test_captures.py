"""Reading captures, iperf3 and our own traces."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.explain import writers
from thalweg.base.errors import RequestError
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.who import who
from thalweg.foreign.reading import read

from .logs import FUZZ, logged, read_or_refuse, traced

MAGIC = [b"\xd4\xc3\xb2\xa1", b"\x0a\x0d\x0d\x0a", b"PAR1", b"\x1f\x8b", b""]
KEYS = ["streams", "seconds", "bytes", "socket", "rtt", "snd_cwnd"]


@cache
def _capture(tmp: Path, count: int | None = None) -> bytes:
    writers.capture(logged()[:count], tmp, traced()[1])
    return tmp.read_bytes()


def test_a_capture_at_the_sender_has_its_packets_losses_and_receive_window(tmp_path: Path) -> None:
    _capture(tmp_path / "x.pcap")
    (view,) = read(tmp_path / "x.pcap")
    packets = traced()[0].packets
    assert view.name == "10.0.0.1:443-10.0.0.2:50000"
    assert view.source == "a capture of TCP, taken at the sender"
    assert view.sent_s.size == packets.filter(packets["event"] == "sent").height
    lost = packets.filter(packets["event"] == "lost").height
    # Nothing is lost in a capture before it is sent again: the last losses may be missing.
    assert lost - 3 <= np.isfinite(view.lost_s).sum() <= lost
    assert view.allowed
    left = view.allowed.at(view.offered.times_s) - view.offered.values
    # The writer does not know which packets carry no data of streams: a few.
    assert -8 * 1440 < np.nanmin(left) < 1440


@pytest.mark.parametrize("codepoint", [0, 2])
def test_controllers_that_require_ecn_are_named_only_where_packets_can_be_marked(
    tmp_path: Path, codepoint: int
) -> None:
    writers.capture(logged(), tmp_path / "x.pcap", traced()[1])
    data = bytearray((tmp_path / "x.pcap").read_bytes())
    at = 24
    while at < len(data):
        data[at + 17] |= codepoint
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
    (tmp_path / "x.pcap").write_bytes(data)
    (view,) = read(tmp_path / "x.pcap")
    assert view.is_ect is (codepoint == 2)
    tried = {one.controller for one in who(view, limits(view)).fits}
    assert ("dctcp" in tried, "prague" in tried, "reno" in tried) == (view.is_ect, view.is_ect, True)


def test_the_own_trace_has_the_same_packets_and_says_what_limited_them(tmp_path: Path) -> None:
    trace = traced()[0]
    for name in ("x.parquet", "x.csv"):
        trace.save(tmp_path / name)
        (view,) = read(tmp_path / name)
        assert view.sent_bytes.sum() == trace.packets.filter(trace.packets["event"] == "sent")["size_bytes"].sum()
        assert {by for _, by in view.limits} >= {"handshake", "window"}


def test_iperf3_has_rates_windows_and_retransmissions(tmp_path: Path) -> None:
    rows = [
        {"socket": 5, "start": begin, "end": begin + 1, "seconds": 1.0, "bytes": 1_250_000, "retransmits": 2,
         "snd_cwnd": 87_000, "rtt": 21_000}
        for begin in range(3)
    ]  # fmt: skip
    document = {"start": {"connected": []}, "intervals": [{"streams": [row]} for row in rows]}
    (tmp_path / "x.json").write_text(json.dumps(document))
    (view,) = read(tmp_path / "x.json")
    assert view.rates_bps.values.tolist() == [1e7] * 3
    assert view.said == {"bytes": 3_750_000, "retransmissions": 6}
    assert view.rtt.values.tolist() == [0.021] * 3


@pytest.mark.parametrize("length", [3, 4, 20, 24, 30])
def test_a_capture_without_packets_is_refused(tmp_path: Path, length: int) -> None:
    data = _capture(tmp_path / "x.pcap")
    (tmp_path / "x.pcap").write_bytes(data[:length])
    with pytest.raises(RequestError, match=r"x\.pcap"):
        read(tmp_path / "x.pcap")


@FUZZ
@given(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=8))
def test_damage_anywhere_in_a_capture_is_read_or_refused(tmp_path: Path, place: int, damage: bytes) -> None:
    file = tmp_path / "x.pcap"
    data = _capture(file, 150)
    place %= len(data)
    file.write_bytes(data[:place] + damage + data[place + len(damage) :])
    for view in read_or_refuse(file):
        assert np.isfinite(view.sent_s).all()


@FUZZ
@given(st.binary(max_size=300), st.sampled_from(MAGIC))
def test_any_bytes_are_refused_in_one_line(tmp_path: Path, data: bytes, magic: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(magic + data)
    with pytest.raises(RequestError) as refused:
        read(tmp_path / "x.bin")
    assert "\n" not in str(refused.value)


@FUZZ
@given(st.recursive(
    st.none() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=15,
))  # fmt: skip
def test_any_intervals_are_read_or_refused(tmp_path: Path, intervals: object) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"start": {"connected": []}, "intervals": intervals}))
    read_or_refuse(tmp_path / "x.json")
