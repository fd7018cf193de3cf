"""A trace of ours as what others write: qlog in the dialects of stacks, and a capture of TCP.

Flow control is not in our traces: with a fixed receive window, limits are renewed as the receiver of the model
does it, after each sixteenth (`transport/src/stream/flow_control.rs`).
"""

from __future__ import annotations

import json
import math
import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.engine.trace import Trace

_HEADER = 30
"""Bytes of a packet that streams have no part of."""


class Entry(NamedTuple):
    """What happened at one instant: packets that were sent, acknowledged or lost, a sample, a limit."""

    time_s: float
    kind: str
    first: int = 0
    last: int = 0
    size: int = 0
    offset: int = -1
    """Where its data begins, if it is sent for the first time."""
    again: int = -1
    """The number of the packet that it repeats."""
    values: dict[str, float] | None = None


def entries(trace: Trace, flow: str, window: float = 0.0) -> list[Entry]:
    """The events of a flow in their order, with data and, if the receiver's window is fixed, its limits."""
    found: list[Entry] = []
    columns = ("time_s", "event", "first_packet", "last_packet", "size_bytes")
    sizes: dict[int, int] = {}
    lost: deque[int] = deque()
    offset, received = 0, 0
    renewed = window / 16
    if window:
        found.append(Entry(0.0, "allowed", size=int(window)))
    packets = trace.packets.filter(trace.packets["flow"] == flow)
    for time, event, first, last, size in packets.select(columns).iter_rows():
        if event == "sent":
            sizes[first] = size
            again = lost.popleft() if lost else -1
            found.append(Entry(time, "sent", first, first, size, -1 if again >= 0 else offset, again))
            offset += 0 if again >= 0 else size - _HEADER
        elif event == "lost":
            lost.append(first)
            found.append(Entry(time, "lost", first, first))
        else:
            found.append(Entry(time, "acked", first, last))
            received += sum(sizes.get(number, 0) - _HEADER for number in range(first, last + 1))
            if window and received >= renewed:
                renewed = received + window / 16
                found.append(Entry(time, "allowed", size=int(received + window)))
    samples = trace.flows.filter(trace.flows["flow"] == flow)
    names = ("time_s", "window_bytes", "in_flight_bytes", "latest_rtt_s", "smoothed_rtt_s", "pacing_bps")
    before: tuple[Any, ...] = ()
    for time, *values in samples.select(names).iter_rows():
        if tuple(values) != before:
            before = tuple(values)
            told = {name: one for name, one in zip(names[1:], values, strict=True) if one is not None}
            known = {name: one for name, one in told.items() if math.isfinite(one)}
            found.append(Entry(time, "metrics", values=known))
    return sorted(found, key=lambda entry: entry.time_s)


Event = tuple[float, str, dict[str, Any]]
"""Time, name and data."""


def qlog_events(found: list[Entry], unit: float, names: dict[str, str]) -> Iterator[Event]:
    """Events with time in `unit` seconds; `names`: those that a dialect has for our values."""
    acked: list[list[int]] = []
    for entry in found:
        time = entry.time_s / unit
        header = {"packet_type": "1RTT", "packet_number": entry.first}
        if entry.kind == "sent":
            frame: dict[str, Any] = {"frame_type": "stream", "stream_id": 0, "length": entry.size - _HEADER}
            frame["offset"] = max(entry.offset, 0)
            data = {"header": header, "raw": {"length": entry.size}, "frames": [frame]}
            yield time, "transport:packet_sent", data
        elif entry.kind == "lost":
            yield time, "recovery:packet_lost", {"header": header, "trigger": "reordering_threshold"}
        elif entry.kind == "acked":
            acked = _merged([*acked, [entry.first, entry.last]])[-32:]
            frames = [{"frame_type": "ack", "ack_delay": 0, "acked_ranges": acked[::-1]}]
            data = {"header": {"packet_type": "1RTT", "packet_number": 0}, "raw": {"length": 40}, "frames": frames}
            yield time, "transport:packet_received", data
        elif entry.kind == "allowed":
            frames = [{"frame_type": "max_data", "maximum": entry.size}]
            data = {"header": {"packet_type": "1RTT", "packet_number": 0}, "raw": {"length": 40}, "frames": frames}
            yield time, "transport:packet_received", data
        elif entry.values:
            scale = {"latest_rtt_s": 1 / unit, "smoothed_rtt_s": 1 / unit}
            told = {names[key]: one * scale.get(key, 1) for key, one in entry.values.items() if key in names}
            if told:
                yield time, "recovery:metrics_updated", told


def _merged(ranges: list[list[int]]) -> list[list[int]]:
    found: list[list[int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found


USUAL = {
    "window_bytes": "congestion_window",
    "in_flight_bytes": "bytes_in_flight",
    "latest_rtt_s": "latest_rtt",
    "smoothed_rtt_s": "smoothed_rtt",
}


_TRACE = {"vantage_point": {"type": "server"}, "common_fields": {"ODCID": "0a0b0c0d"}}


def _sequence(header: dict[str, Any], events: Iterator[Event], group: str = "") -> str:
    named = {"group_id": group} if group else {}
    lines = [header, *({"time": time, **named, "name": name, "data": data} for time, name, data in events)]
    return "".join(f"\x1e{json.dumps(line)}\n" for line in lines)


def quic_go(found: list[Entry]) -> str:
    """A JSON text sequence, ms, no pacing rate."""
    header = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "quic-go qlog", "trace": _TRACE}
    return _sequence(header, qlog_events(found, 1e-3, USUAL))


def quiche(found: list[Entry]) -> str:
    """As quic-go, with pacing; neqo writes the same."""
    header = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "quiche", "trace": _TRACE}
    return _sequence(header, qlog_events(found, 1e-3, {**USUAL, "pacing_bps": "pacing_rate"}))


def picoquic(found: list[Entry]) -> str:
    """Draft-00: rows, microseconds."""
    names = {"window_bytes": "cwnd", "in_flight_bytes": "bytes_in_flight", "latest_rtt_s": "latest_rtt",
             "smoothed_rtt_s": "smoothed_rtt", "pacing_bps": "pacing_rate"}  # fmt: skip
    rows = []
    for time, name, data in qlog_events(found, 1e-6, names):
        category, event = name.split(":")
        told = {key: round(one) if isinstance(one, float) else one for key, one in data.items()}
        if "raw" in data:
            header = {"packet_size": data["raw"]["length"], "packet_number": data["header"]["packet_number"]}
            told = {"packet_type": "1RTT", "header": header, "frames": data["frames"]}
        rows.append([round(time), category, event, told])
    trace = {
        "vantage_point": {"name": "backend-67", "type": "server"},
        "title": "picoquic",
        "description": "0a0b0c0d",
        "event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"],
        "configuration": {"time_units": "us"},
        "common_fields": {"protocol_type": "QUIC_HTTP3", "reference_time": "0"},
        "events": rows,
    }
    return json.dumps({"qlog_version": "draft-00", "title": "picoquic", "traces": [trace]})


def mvfst(found: list[Entry]) -> str:
    """Draft-00: rows, microseconds as texts, single acknowledgements, the largest number of what is lost."""
    rows: list[list[Any]] = []
    for entry in found:
        time = str(round(entry.time_s * 1e6))
        if entry.kind == "sent":
            header = {"packet_number": entry.first, "packet_size": entry.size}
            frame = {"frame_type": "stream", "id": "0", "offset": max(entry.offset, 0)}
            frames = [{**frame, "length": entry.size - _HEADER}]
            sent = {"header": header, "packet_type": "1RTT", "frames": frames}
            rows.append([time, "transport", "packet_sent", sent])
        elif entry.kind == "acked":
            for number in range(entry.first, entry.last + 1):
                data = {"packet_num_space": "AppData", "packet_num": number}
                rows.append([time, "transport", "packet_ack", data])
        elif entry.kind == "lost":
            data = {"largest_lost_packet_num": entry.first, "lost_bytes": 1, "lost_packets": 1}
            rows.append([time, "loss", "packets_lost", data])
        elif entry.values:
            window, flight = entry.values.get("window_bytes", 0), entry.values.get("in_flight_bytes", 0)
            data = {
                "bytes_in_flight": flight,
                "current_cwnd": window,
                "congestion_event": "cubic ack",
                "state": "",
            }
            rows.append([time, "metric_update", "congestion_metric_update", data])
    trace = {
        "vantage_point": {"name": "server", "type": "server"},
        "title": "mvfst qlog from single connection",
        "event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"],
        "configuration": {"time_offset": "0", "time_units": "us"},
        "common_fields": {"reference_time": "0", "dcid": "0a0b0c0d", "protocol_type": "QUIC_HTTP3"},
        "events": rows,
    }
    return json.dumps({"qlog_version": "draft-00", "title": "mvfst qlog", "traces": [trace]})


def aioquic(found: list[Entry]) -> str:
    """0.3 with absolute times in ms, `cwnd`."""
    names = {"window_bytes": "cwnd", "in_flight_bytes": "bytes_in_flight", "latest_rtt_s": "latest_rtt"}
    written = qlog_events(found, 1e-3, names)
    events = [{"time": 1.7e12 + time, "name": name, "data": data} for time, name, data in written]
    trace = {**_TRACE, "events": events, "vantage_point": {"name": "aioquic", "type": "server"}}
    return json.dumps({"qlog_format": "JSON", "qlog_version": "0.3", "traces": [trace]})


def quinn(found: list[Entry]) -> str:
    """As quinn-proto 0.11 writes it: sizes in the header, RTTs in seconds, neither frames nor a vantage point."""
    trace = {"vantage_point": {"type": "unknown"}, "configuration": {"time_offset": 0.0}}
    header = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": trace}

    def of_quinn() -> Iterator[Event]:
        for time, name, data in qlog_events(found, 1e-3, USUAL):
            told = data
            if "header" in data:
                size = {"length": data["raw"]["length"]} if name.endswith("packet_sent") else {}
                told = {"header": {**data["header"], **size}}
            seconds = {key: one / 1e3 for key, one in told.items() if key.endswith("_rtt")}
            yield time, name, {**told, **seconds}

    return _sequence(header, of_quinn(), "0a0b0c0d")


def noq(found: list[Entry]) -> str:
    """As noq 1.3 writes it: sizes in the header, lengths of frames in `raw`, ranges up to the number behind."""
    common = {"group_id": "0a0b0c0d"}
    header = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "JSON-SEQ",
        "trace": {"common_fields": common, "vantage_point": {"type": "server"}, "event_schemas": []},
    }

    def of_noq() -> Iterator[Event]:
        for time, name, data in qlog_events(found, 1e-3, {**USUAL, "pacing_bps": "pacing_rate"}):
            event = name.split(":")[1].replace("metrics_updated", "recovery_metrics_updated")
            told = {key: one for key, one in data.items() if key != "raw"}
            if "raw" in data:
                told["header"] = {**data["header"], "path_id": 0, "length": data["raw"]["length"]}
                told["frames"] = [_of_noq(frame) for frame in data["frames"]]
            yield time, f"quic:{event}", told

    return _sequence(header, of_noq())


def _of_noq(frame: dict[str, Any]) -> dict[str, Any]:
    told = {key: one for key, one in frame.items() if key != "length"}
    if "length" in frame:
        told["raw"] = {"length": frame["length"]}
    if "acked_ranges" in frame:
        told["acked_ranges"] = [[first, last + 1] for first, last in frame["acked_ranges"]]
    return told


def newest(found: list[Entry]) -> str:
    """The newest drafts: `quic:` names, times as differences."""
    common = {"time_format": "relative_to_previous_event", "group_id": "0a0b0c0d"}
    schemas = ["urn:ietf:params:qlog:events:quic-12"]
    header = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "trace": {"common_fields": common, "vantage_point": {"type": "server"}, "event_schemas": schemas},
    }

    def renamed() -> Iterator[Event]:
        before = 0.0
        for time, name, data in qlog_events(found, 1e-3, {**USUAL, "pacing_bps": "pacing_rate"}):
            event = name.split(":")[1].replace("metrics_updated", "recovery_metrics_updated")
            yield time - before, f"quic:{event}", data
            before = time

    return _sequence(header, renamed())


DIALECTS = {
    "quic-go": quic_go,
    "quiche": quiche,
    "picoquic": picoquic,
    "mvfst": mvfst,
    "aioquic": aioquic,
    "quinn": quinn,
    "noq": noq,
    "newest": newest,
}

_SERVER, _CLIENT = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
_MSS = 1448


def capture(found: list[Entry], file: Path, window: float = 0.0) -> None:
    """A capture of TCP at the sender: one segment for each packet, selective acknowledgements, timestamps.

    Packets keep their order; what a packet repeats has its place in the sequence.
    """
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 101))
        hello = [(2, struct.pack("!H", 1460)), (3, b"\x08")]
        first = next(entry.time_s for entry in found if entry.kind == "sent")
        _segment(out, 0.0, False, 0, 0, 2, 65535, [*hello, (8, struct.pack("!II", 1, 0))])
        _segment(out, 2e-5, True, 0, 1, 18, 65535, [*hello, (8, struct.pack("!II", 1, 1))])
        _segment(out, max(0.0, first - 1e-5), False, 1, 1, 16, 65535 >> 8, [(8, struct.pack("!II", 2, 1))])
        _write_data(out, found, window)


def _write_data(out: Any, found: list[Entry], window: float) -> None:
    place: dict[int, tuple[int, int]] = {}
    highest = 1
    gaps: list[list[int]] = []
    allowed = window
    for entry in found:
        stamp = int(entry.time_s * 1e3) + 1
        if entry.kind == "sent":
            if entry.again >= 0 and entry.again in place:
                start, size = place[entry.again]
            else:
                start, size = highest, entry.size - _HEADER
                highest += size
            place[entry.first] = (start, size)
            _segment(out, entry.time_s, True, start, 1, 16, 512, [(8, struct.pack("!II", stamp, stamp))], size)
        elif entry.kind == "allowed":
            allowed = entry.size
        elif entry.kind == "acked":
            spans = [place[number] for number in range(entry.first, entry.last + 1) if number in place]
            gaps = _spans(gaps + [[start, start + size] for start, size in spans])
            ack = gaps[0][1] if gaps and gaps[0][0] <= 1 else 1
            sacks = [one for one in gaps if one[0] > ack][-3:]
            most = (1 << 24) - 256 if not window else max(0, int(allowed + 1 - ack))
            options = [(8, struct.pack("!II", stamp, stamp))]
            if sacks:
                options.append((5, b"".join(struct.pack("!II", *one) for one in sacks)))
            _segment(out, entry.time_s, False, 1, ack, 16, min(most >> 8, 65535), options)


def _spans(spans: list[list[int]]) -> list[list[int]]:
    found: list[list[int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found


def _segment(
    out: Any,
    time: float,
    down: bool,
    seq: int,
    ack: int,
    flags: int,
    window: int,
    options: list[tuple[int, bytes]],
    size: int = 0,
) -> None:
    """One packet without its payload: the capture is of headers."""
    body = b"".join(bytes([kind, len(data) + 2]) + data for kind, data in options)
    body += b"\x01" * (-len(body) % 4)
    ports = (443, 50000) if down else (50000, 443)
    numbers = (seq & 0xFFFFFFFF, ack & 0xFFFFFFFF)
    tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, (20 + len(body)) // 4 << 4, flags, window, 0, 0) + body
    ends = (_SERVER, _CLIENT) if down else (_CLIENT, _SERVER)
    total = 20 + len(tcp) + size
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, total, 0, 0, 64, 6, 0, *ends)
    seconds = int(time)
    out.write(struct.pack("<IIII", seconds, int((time - seconds) * 1e9), len(ip + tcp), total))
    out.write(ip + tcp)
