"""What one end has logged of one connection in qlog, collected event by event, and the view of it.

Names of events and fields come from draft-ietf-quic-qlog-quic-events and its older versions, and from what
picoquic, quic-go, quiche, neqo, mvfst, aioquic, quinn, noq and lsquic write instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from thalweg.foreign.reading.credit import PARAMETERS, Credit
from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.packets import Packets
from thalweg.foreign.reading.view import NONE, Floats, Steps, View, steps, unread

_CLOSE = "connection_close"
"""After it both ends only wait (RFC 9000 section 10.2): the transfer is over."""
_ALONE = {"ack", "ack_ecn", "path_ack", "padding", _CLOSE}
"""Frames that elicit no acknowledgement (RFC 9000 section 13.2)."""
_BLOCKED = {"data_blocked", "stream_data_blocked"}
_METRICS = {
    "congestion_window": "window",
    "cwnd": "window",  # aioquic, picoquic
    "current_cwnd": "window",  # mvfst
    "bytes_in_flight": "in_flight",
    "pacing_rate": "pacing",
    "latest_rtt": "rtt",
}
_INITIAL_RTT_S = 0.333
"""RFC 9002 section 6.2.2."""
_OURS = {"application_limited": 1.0, "app_limited": 1.0}
_MOST = 1e15


def number(value: object) -> float:
    """A number that is written as one or as a text; NaN for anything else."""
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, str):
        try:
            value = float(value) if len(value) < 40 else math.nan
        except ValueError:
            return math.nan
    if isinstance(value, int | float) and -_MOST < value < 1e19:
        return float(value)
    return math.nan


@dataclass
class Log:
    """One end of one connection."""

    name: str
    end: str
    source: str
    unit: float
    """Seconds in a unit of its times, and of its round-trip times."""
    missing: list[str] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    """Names of events that say nothing here."""

    damage: DamageError | None = None
    """What made it unreadable."""

    def __post_init__(self) -> None:
        self._first, self._last = math.inf, -math.inf
        self._packets = Packets()
        self._arrived: list[tuple[float, int]] = []
        self._metrics: dict[str, tuple[list[float], list[float]]] = {}
        self._marks: tuple[list[float], list[float]] = ([], [])
        self._idle: tuple[list[float], list[float]] = ([], [])
        self._credit = Credit(self.end)
        self._blocked: list[float] = []
        self._states: list[tuple[float, str]] = []
        self._limits: list[tuple[float, str]] = []
        self._frames = False
        self._paths = False
        self._closed = math.inf
        self._rtt_unit = self.unit
        self._handshake = math.inf

    @property
    def has_packets(self) -> bool:
        """Whether anything is known of packets or of their metrics."""
        return bool(self._packets.count or self._arrived or self._metrics)

    def take(self, time: float, full: str, data: dict[str, Any]) -> None:
        """Takes one event."""
        if time > self._closed:
            return
        name = full.rpartition(":")[2].lower().removeprefix("recovery_")
        self._first, self._last = min(self._first, time), max(self._last, time)
        taker = _TAKERS.get(name)
        if taker is None:
            if len(self.unread) < 20:
                self.unread.add(name[:40])
        elif self.damage is None:
            try:
                taker(self, time, data)
            except DamageError as damage:
                self.damage = damage

    def _sent(self, time: float, data: dict[str, Any]) -> None:
        header = _table(data, "header")
        size = _size(data, header)
        if not _is_of_data(data, header):
            return
        packet = number(header.get("packet_number", data.get("packet_number")))
        if "length" in header and "raw" not in data and _is_short(data, header):
            # noq 1.3 (connection/qlog.rs), or quinn 0.11, whose RTTs are seconds (connection/paths.rs).
            if "path_id" in header:
                self._packets.ends_are_beyond = True
            else:
                self._rtt_unit = 1.0
        if number(header.get("path_id")) > 0:
            self._paths = True
            return
        frames = data.get("frames")
        if isinstance(frames, list) and frames:
            self._frames = True
            kinds = {str(frame.get("frame_type", "")).lower() for frame in frames if isinstance(frame, dict)}
            if _CLOSE in kinds:
                self._closed = time
            if kinds <= _ALONE:
                return
            if kinds & _BLOCKED:
                self._blocked.append(time)
            for frame in frames:
                if isinstance(frame, dict) and str(frame.get("frame_type", "")).lower() == "stream":
                    self._stream(time, frame)
        if packet == packet and packet >= 0:  # noqa: PLR0124 - not NaN
            self._packets.sent(time, int(packet), int(size) if size > 0 else 0)
            self._handshake = min(self._handshake, time)

    def _stream(self, time: float, frame: dict[str, Any]) -> None:
        """Bytes of streams that are sent for the first time count towards the limits of flow control."""
        raw = _table(frame, "raw")
        length = number(frame.get("length", raw.get("payload_length", raw.get("length"))))
        end = number(frame.get("offset")) + length
        if end == end:  # noqa: PLR0124 - not NaN
            self._credit.sent(time, _stream_of(frame), end, frame.get("fin") is True)

    def _received(self, time: float, data: dict[str, Any]) -> None:
        header = _table(data, "header")
        if not _is_of_data(data, header):
            return
        self._arrived.append((time, int(_size(data, header))))
        frames = data.get("frames")
        for frame in frames if isinstance(frames, list) else ():
            if not isinstance(frame, dict):
                continue
            kind = str(frame.get("frame_type", "")).lower()
            if kind in ("ack", "ack_ecn") or (kind == "path_ack" and number(frame.get("path_id")) == 0):
                self._ack(time, frame)
            elif kind == _CLOSE:
                self._closed = time
            elif kind == "max_data":
                self._credit.connection(time, number(frame.get("maximum", frame.get("maximum_data"))))
            elif kind == "max_stream_data":
                most = number(frame.get("maximum", frame.get("maximum_data")))
                self._credit.stream(time, _stream_of(frame), most)

    def _ack(self, time: float, frame: dict[str, Any]) -> None:
        ranges = frame.get("acked_ranges")
        found = []
        for one in ranges if isinstance(ranges, list) else ():
            pair = (one[0], one[-1]) if isinstance(one, list) and one else (one, one)
            first, last = number(pair[0]), number(pair[1])
            if 0 <= first <= last:
                found.append((int(first), int(last)))
        # No range begins right behind another one (RFC 9000 section 19.3.1), unless a logger splits ranges down to
        # single packets. A range whose end is one too far has two packets or more.
        whole = [one for one in sorted(found) if one[0] < one[1]]
        if any(one[1] + 1 == other[0] for one, other in pairwise(whole)):
            self._packets.ends_are_beyond = True
        self._packets.acknowledged(time, found)
        marks = number(frame.get("ce", frame.get("ecn_ce")))
        if marks > 0:
            self._marks[0].append(time)
            self._marks[1].append(marks)

    def _packet_ack(self, time: float, data: dict[str, Any]) -> None:
        """One packet, as mvfst has it."""
        packet = number(data.get("packet_num", data.get("packet_number")))
        if packet >= 0 and str(data.get("packet_num_space", "AppData")).lower() in (
            "appdata",
            "application_data",
            "2",
        ):
            self._packets.acknowledged(time, [(int(packet), int(packet))])

    def _lost(self, time: float, data: dict[str, Any]) -> None:
        header = _table(data, "header")
        packet = number(header.get("packet_number", data.get("packet_number")))
        if packet >= 0 and _is_of_data(data, header) and not number(header.get("path_id")) > 0:
            self._packets.lost(time, int(packet))

    def _packets_lost(self, time: float, data: dict[str, Any]) -> None:
        """The largest number, and how many, as mvfst has it."""
        largest, count = number(data.get("largest_lost_packet_num")), number(data.get("lost_packets"))
        if largest >= 0 and count > 0:
            self._packets.lost_some(time, int(largest), int(min(count, 1e6)))

    def _updated(self, time: float, data: dict[str, Any]) -> None:
        if number(data.get("path_id")) > 0:
            return
        for key, value in data.items():
            name = _METRICS.get(key)
            found = number(value)
            if name is None or not found >= 0:
                continue
            times, values = self._metrics.setdefault(name, ([], []))
            times.append(time)
            values.append(found)
        state = data.get("state")  # mvfst
        if isinstance(state, str):
            self._state(time, {"new": state})

    def _state(self, time: float, data: dict[str, Any]) -> None:
        state = str(data.get("new", data.get("congestion_state", "")))[:40]
        if not state or (self._states and self._states[-1][1] == state):
            return
        self._states.append((time, state))
        if state.lower() in _OURS or self._idle[0]:
            self._idle[0].append(time)
            self._idle[1].append(_OURS.get(state.lower(), 0.0))

    def _app_limited(self, time: float, data: dict[str, Any]) -> None:
        """Whether the application lacks data, as mvfst has it."""
        value = data.get("app_limited", data.get("idle"))
        self._idle[0].append(time)
        self._idle[1].append(float(value in ("app_limited", True, "true", 1)))

    def _parameters(self, time: float, data: dict[str, Any]) -> None:
        """What the peer allows at first."""
        if str(data.get("owner", data.get("initiator", ""))).lower() in ("remote", ""):
            for name in PARAMETERS:
                self._credit.first(time, name, number(data.get(name)))

    def _limit(self, time: float, data: dict[str, Any]) -> None:
        """What limits the sender, as our logs may have it."""
        self._limits.append((time, str(data.get("by", ""))[:20]))

    def view(self) -> View:
        """All of it, in the order of time."""
        if self.damage is not None:
            return unread(self.name, self.source, self.damage)
        begin = self._first if math.isfinite(self._first) else 0.0
        table = self._packets.table(begin)
        arrived = sorted(self._arrived)
        arrived_s = np.asarray([time - begin for time, _ in arrived], float)
        arrived_bytes = np.asarray([size for _, size in arrived], np.int64)
        sent, came = int(table.sizes.sum()), int(arrived_bytes.sum())
        is_sender = sent >= came if came else table.sent_s.size >= arrived_s.size
        metrics = {name: _since(values, begin) for name, values in self._metrics.items()}
        if "rtt" in metrics:
            metrics["rtt"] = self._measured(metrics["rtt"])
        rtt = table.rtt if table.rtt else metrics.get("rtt", NONE)
        allowed, offered = self._credit.steps(begin)
        sender: dict[str, Any]
        if is_sender:
            sender = {
                "sent_s": table.sent_s,
                "sent_bytes": table.sizes,
                "acked_s": table.acked_s,
                "acked_by": table.acked_by,
                "lost_s": table.lost_s,
                "marks": _since(self._marks, begin),
                "rtt": rtt,
                "window": metrics.get("window", NONE),
                "in_flight": metrics.get("in_flight", NONE),
                "pacing_bps": metrics.get("pacing", NONE),
                "allowed": allowed,
                "offered": offered,
                "blocked_s": np.asarray(sorted(self._blocked), float) - begin,
                "idle": _since(self._idle, begin),
                "limits": tuple((time - begin, by) for time, by in sorted(self._limits)),
                "states": tuple((time - begin, state) for time, state in sorted(self._states)),
            }
        else:
            sender = {"arrived_s": arrived_s, "arrived_bytes": arrived_bytes, "rtt": metrics.get("rtt", rtt)}
        missing = [*self.missing, *self._lacks(is_sender, table.acked_s, metrics)]
        return View(
            name=self.name,
            vantage="sender" if is_sender else "receiver",
            source=self.source,
            duration_s=max(0.0, self._last - begin),
            end=self.end,
            handshake_s=max(0.0, self._handshake - begin) if is_sender else math.nan,
            missing=tuple(missing),
            **sender,
        )

    def _measured(self, logged: Steps) -> Steps:
        """Round-trip times in seconds, without the one that is assumed until another is measured."""
        values = logged.values * self._rtt_unit
        measured = np.flatnonzero(np.abs(values - _INITIAL_RTT_S) > 1e-6)
        begin = int(measured[0]) if measured.size else 0
        return Steps(logged.times_s[begin:], values[begin:])

    def _lacks(self, is_sender: bool, acked: Floats, metrics: dict[str, Steps]) -> list[str]:
        """What an answer needs and the log does not say."""
        if not is_sender:
            unsized = [] if any(size for _, size in self._arrived) else ["sizes of packets"]
            return ["what its sender knew: the log is of the receiver", *unsized]
        lacks = {
            "sizes of packets": self._packets.count and not self._packets.has_sizes,
            "packets sent": not self._packets.count,
            "acknowledgements": not np.isfinite(acked).any(),
            "packets declared lost": not self._packets.has_losses and _has_gaps(acked),
            "the congestion window": "window" not in metrics,
            "the pacing rate": "pacing" not in metrics,
            "which frames packets carry": not self._frames,
            "what went over further paths (multipath)": self._paths,
        }
        return [what for what, lack in lacks.items() if lack]


def _has_gaps(acked: Floats) -> bool:
    """Whether packets were not acknowledged although later ones were."""
    known = np.flatnonzero(np.isfinite(acked))
    return known.size > 0 and bool(np.isnan(acked[: known[-1]]).any())


def _since(values: tuple[list[float], list[float]], begin: float) -> Steps:
    return steps([time - begin for time in values[0]], values[1])


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _is_of_data(data: dict[str, Any], header: dict[str, Any]) -> bool:
    """Packets of the handshake have numbers of their own."""
    return _kind(data, header) in ("", "0RTT", "ZERORTT") or _is_short(data, header)


def _is_short(data: dict[str, Any], header: dict[str, Any]) -> bool:
    """Whether a packet has a short header, which has no length (RFC 9000 section 17.3.1)."""
    return _kind(data, header) in ("1RTT", "ONERTT", "SHORT")


def _kind(data: dict[str, Any], header: dict[str, Any]) -> str:
    """The type of a packet, in capitals; empty where it is not said."""
    kind = header.get("packet_type", data.get("packet_type", data.get("type", header.get("type"))))
    return "" if kind is None else str(kind).replace("_", "").upper()


def _stream_of(frame: dict[str, Any]) -> str:
    return str(frame.get("stream_id", frame.get("id", "")))[:40]


def _size(data: dict[str, Any], header: dict[str, Any]) -> float:
    raw = _table(data, "raw")
    for value in (
        raw.get("length"),
        header.get("packet_size"),
        data.get("packet_size"),
        header.get("length"),  # quinn, noq
        header.get("payload_length"),
    ):
        found = number(value)
        if 0 < found < 1e6:
            return found
    return 0.0


_TAKERS = {
    "packet_sent": Log._sent,
    "packet_received": Log._received,
    "packet_rx": Log._received,
    "packet_lost": Log._lost,
    "packets_lost": Log._packets_lost,
    "packet_ack": Log._packet_ack,
    "metrics_updated": Log._updated,
    "metric_update": Log._updated,
    "congestion_metric_update": Log._updated,
    "congestion_state_updated": Log._state,
    "app_limited_update": Log._app_limited,
    "app_idle_update": Log._app_limited,
    "parameters_set": Log._parameters,
    "transport_parameters_update": Log._parameters,
    "limited": Log._limit,
}
