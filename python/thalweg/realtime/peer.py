"""The program at the other end of a path: when it is ready, and where its output goes."""

from __future__ import annotations

import os
import re
import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.quantity import seconds

_SOCKET = re.compile(r"(tcp|udp):(\d+)")
WITHIN = "30 s"
"""Default time limit for a peer to become ready."""


@dataclass(frozen=True)
class Peer:
    """A command for the host at the other end."""

    command: Sequence[str]
    ready: str | None = None
    """`tcp:PORT` or `udp:PORT`, a socket that waits there, or a command that ends with status 0 on its host."""
    within: str = WITHIN
    """How long it may take until it is ready."""
    output: Path | None = None
    """A file for all that it says; by default, each line appears on standard error behind `peer: `."""

    def document(self, output: int) -> dict[str, Any]:
        """As the process in real time is told; it writes to the descriptor `output`. Raises RequestError."""
        ready = None
        if self.ready is not None:
            within_ns = round(seconds(self.within, "--ready-within") * 1e9)
            ready = {"when": _when(self.ready), "within": f"{within_ns} ns"}
        return {"command": as_bytes(self.command), "output": output, "ready": ready}


def _when(ready: str) -> dict[str, Any]:
    """What is asked of the peer.

    >>> _when("tcp:80")
    {'tcp': 80}
    """
    forms = 'accepted: tcp:80, udp:443, or a command such as "test -S /tmp/socket"'
    if match := _SOCKET.fullmatch(ready.strip()):
        if not 1 <= int(match[2]) <= 65535:
            raise RequestError(f"--ready {ready!r}: ports are 1 to 65535; {forms}")
        return {match[1]: int(match[2])}
    if re.fullmatch(r"(tcp|udp):.*", ready.strip()):
        raise RequestError(f"--ready {ready!r}: {forms}")
    return {"command": as_bytes(split(ready, "--ready"))}


def split(command: str, option: str) -> list[str]:
    """The words of a command as a shell takes them. Raises RequestError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise RequestError(f"{option} {command!r}: {str(error).lower()}; accepted: a command") from None
    if not words:
        raise RequestError(f"{option} {command!r}: there is no command; accepted: a command")
    return words


def as_bytes(words: Sequence[str]) -> list[list[int]]:
    """Words for the process in real time, of any bytes."""
    return [list(os.fsencode(word)) for word in words]


@contextmanager
def peer_output(file: Path | None) -> Iterator[int]:
    """A descriptor for what a peer says: of a file, or of a pipe whose lines appear on standard error.

    Raises RequestError if the file cannot be written.
    """
    if file is not None:
        try:
            stream = file.open("wb")
        except OSError as error:
            raise RequestError(f"cannot write {file}: {error.strerror}") from None
        with stream:
            yield stream.fileno()
        return
    read, write = os.pipe()
    reader = threading.Thread(target=_repeat, args=(read,), daemon=True)
    reader.start()
    try:
        yield write
    finally:
        # Whatever the peer started has ended with its host: no other process holds the other end.
        os.close(write)
        reader.join(timeout=1.0)


def _repeat(read: int) -> None:
    """Repeats each line on standard error, behind a word that says whose it is."""
    with os.fdopen(read, "r", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            # Who reads our errors may have left; the peer still gets rid of what it says.
            with suppress(OSError):
                sys.stderr.write(f"peer: {_native.visible(line.rstrip())}\n")
                sys.stderr.flush()
