"""Reading qlog: dialects, times, several connections, and files that are damaged."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.explain import writers
from thalweg.base.errors import RequestError
from thalweg.foreign.reading import View, read

from .logs import FUZZ, logged, read_or_refuse, traced

Json = Any
ROWS = ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"]
NO_LOGS = [
    "",
    "{}",
    "[]",
    "\x1e",
    "[" * 100_000,
    '{"traces": 3}',
    '{"qlog_version": "0.3", "traces": [1, null]}',
    "title = 3",
    '{"traces": [{"events": [1e999, NaN, {}]}]}',
]


def _read(tmp_path: Path, text: str | bytes, name: str = "x.qlog") -> list[View]:
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(file)


@pytest.mark.parametrize("dialect", writers.DIALECTS)
def test_every_dialect_gives_the_packets_of_the_trace(tmp_path: Path, dialect: str) -> None:
    (view,) = _read(tmp_path, writers.DIALECTS[dialect](logged()))
    packets = traced()[0].packets
    sent = packets.filter(packets["event"] == "sent")
    assert view.name == "0a0b0c0d"
    assert view.is_sender
    assert view.end == "server"
    assert view.sent_bytes.sum() == sent["size_bytes"].sum()
    times = sent["time_s"].to_numpy()
    assert np.allclose(np.diff(view.sent_s), np.diff(times), atol=2e-6)
    assert np.isfinite(view.lost_s).sum() == packets.filter(packets["event"] == "lost").height
    acked = packets.filter(packets["event"] == "acknowledged")
    # The first two are of the handshake.
    assert np.isfinite(view.acked_s).sum() == (acked["last_packet"] - acked["first_packet"] + 1).sum() - 2


@pytest.mark.parametrize("dialect", ["quic-go", "quiche", "picoquic", "aioquic", "newest"])
def test_windows_and_round_trips_have_the_units_of_the_dialect(tmp_path: Path, dialect: str) -> None:
    (view,) = _read(tmp_path, writers.DIALECTS[dialect](logged()))
    flows = traced()[0].flows
    windows = flows["window_bytes"].to_numpy()
    assert set(view.window.values) <= set(windows.astype(float))
    assert view.rtt.values.min() == pytest.approx(flows["latest_rtt_s"].drop_nans().min(), rel=0.05)


def test_a_log_in_microseconds_has_round_trips_in_microseconds_too(tmp_path: Path) -> None:
    metrics = [[46000, "recovery", "metrics_updated", {"cwnd": 30720, "latest_rtt": 46000}]]
    trace = {
        "configuration": {"time_units": "us"},
        "events": metrics,
        "event_fields": ROWS,
    }
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "draft-00", "traces": [trace]}))
    assert view.rtt.values.tolist() == [0.046]
    assert view.window.values.tolist() == [30720]
    assert "packets sent" in view.missing


def test_gzip_is_unpacked_and_what_is_missing_is_named(tmp_path: Path) -> None:
    (view,) = _read(tmp_path, gzip.compress(writers.quic_go(logged()).encode()), "x.sqlog.gz")
    assert view.missing == ("the pacing rate",)


def _packet(number: int) -> Json:
    return {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200}}


def _trace_of(name: str, end: str, count: int) -> Json:
    events = [
        {
            "time": number,
            "name": "transport:packet_sent",
            "data": {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200}},
        }
        for number in range(count)
    ]
    return {"common_fields": {"ODCID": name}, "vantage_point": {"type": end}, "events": events}


def test_connections_and_ends_are_told_apart_the_largest_first(tmp_path: Path) -> None:
    traces = [_trace_of("aa", "client", 3), _trace_of("aa", "server", 9), _trace_of("bb", "server", 5)]
    views = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": traces}))
    assert [(view.name, view.end, view.sent_s.size) for view in views] == [
        ("aa/server", "server", 9),
        ("bb", "server", 5),
        ("aa/client", "client", 3),
    ]


def test_a_log_of_the_receiver_has_arrivals_and_says_so(tmp_path: Path) -> None:
    events = [
        {
            "time": number,
            "name": "transport:packet_received",
            "data": {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200}},
        }
        for number in range(20)
    ]
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [{"events": events}]}))
    assert not view.is_sender
    assert view.bytes == 20 * 1200
    assert view.missing == ("what its sender knew: the log is of the receiver",)


def test_a_lost_packet_that_is_acknowledged_later_is_spurious(tmp_path: Path) -> None:
    trace = _trace_of("aa", "server", 4)
    header = {"packet_type": "1RTT", "packet_number": 1}
    ranges = [{"frame_type": "ack", "acked_ranges": [[0, 3]]}]
    trace["events"] += [
        {"time": 30, "name": "recovery:packet_lost", "data": {"header": header}},
        {
            "time": 40,
            "name": "transport:packet_received",
            "data": {"header": {"packet_type": "1RTT"}, "frames": ranges},
        },
    ]
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert view.is_spurious.tolist() == [False, True, False, False]


def test_a_last_record_that_is_cut_off_is_named_and_one_before_is_refused(tmp_path: Path) -> None:
    text = writers.quic_go(logged())
    (view,) = _read(tmp_path, text[:-20])
    assert "what comes after its last record, which is cut off" in view.missing
    lines = text.split("\n")
    lines[4] = lines[4][:30]
    with pytest.raises(RequestError, match=r"x\.qlog: line 5: a record is no JSON"):
        _read(tmp_path, "\n".join(lines))


def test_a_document_that_is_cut_off_is_refused_with_its_place(tmp_path: Path) -> None:
    text = writers.picoquic(logged())
    with pytest.raises(RequestError, match=r"x\.qlog: line 1, column \d+: it is (cut off|no JSON)"):
        _read(tmp_path, text[: len(text) // 2])


@pytest.mark.parametrize("text", NO_LOGS)
def test_what_is_no_log_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(RequestError) as refused:
        _read(tmp_path, text)
    assert "\n" not in str(refused.value)
    assert "x.qlog" in str(refused.value)


_NAMES = """time name data header packet_number frames acked_ranges raw length group_id packet_type ack 1RTT cwnd
    transport:packet_sent transport:packet_received recovery:packet_lost recovery:metrics_updated frame_type
    latest_rtt qlog_version traces events configuration time_units us"""
_WORDS = st.sampled_from(_NAMES.split())
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _WORDS


def _deeper(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=5)


_JSON: st.SearchStrategy[Json] = st.recursive(_LEAVES, _deeper, max_leaves=25)


@FUZZ
@given(st.lists(_JSON, max_size=8))
def test_any_events_are_read_or_refused(tmp_path: Path, events: list[Json]) -> None:
    trace = {"common_fields": {"ODCID": "aa"}, "events": events}
    (tmp_path / "x.qlog").write_text(json.dumps({"qlog_version": "0.3", "traces": [trace, *events]}))
    read_or_refuse(tmp_path / "x.qlog")


@FUZZ
@given(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=6), st.sampled_from(sorted(writers.DIALECTS)))
def test_damage_anywhere_is_read_or_refused(tmp_path: Path, place: int, damage: bytes, dialect: str) -> None:
    data = _short(dialect)
    place %= len(data)
    (tmp_path / "x.qlog").write_bytes(data[:place] + damage + data[place + len(damage) :])
    for view in read_or_refuse(tmp_path / "x.qlog"):
        assert np.isfinite(view.sent_s).all()


@cache
def _short(dialect: str) -> bytes:
    return writers.DIALECTS[dialect](logged()[:120]).encode()
