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

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_BLOCK = 1 << 16
_KEPT = 1 << 26
"""More than trials of usual length need."""


def return_large_blocks() -> None:
    """Asks the C library to return blocks of 64 KiB and more as soon as they are freed.

    By default glibc raises that bound up to 32 MiB as a program runs, and keeps what is below it.
    """
    _mallopt(_M_MMAP_THRESHOLD, _BLOCK)


def keep_blocks() -> None:
    """Asks the C library to keep 64 MiB that are freed, which the next trial allocates again.

    Dask starts its workers with a bound of 64 KiB (`MALLOC_TRIM_THRESHOLD_`): each trial then asks the kernel for
    its memory again, which takes a sixth of the processor time of short ones.
    """
    _mallopt(_M_TRIM_THRESHOLD, _KEPT)
    _mallopt(_M_MMAP_THRESHOLD, _KEPT // 2)


def _mallopt(parameter: int, value: int) -> None:
    """Other C libraries than glibc have no such call and need none."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(parameter, value)
