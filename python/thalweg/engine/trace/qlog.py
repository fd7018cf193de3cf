"""A trace as qlog, the log format of QUIC.

- `.sqlog`: the current drafts. A JSON text sequence (draft-ietf-quic-qlog-main-schema, section 5) with the
  events of draft-ietf-quic-qlog-quic-events; the name of the flow is the `group_id`.
- `.qlog`: the older form that qvis reads (`qlog_version` 0.3, one JSON document, a trace for each flow), with
  the older names of the same events.

Events, all seen from the sender of the data: congestion state, recovery metrics, packets sent and lost, and
acknowledgements received, as ranges of packet numbers that were not acknowledged before. Drops on links, packets
that a link held back and frames of calls are events of our own: `thalweg:drop`, `thalweg:held_back` and
`thalweg:frame`, whose time is that at which the frame was due. Times and RTTs are milliseconds, as qlog has them.

Limits: packets of the handshake, packets that carry only an acknowledgement, and the frames of data packets are
not recorded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import polars as pl

from thalweg import _native

if TYPE_CHECKING:
    from thalweg.engine.trace import Trace

Vantage: TypeAlias = Literal["client", "server"]
"""The vantage point of the log: the sender of the data."""

METRICS = {
    "smoothed_rtt_s": ("smoothed_rtt", 1e3),
    "latest_rtt_s": ("latest_rtt", 1e3),
    "window_bytes": ("congestion_window", 1),
    "in_flight_bytes": ("bytes_in_flight", 1),
    "pacing_bps": ("pacing_rate", 1),
}
"""Our columns, their names in qlog, and the factor between: qlog counts milliseconds, and all else in integers."""

_DRAFT = 12
"""The draft of ietf-quic-qlog-quic-events: until it is an RFC, its schema is named by this (section 2.1)."""

_OURS = ("drop", "held_back", "frame")
"""Events that no draft has."""

_OLDER_NAMES = {
    "quic:packet_sent": "transport:packet_sent",
    "quic:packet_received": "transport:packet_received",
    "quic:packet_lost": "recovery:packet_lost",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
    "quic:congestion_state_updated": "recovery:congestion_state_updated",
}


class Event(NamedTuple):
    """One event of qlog."""

    time_ms: float
    flow: str
    name: str
    data: dict[str, Any]


def write_sequence(trace: Trace, file: Path, vantage: Vantage = "server") -> None:
    """Writes `.sqlog`. Raises OSError."""
    header = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": f"thalweg {_native.version()}",
        "trace": {
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            },
            "vantage_point": {"type": vantage},
            "event_schemas": [
                f"urn:ietf:params:qlog:events:quic-{_DRAFT}",
                *(f"urn:thalweg:qlog:{name}" for name in _OURS),
            ],
        },
    }
    with file.open("w", encoding="utf-8") as out:
        # RFC 7464: every record of a JSON text sequence starts with RS and ends with LF.
        out.write(f"\x1e{json.dumps(header)}\n")
        for event in events(trace):
            record = {"time": event.time_ms, "group_id": event.flow, "name": event.name, "data": event.data}
            out.write(f"\x1e{json.dumps(record, allow_nan=False)}\n")


def write_for_qvis(trace: Trace, file: Path, vantage: Vantage = "server") -> None:
    """Writes `.qlog`. Raises OSError."""
    traces: dict[str, list[dict[str, Any]]] = {}
    for event in events(trace):
        name = _OLDER_NAMES.get(event.name, event.name)
        record = {"time": event.time_ms, "name": name, "data": event.data}
        traces.setdefault(event.flow, []).append(record)
    document = {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": f"thalweg {_native.version()}",
        "traces": [
            {
                "title": flow,
                "vantage_point": {"name": flow, "type": vantage},
                "common_fields": {"ODCID": flow, "time_format": "absolute", "reference_time": 0},
                "events": records,
            }
            for flow, records in traces.items()
        ],
    }
    with file.open("w", encoding="utf-8") as out:
        json.dump(document, out, allow_nan=False)
        out.write("\n")


def events(trace: Trace) -> Iterator[Event]:
    """All events of a trace in the order of time."""
    parts = {
        "sample": trace.flows,
        "drop": trace.drops,
        "held": trace.held,
        "frame": trace.frames,
        "packet": trace.packets,
    }
    named = [part.select(pl.lit(kind).alias("kind"), pl.all()) for kind, part in parts.items()]
    # What became of a packet comes before the sample that it changed.
    named.reverse()
    rows = pl.concat(named, how="diagonal_relaxed").sort("time_s", maintain_order=True)
    metrics: dict[str, dict[str, Any]] = {}
    states: dict[str, str] = {}
    ranges: list[list[int]] = []
    pending: Mapping[str, Any] | None = None
    for row in rows.iter_rows(named=True):
        acknowledged = row["kind"] == "packet" and row["event"] == "acknowledged"
        if pending and not (acknowledged and (row["flow"], row["time_s"]) == (pending["flow"], pending["time_s"])):
            yield _received(pending, ranges)
            pending, ranges = None, []
        if acknowledged:
            ranges.append([row["first_packet"], row["last_packet"]])
            pending = row
        elif row["kind"] == "packet":
            yield _packet(row)
        elif row["kind"] == "drop":
            yield _event(row, "thalweg:drop", {"link": row["link"], "reason": row["reason"]})
        elif row["kind"] == "held":
            yield _event(row, "thalweg:held_back", {"link": row["link"], "held": row["held_s"] * 1e3})
        elif row["kind"] == "frame":
            yield _frame(row)
        else:
            yield from _sample(row, metrics.setdefault(row["flow"], {}), states)
    if pending:
        yield _received(pending, ranges)


def _event(row: Mapping[str, Any], name: str, data: dict[str, Any]) -> Event:
    return Event(round(row["time_s"] * 1e3, 6), row["flow"], name, data)


def _packet(row: Mapping[str, Any]) -> Event:
    header = {"packet_type": "1RTT", "packet_number": row["first_packet"]}
    if row["event"] == "lost":
        return _event(row, "quic:packet_lost", {"header": header})
    return _event(row, "quic:packet_sent", {"header": header, "raw": {"length": row["size_bytes"]}})


def _frame(row: Mapping[str, Any]) -> Event:
    """A frame that was due; without a delay, it never arrived."""
    delay = row["delay_s"]
    arrived = {} if math.isnan(delay) else {"delay": delay * 1e3, "late": delay > row["deadline_s"]}
    return _event(row, "thalweg:frame", {"stream": row["stream"], "deadline": row["deadline_s"] * 1e3, **arrived})


def _received(row: Mapping[str, Any], ranges: list[list[int]]) -> Event:
    frame = {"frame_type": "ack", "acked_ranges": sorted(ranges)}
    return _event(row, "quic:packet_received", {"header": {"packet_type": "1RTT"}, "frames": [frame]})


def _sample(row: Mapping[str, Any], before: dict[str, Any], states: dict[str, str]) -> Iterator[Event]:
    flow, state = row["flow"], row["state"]
    if state != states.get(flow):
        change = {"old": states[flow], "new": state} if flow in states else {"new": state}
        yield _event(row, "quic:congestion_state_updated", change)
        states[flow] = state
    values = {
        name: row[column] * factor if name.endswith("rtt") else math.floor(row[column] + 0.5)
        for column, (name, factor) in METRICS.items()
        if row.get(column) is not None and math.isfinite(row[column])
    }
    changed = {name: value for name, value in values.items() if before.get(name) != value}
    if changed:
        before.update(changed)
        yield _event(row, "quic:recovery_metrics_updated", changed)
