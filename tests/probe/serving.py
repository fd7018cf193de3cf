"""A server of the probe for tests, and what a client of it measures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from thalweg.probe.client import Plan
from thalweg.probe.server import Server

KEY = b"sixteen bytes of it, or more"


@contextmanager
def serving(
    address: str | None = "127.0.0.1", key: bytes = b"", rate: float = 1e4, clients: int = 8
) -> Iterator[Server]:
    """A server in a thread, on a free port."""
    stop = threading.Event()
    with Server(address, 0, key, rate, clients) as server:
        thread = threading.Thread(target=server.serve, args=(lambda: not stop.is_set(),))
        thread.start()
        try:
            yield server
        finally:
            stop.set()
            thread.join()


def plan(port: int, host: str = "127.0.0.1", key: bytes = b"", **more: float) -> Plan:
    times = {"interval_s": 0.005, "duration_s": 0.5, "patience_s": 0.5, **more}
    return Plan(host, port, times["interval_s"], times["duration_s"], times["patience_s"], key)
