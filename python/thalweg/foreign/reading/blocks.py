"""The packets of a pcapng file (draft-ietf-opsawg-pcapng), each with the interface that saw it.

`dpkt` reads a file of one interface only. Sections 4.1 to 4.3: a section begins anew with its byte order and its
interfaces, each of which has its own link type and clock; other blocks are left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from thalweg.base.errors import printable
from thalweg.foreign.reading.damage import DamageError

MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _PACKET, _ENHANCED = 0x0A0D0D0A, 1, 2, 6
_ORDER = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_NAME, _RESOLUTION, _OFFSET = 2, 9, 14
_LEAST_BLOCK = 12


class Interface(NamedTuple):
    """Where packets were captured."""

    link: int
    tick_s: float
    offset_s: int
    name: str


class Packet(NamedTuple):
    """One packet, as it was on the link of its interface."""

    time_s: float
    data: bytes
    interface: Interface


def packets(data: bytes) -> Iterator[Packet]:
    """All packets. Raises DamageError; a file that ends within a block was stopped there."""
    order, at, count = "<", 0, 0
    interfaces: list[Interface] = []
    names: set[str] = set()
    while at + _LEAST_BLOCK <= len(data):
        if data[at : at + 4] == MAGIC:
            order = _ORDER.get(data[at + 8 : at + 12], "")
            if not order:
                raise DamageError("its section has no byte order", f"byte {at}")
            interfaces, names = [], set()
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if length < _LEAST_BLOCK or length % 4:
            raise DamageError(f"its block of {length} bytes is damaged", f"byte {at}")
        if at + length > len(data):
            return
        body = at + 8
        if kind == _INTERFACE:
            found = _interface(data[body : at + length - 4], order, len(interfaces))
            if found.name in names:  # captures of two hosts, merged
                found = found._replace(name=f"{found.name}, interface {len(interfaces)}")
            names.add(found.name)
            interfaces.append(found)
        elif kind in (_ENHANCED, _PACKET) and length >= 32:
            count += 1
            number, high, low, kept = struct.unpack_from(f"{order}IIII", data, body)
            if kind == _PACKET:  # It has a count of drops in the other half.
                number = struct.unpack_from(f"{order}H", data, body)[0]
            if number >= len(interfaces):
                raise DamageError(f"its interface {number} is not described", f"packet {count}")
            if kept > length - 32:
                raise DamageError(f"it keeps {kept} bytes in a block of {length}", f"packet {count}")
            seen = interfaces[number]
            time = seen.offset_s + (high << 32 | low) * seen.tick_s
            yield Packet(time, data[body + 20 : body + 20 + kept], seen)
        at += length


def _interface(body: bytes, order: str, number: int) -> Interface:
    tick, offset, name = 1e-6, 0, f"interface {number}"
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == _NAME and value:
            name = printable(value.rstrip(b"\0").decode("utf-8", "replace"))
        elif code == _RESOLUTION and len(value) == 1:
            # The first bit tells powers of 2 from powers of 10.
            tick = float(2 if value[0] & 0x80 else 10) ** -(value[0] & 0x7F)
        elif code == _OFFSET and len(value) == 8:
            offset = struct.unpack(f"{order}q", value)[0]
        at += 4 + length + -length % 4
    link = struct.unpack_from(f"{order}H", body)[0] if len(body) >= 8 else -1
    return Interface(link, tick, offset, name)
