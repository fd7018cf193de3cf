"""Waits for a condition, so that no test depends on how fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

WAIT_S = 10.0


def until(condition: Callable[[], bool], what: str, wait_s: float = WAIT_S) -> None:
    """Fails if the condition does not hold within so many seconds."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < wait_s, f"not within {wait_s:g} s: {what}"
        time.sleep(0.02)
