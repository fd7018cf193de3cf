"""Captures of several interfaces: pcapng, in which each has a clock and a name of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.explain import writers
from thalweg.base.errors import RequestError
from thalweg.foreign.reading import blocks, read

from .logs import FUZZ, logged, read_or_refuse, traced

SECTION = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
RAW_IP = 101


def _block(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _interface(name: bytes, resolution: int) -> bytes:
    options = struct.pack("<HH", 2, len(name)) + name + b"\0" * (-len(name) % 4)
    options += struct.pack("<HHBxxx", 9, 1, resolution)
    return _block(1, struct.pack("<HHI", RAW_IP, 0, 96) + options + bytes(4))


def _packet(number: int, ticks: int, data: bytes) -> bytes:
    return _block(6, struct.pack("<IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data)) + data)


def _pcap_packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Times in nanoseconds, and what was captured."""
    at = 24
    while at < len(data):
        seconds, part, kept, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + part, data[at + 16 : at + 16 + kept]
        at += 16 + kept


def _two_sides(tmp_path: Path, count: int | None = None, second: bytes = b"eth1") -> bytes:
    """The same packets at `eth0`, in nanoseconds, and half a millisecond later at `eth1`, in units of 2^-20 s."""
    writers.capture(logged()[:count], tmp_path / "x.pcap", traced()[1])
    packets = []
    for time, data in _pcap_packets((tmp_path / "x.pcap").read_bytes()):
        packets.append(_packet(0, time, data))
        packets.append(_packet(1, ((time + 500_000) << 20) // 10**9, data))
    head = _block(0x0A0D0D0A, SECTION) + _interface(b"eth0", 9) + _interface(second, 0x80 | 20)
    return head + b"".join(packets)


def test_a_connection_is_read_once_from_each_interface_by_the_clock_of_each(tmp_path: Path) -> None:
    file = tmp_path / "x.pcapng"
    file.write_bytes(_two_sides(tmp_path))
    (alone,) = read(tmp_path / "x.pcap")
    views = {view.name: view for view in read(file)}
    assert set(views) == {f"{alone.name} at eth0", f"{alone.name} at eth1"}
    for view in views.values():
        assert view.sent_bytes.tolist() == alone.sent_bytes.tolist()
        # A tick of the coarser clock is a microsecond.
        assert view.sent_s - view.sent_s[0] == pytest.approx(alone.sent_s - alone.sent_s[0], abs=3e-6)


def test_interfaces_of_one_name_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "x.pcapng"
    file.write_bytes(_two_sides(tmp_path, second=b"eth0"))
    (alone,) = read(tmp_path / "x.pcap")
    views = {view.name: view for view in read(file)}
    assert set(views) == {f"{alone.name} at eth0", f"{alone.name} at eth0, interface 1"}
    assert {len(view.sent_bytes) for view in views.values()} == {len(alone.sent_bytes)}


def test_an_interface_that_alone_saw_a_connection_is_not_named(tmp_path: Path) -> None:
    data = _two_sides(tmp_path)
    file = tmp_path / "x.pcapng"
    head = data.index(struct.pack("<I", 6), 28)
    blocks, at = [], head
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        blocks.append(data[at : at + length])
        at += length
    file.write_bytes(data[:head] + b"".join(block for block in blocks if block[8] == 1))
    (view,) = read(file)
    assert view.name == "10.0.0.1:443-10.0.0.2:50000"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (_block(0x0A0D0D0A, b"\0" * 16), "no byte order"),
        (_block(0x0A0D0D0A, SECTION) + _packet(3, 0, bytes(40)), "interface 3 is not described"),
        (_block(0x0A0D0D0A, SECTION) + struct.pack("<III", 1, 4, 0), "block of 4 bytes is damaged"),
        (_block(0x0A0D0D0A, SECTION) + _interface(b"", 6), "no packet"),
    ],
)
def test_damage_is_refused_by_its_name(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "x.pcapng").write_bytes(data)
    with pytest.raises(RequestError, match=why):
        read(tmp_path / "x.pcapng")


@FUZZ
@given(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=8))
def test_damage_anywhere_is_read_or_refused(tmp_path: Path, place: int, damage: bytes) -> None:
    data = _two_sides(tmp_path, 150)
    place %= len(data)
    (tmp_path / "x.pcapng").write_bytes(data[:place] + damage + data[place + len(damage) :])
    for view in read_or_refuse(tmp_path / "x.pcapng"):
        assert np.isfinite(view.sent_s).all()


def test_as_many_interfaces_as_a_file_can_hold_take_time_in_proportion() -> None:
    """To look for each name among all before it takes longer than the limit of a test, 300 s."""
    interface = _block(1, struct.pack("<HHI", RAW_IP, 0, 0))
    assert list(blocks.packets(_block(0x0A0D0D0A, SECTION) + 200_000 * interface)) == []
