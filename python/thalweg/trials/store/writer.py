"""Rows that wait to be written.

A file grows until a hundredth of the run, but at least a second, is in it: a killed run loses no more, and a long
one has some hundred files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from thalweg.trials.pace import BATCH_S

_LOSS = 0.01
"""The share of a run that may wait to be written."""


class Writer:
    """Calls what writes the rows that wait, when it is time."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._begin = self._written = time.perf_counter()

    def write_if_due(self) -> None:
        """Writes once a hundredth of the run waits. Raises RequestError."""
        waits_s = time.perf_counter() - self._written
        if waits_s >= max(BATCH_S, _LOSS * (self._written - self._begin)):
            self.write()

    def write(self) -> None:
        """Writes now, on a thread of its own: no Ctrl-C interrupts it, and all is written. Raises RequestError."""
        with ThreadPoolExecutor(1) as writer:
            writer.submit(self._write).result()
        self._written = time.perf_counter()
