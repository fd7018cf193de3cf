"""Logs that are odd, damaged or hostile: an answer or one line, soon and in bounded memory."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from thalweg.base.errors import RequestError
from thalweg.experiments.explain import account_of_file
from thalweg.foreign.reading import read

Event = dict[str, Any]


def _event(time: float, name: str, data: dict[str, Any]) -> Event:
    return {"time": time, "name": name, "data": data}


def _sent(time: float, number: int, size: int | None = 1200) -> Event:
    raw = {} if size is None else {"raw": {"length": size}}
    return _event(
        time, "transport:packet_sent", {"header": {"packet_type": "1RTT", "packet_number": number}, **raw}
    )


def _acked(time: float, number: int) -> Event:
    frames = [{"frame_type": "ack", "acked_ranges": [[number, number]]}]
    return _event(time, "transport:packet_received", {"header": {"packet_type": "1RTT"}, "frames": frames})


def _lost(time: float, number: int) -> Event:
    return _event(time, "recovery:packet_lost", {"header": {"packet_number": number}})


def _log(tmp_path: Path, events: list[Event], name: str = "") -> Path:
    file = tmp_path / "x.qlog"
    trace = {"vantage_point": {"type": "server"}, "common_fields": {"group_id": name}, "events": events}
    file.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    return file


def _exchange(rtt_ms: float, size: int | None = 1200) -> list[Event]:
    return [event for n in range(300) for event in (_sent(n, n, size), _acked(n + rtt_ms, n))]


@pytest.mark.parametrize(
    "events",
    [
        _exchange(0),
        [_sent(0, 0), _sent(0, 1), _acked(0, 0), _acked(0, 1)],
        [*_exchange(20), *(_lost(0, n) for n in range(0, 300, 3))],
        [event for n in range(300) for event in (_acked(n, n), _sent(n + 50, n))],
    ],
    ids=["answered at once", "all at once", "lost before they left", "answered before they left"],
)
def test_an_answer_that_is_not_after_its_packet_does_no_harm(tmp_path: Path, events: list[Event]) -> None:
    found = account_of_file(_log(tmp_path, events))
    view = found.view
    assert not (view.acked_s < view.sent_s).any()
    assert not (view.lost_s < view.sent_s).any()
    assert found.sentences()


def test_a_limit_that_no_time_follows_or_nobody_knows_is_no_answer(tmp_path: Path) -> None:
    for by, time in (("window", 319), ("nonsense", 5)):
        events = [*_exchange(20), _event(time, "thalweg:limited", {"by": by})]
        held = account_of_file(_log(tmp_path, events)).held
        assert held is not None
        assert held.evidence == "the times of packets"


def test_a_log_without_sizes_says_what_follows_from_the_rest(tmp_path: Path) -> None:
    file = _log(tmp_path, _exchange(20, None))
    said = " ".join(account_of_file(file).sentences())
    assert "It sent 300 packets in 319 ms. Its RTT was 20 ms at least" in said
    assert "The file does not say: sizes of packets" in said
    for words in ("limited", "capacity", "overflow", "0 bps"):
        assert words not in said
    with pytest.raises(RequestError, match="no packets with sizes and acknowledgements"):
        account_of_file(file, None, "cubic")


def test_times_of_several_clocks_are_refused_with_their_span(tmp_path: Path) -> None:
    events = [_event(1.7e12, "transport:connection_started", {}), *_exchange(20)]
    with pytest.raises(RequestError, match=r"x\.qlog: ab: its times span 1\.7e\+09 s; accepted: at most 7 days"):
        read(_log(tmp_path, events, "ab"))


def test_a_trace_of_impossible_numbers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    head = "time_s,kind,flow,event,first_packet,last_packet,size_bytes\n"
    for time, size, what in (("1", -5, "size"), ("1", 2**62, "size"), ("nan", 9, "time"), ("inf", 9, "time")):
        file.write_text(head + f"0.0,packet,main,sent,0,,1200\n{time},packet,main,sent,1,,{size}\n")
        with pytest.raises(RequestError, match=what):
            read(file)


def test_rates_of_iperf3_are_finite(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    stream = {"socket": 5, "start": 0, "seconds": 1e-300, "bytes": 1e18}
    file.write_text(json.dumps({"start": {"connected": []}, "intervals": [{"streams": [stream]}]}))
    with pytest.raises(RequestError, match="it has no interval of a stream"):
        read(file)


def test_half_of_a_pair_of_surrogates_in_a_name_is_escaped(tmp_path: Path) -> None:
    (view,) = read(_log(tmp_path, _exchange(20), "\ud800"))
    assert view.name == "\\ud800"
    with pytest.raises(RequestError, match=r"only \\ud800"):
        read(_log(tmp_path, [_event(1, "\ud800", {})]))


@pytest.mark.timeout(60)
def test_a_file_of_many_traces_or_connections_is_read_in_proportion_to_them(tmp_path: Path) -> None:
    file = tmp_path / "x.qlog"
    file.write_text('{"traces":[' + ",".join(['{"events":[]}'] * 100_000) + "]}")
    with pytest.raises(RequestError, match="no event of packets"):
        read(file)
    events = [{**_sent(n, n), "group_id": str(n)} for n in range(9000)]
    assert len(read(_log(tmp_path, events))) == 9000


def _capture(mss: int, packets: int) -> bytes:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number in range(packets):
        option = struct.pack("!BBH", 2, 4, mss)
        header = struct.pack("!HHIIBBHHH", 1, 2, number * 60_000, 5, 6 << 4, 16, 65535, 0, 0)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 60_044, 0, 0, 64, 6, 0, b"\1\1\1\1", b"\2\2\2\2")
        frame = bytes(12) + b"\x08\0" + ip + header + option
        data += struct.pack("<IIII", 0, number * 1000, len(frame), 60_058) + frame
    return data


def test_a_tiny_mss_does_not_make_a_packet_of_every_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(_capture(1, 10))
    (view,) = read(file)
    assert view.sent_s.size < 60_000 * 10 / 60
    monkeypatch.setattr("thalweg.foreign.reading.tcp._MOST_PACKETS", 1000)
    with pytest.raises(RequestError, match="more than 1000 packets"):
        read(file)


def test_nothing_is_said_of_falls_of_a_window_that_nothing_explains(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    streams = [
        {"socket": 5, "start": n, "seconds": 1, "bytes": 1e6, "snd_cwnd": 50_000 * (1 + n % 3), "rtt": 20_000}
        for n in range(10)
    ]
    file.write_text(json.dumps({"start": {"connected": []}, "intervals": [{"streams": [one]} for one in streams]}))
    assert "never fell" not in " ".join(account_of_file(file).sentences())


def test_one_connection_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    good, bad = _exchange(20), [_event(1.7e12, "transport:connection_started", {}), *_exchange(20)]
    traces = [{"common_fields": {"ODCID": name}, "events": events} for name, events in (("aa", bad), ("bb", good))]
    file = tmp_path / "x.qlog"
    file.write_text(json.dumps({"qlog_version": "0.3", "traces": traces}))
    found = account_of_file(file)
    assert found.view.name == "bb"
    assert found.others == ()
    assert [one["flow"] for one in found.document()["unread"]] == ["aa"]
    assert "aa cannot be read: its times span 1.7e+09 s" in " ".join(found.sentences())
    with pytest.raises(RequestError, match="--flow 'aa': aa: its times span"):
        account_of_file(file, "aa")
