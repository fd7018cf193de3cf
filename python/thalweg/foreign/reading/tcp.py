"""A connection of TCP in a capture: what its sender knew, wherever the capture was taken.

A segment that is sent again is a packet of its own; the one before counts as lost from then on, and as spurious
where the acknowledgement came too soon to be of the second. Where the capture was
taken follows from the delays of the handshake, or of acknowledgements and echoes. At a distance from the sender,
times of sending come from its timestamps where it has them; a hole that is filled late was a lost packet.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

import numpy as np

from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.segments import Flow, Segment
from thalweg.foreign.reading.tcp_place import ACK, SYN, clock_of, mss_of, place_of
from thalweg.foreign.reading.view import Floats, View, steps

_SPURIOUS = 0.7
"""Share of the least round trip: what comes sooner after a retransmission acknowledges the first packet."""
_REORDERED = 0.5
"""Share of the round trip: what fills a hole within this time was reordered and not lost."""
_MOST_SEGMENT = 1 << 20
_MOST_PACKETS = 5_000_000
_DUPLICATES, _LATER = 3, 200
"""Later packets whose arrival means a loss, and of how many."""


@dataclass
class _Sent:
    """Transmissions, and the parts of the sequence that they carry."""

    times: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    acked: list[float] = field(default_factory=list)
    acked_by: list[int] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    repeats: list[bool] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    last: list[list[int]] = field(default_factory=list)
    """Transmissions of each part."""
    settled: list[int] = field(default_factory=list)
    """Where the next part is that is not acknowledged."""

    def send(self, time: float, size: int, is_again: bool) -> int:
        if len(self.times) == _MOST_PACKETS:
            raise DamageError(f"a connection has more than {_MOST_PACKETS} packets", "", "a part of the capture")
        self.times.append(time)
        self.sizes.append(size)
        self.acked.append(math.nan)
        self.acked_by.append(-1)
        self.lost.append(math.nan)
        self.repeats.append(is_again)
        return len(self.times) - 1

    def part(self, start: int, end: int, time: float) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.last.append([self.send(time, end - start, is_again=False)])
        self.settled.append(len(self.settled))

    def open_from(self, place: int) -> int:
        end = place
        while end < len(self.settled) and self.settled[end] != end:
            end = self.settled[end]
        while place < len(self.settled) and self.settled[place] != end:
            self.settled[place], place = end, self.settled[place]
        return end


class _Reading:
    """Goes through both directions in the order of time."""

    def __init__(self, flow: Flow) -> None:
        data, acks = flow.largest.segments, flow.other.segments
        self.place = place_of(flow)
        self.clock = None if self.place.is_at_sender else clock_of(data, self.place.data_s)
        self.mss = mss_of(data, acks)
        self.scale = max((one.scale for one in acks if one.flags & SYN), default=-1)
        self.sent = _Sent()
        self.allowed: tuple[list[float], list[float]] = ([], [])
        self.offered: tuple[list[float], list[float]] = ([], [])
        self.rtts: tuple[list[float], list[float]] = ([], [])
        self._origin = _origin(data)
        # The sender takes its time to answer; that is not a distance.
        self._way = 0.0 if self.place.is_at_sender else self.place.sender_s / 2
        self._highest = self._acked = self._acks = 0
        self._least = math.inf
        self._newest = 0.0
        self._echoed: dict[int, float] = {}
        both = [(one.time_s, 0, one) for one in data if one.size]
        both += [(one.time_s, 1, one) for one in acks if one.flags & ACK]
        for _, is_ack, one in sorted(both, key=lambda entry: entry[:2]):
            if is_ack:
                self._take_ack(one)
            else:
                self._take_data(one)

    def _take_data(self, one: Segment) -> None:
        start = _after(one.sequence, self._origin, self._highest)
        end = start + one.size
        if start < 0 or one.size > _MOST_SEGMENT:
            return
        left = one.time_s - self._way
        if self.clock:
            # Its clock has steps. What echoes the timestamp of an acknowledgement left after that had come
            # (RFC 7323).
            left = max(self.clock(one), min(self._echoed.get(one.echo, -math.inf), left))
        before = self._highest
        if start < before:
            patience = _REORDERED * self.place.total_s if self.clock else 0.0
            _again(self.sent, start, min(end, before), left, patience)
        if end > before:
            if self.clock and 0 < before < start:
                # A hole is a packet that was lost before the capture, or that comes later: it left soon after
                # the one before.
                for low in range(before, min(start, before + 4096 * self.mss), self.mss):
                    self.sent.part(low, min(low + self.mss, start), min(self._newest, left))
            for low in range(max(start, before), end, self.mss):
                self.sent.part(low, min(low + self.mss, end), left)
            self._highest, self._newest = end, left
            self.offered[0].append(left)
            self.offered[1].append(float(end))

    def _take_ack(self, one: Segment) -> None:
        ack = _after(one.ack, self._origin, self._highest)
        if not 0 <= ack <= self._highest + 1:
            return
        self._acks += 1
        time = one.time_s + self._way
        if one.value >= 0:
            self._echoed.setdefault(one.value, time)
        if self.scale >= 0 and not one.flags & SYN:
            most = float(ack + (one.window << self.scale))
            if not self.allowed[1] or most > self.allowed[1][-1]:
                self.allowed[0].append(time)
                self.allowed[1].append(most)
        ranges = [(self._acked, ack)] if ack > self._acked else []
        self._acked = max(self._acked, ack)
        near = self._highest
        ranges += [(_after(low, self._origin, near), _after(high, self._origin, near)) for low, high in one.sacks]
        for low, high in ranges:
            if 0 <= low < high <= self._highest + 1:
                sample = _settle(self.sent, low, high, time, self._acks, self._least)
                if sample > 0:
                    self._least = min(self._least, sample)
                    self.rtts[0].append(time)
                    self.rtts[1].append(sample)

    def lacks(self) -> tuple[str, ...]:
        """What the capture does not say."""
        lacks = {
            "the congestion window": True,
            "the pacing rate": True,
            "acknowledgements: the capture has one direction": self._acks == 0,
            "the scale of the receive window: the capture has no SYN": self.scale < 0,
            "when packets were sent: the capture was taken elsewhere, and has no timestamps": (
                not self.place.is_at_sender and self.clock is None
            ),
        }
        return tuple(what for what, lack in lacks.items() if lack)


def view(flow: Flow) -> View | None:
    """What the sender of the data knew."""
    reading = _Reading(flow)
    sent = reading.sent
    if not sent.times:
        return None
    order = np.argsort(np.asarray(sent.times), kind="stable")
    times = np.asarray(sent.times)[order]
    acked = np.asarray(sent.acked)[order]
    every = (*flow.forward.segments, *flow.backward.segments)
    begin = min(*(one.time_s for one in every), float(times[0]))

    return View(
        name=flow.name,
        vantage="sender",
        source=f"a capture of TCP, taken {reading.place.words}",
        duration_s=max(one.time_s for one in every) - begin,
        protocol="TCP",
        sent_s=times - begin,
        sent_bytes=np.asarray(sent.sizes, np.int64)[order],
        acked_s=acked - begin,
        acked_by=np.asarray(sent.acked_by, np.int64)[order],
        lost_s=_declared(acked, np.asarray(sent.lost)[order]) - begin,
        repeats=np.asarray(sent.repeats, bool)[order],
        rtt=steps([time - begin for time in reading.rtts[0]], reading.rtts[1]),
        allowed=steps([time - begin for time in reading.allowed[0]], reading.allowed[1]),
        offered=steps([time - begin for time in reading.offered[0]], reading.offered[1]),
        handshake_s=float(times[0]) - begin,
        is_ect=flow.largest.has_ect,
        missing=reading.lacks(),
    )


def _declared(acked: Floats, again: Floats) -> Floats:
    """When a sender took what it sent again for lost: with the third later packet that arrived."""
    found = again.copy()
    for place in np.flatnonzero(np.isfinite(again)):
        later = acked[place + 1 : place + 1 + _LATER]
        known = np.sort(later[np.isfinite(later)])
        if known.size >= _DUPLICATES:
            found[place] = min(again[place], known[_DUPLICATES - 1])
    return found


def _after(sequence: int, origin: int, near: int) -> int:
    """A number of the sequence since the first byte, which may have wrapped, near another one."""
    distance = (sequence - origin - near) & 0xFFFFFFFF
    return near + (distance - (1 << 32) if distance >> 31 else distance)


def _origin(data: list[Segment]) -> int:
    """The number of the first byte."""
    first = next((one for one in data if one.flags & SYN), None)
    if first is not None:
        return (first.sequence + 1) & 0xFFFFFFFF
    return next((one.sequence for one in data if one.size), 0)


def _again(sent: _Sent, start: int, end: int, time: float, patience: float) -> None:
    """A retransmission: each part of it is one more packet, and the one before is lost."""
    place = max(0, bisect_right(sent.starts, start) - 1)
    if place < len(sent.ends) and sent.ends[place] <= start:
        place += 1
    while place < len(sent.starts) and sent.starts[place] < end:
        before = sent.last[place][-1]
        if time - sent.times[before] < patience:
            place += 1
            continue
        if math.isnan(sent.acked[before]) and math.isnan(sent.lost[before]):
            sent.lost[before] = max(time, sent.times[before])
        if time > sent.times[before]:
            sent.last[place].append(sent.send(time, sent.ends[place] - sent.starts[place], is_again=True))
        place += 1


def _settle(sent: _Sent, low: int, high: int, time: float, index: int, least: float) -> float:
    """Acknowledges parts. Returns the round-trip time of the newest that was sent once; 0 for none."""
    sample = 0.0
    place = sent.open_from(bisect_left(sent.starts, low))
    while place < len(sent.starts) and sent.ends[place] <= high:
        sent.settled[place] = place + 1
        transmissions = sent.last[place]
        newest = transmissions[-1]
        if len(transmissions) > 1 and time - sent.times[newest] < _SPURIOUS * least:
            # It is of an earlier one; the last was needless, and is acknowledged with it.
            sent.acked[transmissions[-2]], sent.acked_by[transmissions[-2]] = time, index
        elif len(transmissions) == 1:
            sample = time - sent.times[newest]
        sent.acked[newest], sent.acked_by[newest] = time, index
        place = sent.open_from(place + 1)
    return sample
