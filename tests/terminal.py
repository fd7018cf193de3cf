"""Shared by tests of shells: what a command shows on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress


def typed(command: Sequence[str], keys: bytes, variables: Mapping[str, str] | None = None) -> tuple[str, int]:
    """What a command shows on a terminal where these keys are typed, and its exit status."""
    terminal, inside = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", **(variables or {})}
    process = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, env=environment)
    os.close(inside)
    os.write(terminal, keys)
    shown = b""
    with suppress(OSError):  # the other side is closed
        while chunk := os.read(terminal, 4096):
            shown += chunk
    os.close(terminal)
    return shown.decode(), process.wait(10)
