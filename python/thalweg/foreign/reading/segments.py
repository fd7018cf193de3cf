"""The packets of a flow in a capture, in both directions."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass, field


@dataclass(slots=True)
class Segment:
    """One packet of TCP or UDP."""

    time_s: float
    size: int
    """Bytes of payload."""
    sequence: int = 0
    ack: int = 0
    flags: int = 0
    window: int = 0
    value: int = -1
    """Its timestamp."""
    echo: int = -1
    sacks: tuple[tuple[int, int], ...] = ()
    scale: int = -1
    """In a SYN."""
    mss: int = -1
    first: int = -1
    """The first byte of a UDP payload."""


def read_options(data: bytes, segment: Segment) -> None:
    """Reads options of TCP."""
    at = 0
    while at < len(data):
        kind = data[at]
        if kind == 0:
            return
        if kind == 1:
            at += 1
            continue
        if at + 1 >= len(data) or data[at + 1] < 2:
            return
        length = data[at + 1]
        body = data[at + 2 : at + length]
        if kind == 8 and len(body) == 8:
            segment.value, segment.echo = struct.unpack("!II", body)
        elif kind == 5 and len(body) % 8 == 0:
            edges = struct.unpack(f"!{len(body) // 4}I", body)
            segment.sacks = tuple(zip(edges[::2], edges[1::2], strict=True))
        elif kind == 3 and len(body) == 1:
            segment.scale = min(body[0], 14)
        elif kind == 2 and len(body) == 2:
            segment.mss = struct.unpack("!H", body)[0]
        at += length


@dataclass
class Direction:
    """One way of a flow."""

    segments: list[Segment] = field(default_factory=list)
    bytes: int = 0
    count: int = 0
    """Packets with data."""
    has_ect: bool = False
    """Whether the network might have marked any (RFC 3168)."""

    def add(self, segment: Segment) -> None:
        """One more packet."""
        self.segments.append(segment)
        self.bytes += segment.size
        self.count += segment.size > 0


@dataclass
class Flow:
    """Both ways; the forward way is from the first two to the last two of `ends`, as they are ordered."""

    protocol: int
    ends: tuple[bytes, bytes, int, int]
    forward: Direction
    backward: Direction
    seen_at: str = ""
    """The interface, if others have seen it too."""

    @property
    def largest(self) -> Direction:
        """The way of the data."""
        return self.forward if self.forward.bytes >= self.backward.bytes else self.backward

    @property
    def other(self) -> Direction:
        """The way of the acknowledgements."""
        return self.backward if self.largest is self.forward else self.forward

    @property
    def bytes(self) -> int:
        """Payload of both."""
        return self.forward.bytes + self.backward.bytes

    @property
    def name(self) -> str:
        """Addresses and ports, from the sender of the data, and the interface where that tells it from others."""
        one, other, port, other_port = self.ends
        here, there = f"{_address(one)}:{port}", f"{_address(other)}:{other_port}"
        found = f"{here}-{there}" if self.largest is self.forward else f"{there}-{here}"
        return f"{found} at {self.seen_at}" if self.seen_at else found


def _address(packed: bytes) -> str:
    found = ipaddress.ip_address(packed)
    return f"[{found}]" if found.version == 6 else str(found)
