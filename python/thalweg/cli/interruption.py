"""Ctrl-C and a request to terminate: the same thing."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def stopped_by_terminate() -> Iterator[None]:
    """Ends what runs within as Ctrl-C does when the process is asked to terminate."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
