"""A process of the server and all that it starts: a session of their own, whose process group ends as a whole.

What a page asks for starts further processes, such as those that play trials of controllers in Python. A handler
that never returns keeps one of these at work when the process that started it has ended. A terminal's Ctrl-C is
only for the server, which ends its processes. What moves to another process group, as code of a reader can, is
not ended.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import suppress
from multiprocessing.process import BaseProcess


def begin() -> None:
    """Gives this process, which the server has just started, a session of its own."""
    os.setsid()


def kill(process: BaseProcess) -> None:
    """Ends a process of the server at once, or what it has left, and all in its process group."""
    assert process.pid is not None
    with suppress(ProcessLookupError, PermissionError):  # it has begun none, or nothing is left of it
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def end_with_server(grace_s: float = 0.0) -> None:
    """Ends this process and its process group so long after the server has gone, in the middle of a call too."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        time.sleep(grace_s)
        os.killpg(0, signal.SIGKILL)
