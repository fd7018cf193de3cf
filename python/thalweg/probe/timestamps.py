"""Arrival time of a packet: when the kernel received it from the device, on the monotonic clock.

A program that is woken late reads a packet late; the kernel stores the time of arrival with the packet
(SO_TIMESTAMPNS, see socket(7)). It does so on the wall clock, which may be set while a probe runs: the time is
carried over to the monotonic clock at once, by the difference of both at the moment of reading.

Where there is no such option, and for a time that cannot be, the time of reading stands in.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from typing import Any

_SO_TIMESTAMPNS = 35
"""asm-generic/socket.h; Python has no name for it."""
_TIMESPEC = struct.Struct("@ll")
_SPACE = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0
_LONGEST_WAIT_NS = 60_000_000_000
"""A packet that waited longer in the socket was not waiting: the wall clock has been set."""


def ask_for_timestamps(endpoint: socket.socket) -> bool:
    """Enables the kernel's receive timestamps; returns whether it supports them."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        endpoint.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def receive(endpoint: socket.socket, size: int) -> tuple[bytes, int, Any]:
    """One packet, the time of its arrival in nanoseconds of the monotonic clock, and its sender.

    A packet larger than `size` is cut to one byte more.
    """
    packet, notes, _, sender = endpoint.recvmsg(size + 1, _SPACE)
    now = time.monotonic_ns()
    for level, kind, data in notes:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) == _TIMESPEC.size:
            seconds, nanos = _TIMESPEC.unpack(data)
            waited = time.time_ns() - (seconds * 1_000_000_000 + nanos)
            if 0 <= waited < _LONGEST_WAIT_NS:
                return packet, time.monotonic_ns() - waited, sender
    return packet, now, sender
