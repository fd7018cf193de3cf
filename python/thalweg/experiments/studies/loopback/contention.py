"""Deliberate contention for the processor: processes that only spin.

The blog of C4 blames pacing that is late because the processor is busy. A machine that happens to be busy repeats
nothing; one process per core does.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    pass"
"""Ends by itself if its parent has ended."""


@contextmanager
def contention(processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keeps this many processes busy, each at the priority of this one, until the end of the block.

    >>> with contention(2) as busy:
    ...     [process.poll() for process in busy]
    [None, None]
    >>> [process.poll() is None for process in busy]
    [False, False]
    """
    busy: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(processes):
            busy.append(subprocess.Popen([sys.executable, "-S", "-c", _SPIN]))
        yield busy
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()
