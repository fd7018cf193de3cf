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
from thalweg.foreign.reading.credit import Credit

from .logs import FORMS, FUZZ, logged, read_or_refuse, traced

Json = Any
ROWS = ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"]
STACKS = sorted((Path(__file__).parent / "stacks").glob("*.gz"))
"""What public stacks have written."""
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dialect", writers.DIALECTS)
def test_every_dialect_gives_the_packets_of_the_trace_in_every_form(
    tmp_path: Path, dialect: str, form: str
) -> None:
    (view,) = _read(tmp_path, FORMS[form](writers.DIALECTS[dialect](logged())), form)
    packets = traced()[0].packets
    sent = packets.filter(packets["event"] == "sent")
    assert view.name == "0a0b0c0d"
    assert view.is_sender
    assert view.end == ("unknown" if dialect == "quinn" else "server")
    assert view.sent_bytes.sum() == sent["size_bytes"].sum()
    times = sent["time_s"].to_numpy()
    assert np.allclose(np.diff(view.sent_s), np.diff(times), atol=2e-6)
    assert np.isfinite(view.lost_s).sum() == packets.filter(packets["event"] == "lost").height
    if dialect == "quinn":
        assert view.missing == ("acknowledgements", "the pacing rate", "which frames packets carry")
        return
    acked = packets.filter(packets["event"] == "acknowledged")
    # The first two are of the handshake.
    assert np.isfinite(view.acked_s).sum() == (acked["last_packet"] - acked["first_packet"] + 1).sum() - 2


@pytest.mark.parametrize("stack", STACKS)
def test_the_log_that_a_stack_has_written_is_read(stack: Path) -> None:
    """Downloads of 200 kB over the loopback interface: the packets of data are those that one finds by hand."""
    (view,) = read(stack)
    text = gzip.decompress(stack.read_bytes()).decode()
    assert view.is_sender
    assert 200_000 < view.bytes < 240_000
    assert np.isfinite(view.lost_s).sum() == text.count('packet_lost"')
    assert view.rtt
    assert view.window.values.min() >= 12_000
    if stack.name.startswith("quinn"):
        assert "acknowledgements" in view.missing
        return
    # The last acknowledgements may come after the end of the connection.
    assert view.sent_bytes[np.isfinite(view.acked_s)].sum() > 190_000
    assert view.offered.values[-1] == 200_000
    assert view.allowed


def test_the_limit_of_the_only_stream_holds_as_that_of_the_connection_does(tmp_path: Path) -> None:
    text = writers.quic_go(logged())
    of_stream = text.replace('"max_data", ', '"max_stream_data", "stream_id": 0, ')
    (view,), (other,) = _read(tmp_path, text), _read(tmp_path, of_stream)
    assert view.allowed
    at = np.linspace(0, view.duration_s, 1000)
    assert np.array_equal(view.allowed.at(at), other.allowed.at(at), equal_nan=True)


def test_the_tighter_of_all_limits_is_allowed_and_a_stream_that_is_over_holds_nothing() -> None:
    credit = Credit("server")
    credit.first(0.0, "initial_max_data", 1000)
    credit.first(0.0, "initial_max_stream_data_uni", 300)
    credit.first(0.0, "initial_max_stream_data_bidi_local", 200)
    credit.sent(1.0, "3", 100, False)  # its own, in one direction
    credit.sent(2.0, "0", 50, False)  # of the client, in both
    credit.sent(3.0, "3", 250, True)
    credit.stream(4.0, "0", 900)
    credit.sent(5.0, "0", 60, True)
    allowed, offered = credit.steps(0.0)
    # 300; 300 and 200; 250 are done, 200 go on; 250 and 900 are more than the connection has; no stream is left.
    assert list(zip(allowed.times_s, allowed.values, strict=True)) == [
        (0.0, 1000.0), (1.0, 300.0), (2.0, 500.0), (3.0, 450.0), (4.0, 1000.0),
    ]  # fmt: skip
    assert offered.values.tolist() == [100, 150, 300, 310]


def test_a_log_without_sizes_of_what_came_is_of_the_end_with_more_packets(tmp_path: Path) -> None:
    header = {"packet_type": "1RTT", "packet_number": 1}
    came = [{"time": n, "name": "transport:packet_received", "data": {"header": header}} for n in range(20)]
    sent = {"header": {**header, "length": 30}}
    trace = {"events": [*came, {"time": 20, "name": "transport:packet_sent", "data": sent}]}
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert view.vantage == "receiver"
    assert "sizes of packets" in view.missing


@pytest.mark.parametrize(
    "ranges", [[[0, 3]], [[0], [1], [2], [3]], [[0, 0], [1, 1], [2, 2], [3, 3]], [0, 1, 2, 3]]
)
def test_ranges_that_a_logger_splits_acknowledge_the_same_packets(tmp_path: Path, ranges: Json) -> None:
    trace = _trace_of("aa", "server", 4)
    frames = [{"frame_type": "ack", "acked_ranges": ranges}]
    data = {"header": {"packet_type": "1RTT", "packet_number": 0}, "raw": {"length": 40}, "frames": frames}
    trace["events"].append({"time": 50, "name": "transport:packet_received", "data": data})
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert np.isfinite(view.acked_s).tolist() == [True] * 4


@pytest.mark.parametrize("rtt", [333, 334])
def test_a_long_header_with_a_length_changes_no_unit_and_333_ms_are_a_round_trip(tmp_path: Path, rtt: int) -> None:
    """RFC 9000 section 17.2: long headers have a length; RFC 9002 section 6.2.2 assumes 333 ms at first."""
    trace = _trace_of("aa", "server", 4)
    early = {"header": {"packet_type": "0RTT", "packet_number": 9, "length": 1180}, "frames": []}
    trace["events"].insert(0, {"time": 0, "name": "transport:packet_sent", "data": early})
    for time in range(5, 9):
        measured = {"time": time, "name": "recovery:metrics_updated", "data": {"latest_rtt": rtt}}
        trace["events"].append(measured)
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert view.rtt.values == pytest.approx(rtt / 1e3)


def test_a_stream_that_began_before_the_parameters_came_has_their_limit() -> None:
    credit = Credit("client")
    credit.sent(0.0, "0", 100, False)
    credit.first(1.0, "initial_max_data", 1_000_000)
    credit.first(1.0, "initial_max_stream_data_bidi_remote", 1000)
    credit.sent(2.0, "0", 1000, True)
    credit.sent(3.0, "0", 2000, False)
    allowed, offered = credit.steps(0.0)
    assert allowed.at(np.array([1.5]))[0] == 1000
    assert offered.values.tolist() == [100, 1000]


def test_parameters_that_are_said_again_do_not_look_at_all_streams_again() -> None:
    """To look at all streams each time takes longer than the limit of a test, 300 s."""
    credit = Credit("client")
    for number in range(100_000):
        credit.sent(0.0, f"stream {number}", 1, False)
    for most in range(100_000):
        credit.first(1.0, "initial_max_stream_data_uni", most)
    allowed, _ = credit.steps(0.0)
    assert not allowed


def test_logs_are_limited_for_a_whole_file(tmp_path: Path) -> None:
    """Two headers with 6000 connections each: more than the 10 000 of one."""
    header = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": {}}
    lines = []
    for _ in range(2):
        lines += [header, *({"time": 0, "name": "x", "group_id": str(number)} for number in range(6000))]
    text = "".join(f"\x1e{json.dumps(line)}\n" for line in lines)
    with pytest.raises(RequestError, match="more than 10000 connections"):
        _read(tmp_path, text, "x.sqlog")


def test_packets_of_further_paths_are_left_out_and_said(tmp_path: Path) -> None:
    trace = _trace_of("aa", "server", 4)
    for place, event in enumerate(trace["events"]):
        event["data"]["header"]["path_id"] = place % 2
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert view.sent_s.size == 2
    assert "what went over further paths (multipath)" in view.missing


def test_nothing_counts_after_the_end_of_a_connection(tmp_path: Path) -> None:
    trace = _trace_of("aa", "server", 4)
    trace["events"][2]["data"]["frames"] = [{"frame_type": "connection_close"}]
    trace["events"].append({"time": 9000, "name": "recovery:metrics_updated", "data": {"bytes_in_flight": 0}})
    (view,) = _read(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert view.sent_s.size == 2
    assert view.duration_s == pytest.approx(0.002)


def test_joined_sequences_are_the_logs_of_each(tmp_path: Path) -> None:
    one = writers.quic_go(logged())
    other = one.replace("0a0b0c0d", "0e0f").replace('"server"', '"client"')
    views = _read(tmp_path, one + other, "x.sqlog")
    assert sorted((view.name, view.end) for view in views) == [("0a0b0c0d", "server"), ("0e0f", "client")]
    assert views[0].sent_s.size == views[1].sent_s.size


@pytest.mark.parametrize("dialect", ["quic-go", "quiche", "picoquic", "aioquic", "quinn", "noq", "newest"])
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
    with pytest.raises(RequestError, match=r"x\.qlog: line 5: a record is not JSON"):
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
