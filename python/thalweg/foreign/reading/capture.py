"""Captures of packets, pcap and pcapng: the packets of each connection of TCP, and of each flow of UDP.

`dpkt` reads pcap, and `blocks` pcapng; only headers are looked at, so short snapshots do. Links: Ethernet with
VLANs, raw IP, Linux cooked, loopback. IP fragments after the first are left out. A connection that several
interfaces have seen is read once from each.
"""

from __future__ import annotations

import io
import math
import struct
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from thalweg.base.extras import require
from thalweg.foreign.reading import blocks, tcp, udp
from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.segments import Direction, Flow, Segment, read_options
from thalweg.foreign.reading.view import View, unread

_MAGIC = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", blocks.MAGIC)
_TCP, _UDP = 6, 17
_IP4, _IP6 = 0x0800, 0x86DD
_VLANS = (0x8100, 0x88A8, 0x9100)
_LINKS = {1: 14, 113: 16, 276: 20, 0: 4, 108: 4, 101: 0, 12: 0, 14: 0, 228: 0, 229: 0}
"""Bytes before IP by the link type of the capture."""
_LEAST_PACKETS = 8
"""A flow with fewer packets of data is left out."""
_MOST_FLOWS = 200_000
_MOST_VIEWS = 200


_Flows: TypeAlias = "dict[tuple[str, tuple[int, bytes, bytes, int, int]], Flow]"
"""By the interface, and by the protocol and the ends."""


class _Header(NamedTuple):
    protocol: int
    source: bytes
    target: bytes
    at: int
    length: int
    is_ect: bool
    """Whether the network may mark it (RFC 3168)."""


def is_capture(data: bytes) -> bool:
    """Whether a file is one."""
    return data[:4] in _MAGIC


def views(data: bytes) -> list[View]:
    """The connections in it. Raises DamageError."""
    require("captures", "reading a capture")
    flows: _Flows = {}
    cut = 0
    packets = 0
    first = math.nan
    for packets, (time, buffer, seen) in enumerate(_packets(data), 1):
        first = time if packets == 1 else first
        try:
            header = _ip(buffer, seen.link)
            if header is not None:
                _take(flows, header, buffer, time - first, seen.name)
        except (struct.error, IndexError):
            cut += 1
    if not packets:
        raise DamageError("it has no packet")
    _tell_apart(flows)
    found = []
    for flow in sorted(flows.values(), key=lambda one: -one.bytes):
        if flow.largest.count < _LEAST_PACKETS:
            continue
        try:
            view = tcp.view(flow) if flow.protocol == _TCP else udp.view(flow)
        except DamageError as damage:
            view = unread(flow.name, "a capture", damage)
        if view is not None:
            found.append(view)
        if len(found) == _MOST_VIEWS:
            break
    if not found:
        whole = f"; {cut} of {packets} packets are cut off before their ports" if cut else ""
        raise DamageError(
            f"it has no connection of TCP or flow of UDP with {_LEAST_PACKETS} packets of data{whole}"
        )
    return found


def _tell_apart(flows: _Flows) -> None:
    """Names of interfaces tell the flows that several have seen."""
    times_seen = Counter(ends for _, ends in flows)
    for (name, ends), flow in flows.items():
        flow.seen_at = name if times_seen[ends] > 1 else ""


def _packets(data: bytes) -> Iterator[blocks.Packet]:
    found = blocks.packets(data) if data[:4] == blocks.MAGIC else _of_pcap(data)
    for one in found:
        if one.interface.link not in _LINKS:
            accepted = "Ethernet, raw IP, Linux cooked, loopback"
            raise DamageError(f"its link type is {one.interface.link}", "", accepted)
        yield one


def _of_pcap(data: bytes) -> Iterator[blocks.Packet]:
    import dpkt  # noqa: PLC0415 - an extra

    count = 0
    try:
        reader = dpkt.pcap.Reader(io.BytesIO(data))
        seen = blocks.Interface(int(reader.datalink()), 1e-6, 0, "")
        for time, buffer in reader:
            count += 1
            yield blocks.Packet(float(time), buffer, seen)
    except Exception as error:  # dpkt raises what struct, int and its own checks raise
        # A capture that was stopped ends in the middle of a packet.
        if count == 0 or not isinstance(error, dpkt.NeedData):
            raise DamageError(
                f"it is damaged ({str(error)[:100] or type(error).__name__})", f"packet {count + 1}"
            ) from None


def _ip(buffer: bytes, link: int) -> _Header | None:
    """Where the header of the transport begins; `length` is what IP says about it and its payload."""
    at = _LINKS[link]
    if link == 1:
        kind = struct.unpack_from("!H", buffer, 12)[0]
        while kind in _VLANS:
            kind = struct.unpack_from("!H", buffer, at + 2)[0]
            at += 4
        if kind not in (_IP4, _IP6):
            return None
    version = buffer[at] >> 4
    if version == 4:
        header = (buffer[at] & 15) * 4
        total, fragment, protocol = struct.unpack_from("!xxHxxHxB", buffer, at)
        if fragment & 0x1FFF or header < 20:
            return None
        # Offload leaves the length of the largest segments out.
        length = (total or len(buffer) - at) - header
        ends = buffer[at + 12 : at + 16], buffer[at + 16 : at + 20]
        return _Header(protocol, *ends, at + header, length, buffer[at + 1] & 3 != 0)
    if version == 6:
        length, protocol = struct.unpack_from("!HB", buffer, at + 4)
        source, target = buffer[at + 8 : at + 24], buffer[at + 24 : at + 40]
        begin = at + 40
        length = length or len(buffer) - begin
        while protocol in (0, 43, 60):  # options, routing
            following, size = buffer[begin], (buffer[begin + 1] + 1) * 8
            protocol, begin, length = following, begin + size, length - size
        return _Header(protocol, source, target, begin, length, buffer[at + 1] >> 4 & 3 != 0)
    return None


def _take(flows: _Flows, ip: _Header, buffer: bytes, time: float, seen_at: str) -> None:
    if ip.protocol not in (_TCP, _UDP):
        return
    source, target = struct.unpack_from("!HH", buffer, ip.at)
    forward = (ip.source, source) <= (ip.target, target)
    ends = (ip.source, ip.target, source, target) if forward else (ip.target, ip.source, target, source)
    key = (seen_at, (ip.protocol, *ends))
    flow = flows.get(key)
    if flow is None:
        if len(flows) >= _MOST_FLOWS:
            raise DamageError(f"it has more than {_MOST_FLOWS} flows")
        flow = flows[key] = Flow(ip.protocol, ends, Direction(), Direction())
    direction = flow.forward if forward else flow.backward
    direction.has_ect |= ip.is_ect
    if ip.protocol == _UDP:
        size = ip.length - 8
        if size > 0:
            direction.add(Segment(time, size, first=buffer[ip.at + 8] if len(buffer) > ip.at + 8 else -1))
        return
    sequence, ack, offset, flags, window = struct.unpack_from("!IIBBH", buffer, ip.at + 4)
    header = (offset >> 4) * 4
    size = max(0, ip.length - header)
    segment = Segment(time, size, sequence, ack, flags, window)
    read_options(buffer[ip.at + 20 : ip.at + header], segment)
    direction.add(segment)
