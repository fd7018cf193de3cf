"""Keeps the memory of a report small: tables of every size come and go while its figures are made."""

from __future__ import annotations

import ctypes

_M_MMAP_THRESHOLD = -3
_BLOCK = 1 << 16


def return_large_blocks() -> None:
    """Asks the C library to return blocks of 64 KiB and more as soon as they are freed.

    By default glibc raises that bound up to 32 MiB as a program runs, and keeps what is below it: a report on
    the whole suite then peaks a fifth higher. Other C libraries have no such call and need none.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _BLOCK)
