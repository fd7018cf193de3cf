"""Bounds the memory of a run: tables of every size are allocated and freed while a suite runs.

Both allocators of the process hold on to what is freed, for programs that will want as much again. Loaded
before polars, this module tells the one that polars brings along (jemalloc) to give it back at once instead
of after half a second; polars says so to it in the same way, before it starts. It may be told otherwise by the
environment: `_RJEM_MALLOC_CONF`.
"""

from __future__ import annotations

import ctypes
import os

os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")

_M_MMAP_THRESHOLD = -3
_BLOCK = 1 << 16


def return_large_blocks() -> None:
    """Asks the C library to return blocks of 64 KiB and more as soon as they are freed.

    By default glibc raises that bound up to 32 MiB as a program runs, and keeps what is below it. Other C
    libraries have no such call and need none.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _BLOCK)
