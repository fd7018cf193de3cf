"""Starting the process that runs in real time, and listening to it.

The process ends with the one that started it, and everything that it made ends with it. Limits: Linux; to be
used from a thread that stays until the end, since the kernel takes the end of the starting thread for the end
of its process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from thalweg import _native
from thalweg.catalogue import Entry
from thalweg.errors import RequestError
from thalweg.scenario import Settings, pairs

_HELPER = Path(__file__).with_name("helper.py")


@dataclass(frozen=True)
class LiveRequest:
    """A path in real time."""

    toml: str
    """The scenario, overrides included."""
    name: str
    """What errors call it."""
    seed: int = 1
    realtime: bool = False
    """Whether to ask for real-time scheduling of the emulator."""
    bound: str | None = None
    """Release lateness that 999 of 1000 packets must keep; `"1 ms"` unless given."""

    @staticmethod
    def of_path(
        entry: Entry, overrides: Settings, seed: int = 1, realtime: bool = False, bound: str | None = None
    ) -> LiveRequest:
        """The path of a scenario of the catalogue, whoever is to carry its flows. Raises RequestError."""
        try:
            native = _native.Scenario.path_from_toml(entry.read(), str(entry.file), pairs(overrides))
        except _native.ScenarioError as error:
            raise RequestError(str(error)) from None
        return LiveRequest(native.toml, entry.name, seed, realtime, bound)

    def document(self, task: dict[str, Any]) -> dict[str, Any]:
        """What the process is asked."""
        return {
            "task": task,
            "scenario": self.toml,
            "origin": self.name,
            "seed": self.seed,
            "realtime": self.realtime,
            "bound": self.bound,
            "parent": os.getpid(),
        }


@dataclass(frozen=True)
class Ended:
    """How a command on a path ended."""

    status: int
    """Its exit status; 128 and the number of the signal that ended it."""
    report: dict[str, Any]
    """The report of the emulator; docs/live.md explains it."""


class LiveProcess:
    """The process at work. Its answers are lines of JSON."""

    def __init__(self, request: LiveRequest, task: dict[str, Any]) -> None:
        if not sys.platform.startswith("linux"):
            raise RequestError("real time needs Linux: network namespaces and TUN devices")
        ask, asked = os.pipe(), os.pipe()
        command = [sys.executable, "-I", "-S", str(_HELPER), str(_native.__file__), str(ask[0]), str(asked[1])]
        self._process = subprocess.Popen(command, pass_fds=(ask[0], asked[1]))
        os.close(ask[0])
        os.close(asked[1])
        # Where it has ended already, its answer says so.
        with suppress(BrokenPipeError), os.fdopen(ask[1], "w") as pipe:
            json.dump(request.document(task), pipe)
        self._answers: IO[str] = os.fdopen(asked[0])

    def line(self) -> str:
        """The next line of JSON, as it is. Raises KeyboardInterrupt if Ctrl-C has ended the process."""
        line = self._answers.readline()
        if not line:
            status = self._process.wait()
            if status == -signal.SIGINT:  # Ctrl-C while it started
                raise KeyboardInterrupt
            raise RuntimeError(f"the process that runs in real time ended with status {status} and no answer")
        return line

    def answer(self) -> dict[str, Any]:
        """The next answer. Raises RequestError if the request cannot be met, KeyboardInterrupt after Ctrl-C."""
        answer: dict[str, Any] = json.loads(self.line())
        if "error" in answer:
            self.close()
            if answer["error"] == "interrupted":
                raise KeyboardInterrupt
            raise RequestError(str(answer["error"]))
        return answer

    def stop(self) -> None:
        """Tells it to end and to answer."""
        self._process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """Waits for its end."""
        self._answers.close()
        self._process.wait()

    def kill(self) -> None:
        """Ends it, and everything that it made."""
        self._process.kill()
        self.close()


@contextmanager
def interrupts_passed_over() -> Iterator[None]:
    """Ctrl-C is for those who share the terminal; they end, and so do we."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_shell(request: LiveRequest, command: Sequence[str], peer: Sequence[str] | None = None) -> Ended:
    """Runs a command on a host whose only way out is the path, and `peer` on the host at the other end.

    Input and output are those of this process. Raises RequestError.
    """
    task = {"kind": "shell", "command": _bytes(command), "peer": _bytes(peer) if peer else None}
    with interrupts_passed_over():
        process = LiveProcess(request, task)
        try:
            ended = process.answer()["ended"]
            process.close()
        except BaseException:
            process.kill()
            raise
    return Ended(ended["status"], ended["report"])


def _bytes(words: Sequence[str]) -> list[list[int]]:
    return [list(os.fsencode(word)) for word in words]
