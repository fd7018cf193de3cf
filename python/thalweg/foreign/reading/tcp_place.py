"""Where a capture of TCP was taken: the round-trip times from there to either end, and the clock of the sender."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.foreign.reading.segments import Flow, Segment

SYN, ACK = 2, 16
_TICKS = (1e-6, 1e-4, 1e-3, 4e-3, 1e-2)
"""Units of timestamps that stacks have."""
_LEAST_MSS = 64
"""Below what any stack has."""
_NEAR = 0.1
"""Share of the round trip: an end that is nearer than this is where the capture was taken."""


@dataclass
class Place:
    """Round-trip times from the capture to either end."""

    sender_s: float
    receiver_s: float
    data_s: float
    """The least time that full packets take from the sender: half of the round trip, or more on a slow link."""

    @property
    def total_s(self) -> float:
        """From end to end, and back."""
        return self.sender_s + self.receiver_s

    @property
    def is_at_sender(self) -> bool:
        """Whether it is the sender's own."""
        return not self.sender_s > _NEAR * self.total_s

    @property
    def words(self) -> str:
        """Where it is."""
        if self.is_at_sender:
            return "at the sender"
        return "at the receiver" if self.receiver_s <= _NEAR * self.total_s else "between the ends"


def mss_of(data: list[Segment], acks: list[Segment]) -> int:
    """Offload shows segments of many packets at once."""
    said = [one.mss for one in (*data[:3], *acks[:3]) if one.mss > 0]
    sizes = [one.size for one in data if one.size]
    largest = max(sizes)
    if said:
        most = min(said)
        stamps = 12 if any(one.value >= 0 for one in data[:50]) else 0
        return min(max(_LEAST_MSS, most - stamps), largest)
    return largest if largest <= 9000 else 1448


def place_of(flow: Flow) -> Place:
    """From the handshake, or from the least delays of answers."""
    data, acks = flow.largest.segments, flow.other.segments
    syns = {id(data): next((one for one in data if one.flags & SYN), None)}
    syns[id(acks)] = next((one for one in acks if one.flags & SYN), None)
    mine, theirs = syns[id(data)], syns[id(acks)]
    receiver = _answer(data, acks)
    sender = echo = _echo(data, acks)
    if mine is not None and theirs is not None:
        first, second = sorted((mine, theirs), key=lambda one: one.time_s)
        way = data if first is mine else acks
        third = next((one for one in way if one.time_s > second.time_s and one.flags & ACK), None)
        if third is not None:
            to_server, to_client = second.time_s - first.time_s, third.time_s - second.time_s
            # The first of the three is of the client, at the distance of the third.
            if first is mine:
                receiver, sender = min(receiver, to_server), to_client
            else:
                sender, receiver = to_server, min(receiver, to_client)
    if not math.isfinite(sender):
        sender = 0.0
    if not math.isfinite(echo):
        echo = sender
    sender = max(0.0, sender)
    return Place(sender, receiver if math.isfinite(receiver) else 0.0, max(sender / 2, echo - sender / 2))


def _answer(data: list[Segment], acks: list[Segment]) -> float:
    """The least time from a segment to the acknowledgement of its end."""
    waiting = {(one.sequence + one.size) & 0xFFFFFFFF: one.time_s for one in reversed(data) if one.size}
    delays = [one.time_s - waiting[one.ack] for one in acks if one.ack in waiting]
    return min((delay for delay in delays if delay >= 0), default=math.inf)


def _echo(data: list[Segment], acks: list[Segment]) -> float:
    """The least time from an acknowledgement to a segment that echoes its timestamp."""
    first: dict[int, float] = {}
    for one in acks:
        if one.value >= 0:
            first[one.value] = one.time_s  # the last with a value: the least delay
    delays = [one.time_s - first[one.echo] for one in data if one.size and one.echo in first]
    return min((delay for delay in delays if delay >= 0), default=math.inf)


class Clock:
    """The sender's clock, by its timestamps."""

    def __init__(self, tick: float, offset: float) -> None:
        self.tick, self.offset = tick, offset

    def __call__(self, segment: Segment) -> float:
        """When it left."""
        return segment.value * self.tick + self.offset


def clock_of(data: list[Segment], data_s: float) -> Clock | None:
    """The clock, of which `data_s` is the least delay to the capture; none without timestamps."""
    stamped = [one for one in data if one.value > 0 and one.size]
    if len(stamped) < 8 or stamped[-1].value <= stamped[0].value:
        return None
    span = (stamped[-1].time_s - stamped[0].time_s) / (stamped[-1].value - stamped[0].value)
    tick = min(_TICKS, key=lambda unit: abs(math.log(max(span, 1e-9) / unit)))
    if not 0.5 < span / tick < 2:
        return None
    way = np.asarray([one.time_s - one.value * tick for one in stamped])
    return Clock(tick, float(way.min()) - data_s)
