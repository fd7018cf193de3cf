"""Starting the process that runs in real time, and communicating with it.

The process ends with the one that started it, and everything that it created ends with it. Limits: Linux; use it
from a thread that lives until the end, since the kernel treats the end of the starting thread like the end
of its process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from thalweg import _native
from thalweg.base.errors import RealTimeError, ScenarioError
from thalweg.engine.catalogue import Entry
from thalweg.engine.controllers.resolver import Reader
from thalweg.engine.scenario import Settings, pairs
from thalweg.realtime.peer import Peer, as_bytes, peer_output
from thalweg.realtime.report import Report

_HELPER = Path(__file__).with_name("helper.py")


@dataclass(frozen=True)
class LiveRequest:
    """A path in real time."""

    toml: str
    """The scenario, with overrides."""
    name: str
    """Its name in errors."""
    seed: int = 1
    realtime: bool = False
    """Whether to request real-time scheduling of the emulator."""
    bound: str | None = None
    """Bound on the p99.9 of release lateness; default `"1 ms"`."""

    @staticmethod
    def of_path(
        entry: Entry, overrides: Settings, seed: int = 1, realtime: bool = False, bound: str | None = None
    ) -> LiveRequest:
        """The path of a scenario of the catalogue, whatever its controllers. Raises RequestError."""
        try:
            native = _native.Scenario.path_from_toml(entry.read(), entry.source_name, pairs(overrides), Reader())
        except _native.ScenarioError as error:
            raise ScenarioError(str(error)) from None
        return LiveRequest(native.toml, entry.name, seed, realtime, bound)

    def document(self, task: dict[str, Any]) -> dict[str, Any]:
        """The request to the process."""
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
class ShellResult:
    """How a command on a path ended."""

    status: int
    """Its exit status; 128 plus the number of the signal that ended it."""
    report: dict[str, Any]
    """The report of the emulator; docs/how-to/live.md explains it."""


class LiveProcess:
    """The running process. Its answers are lines of JSON."""

    def __init__(
        self,
        request: LiveRequest,
        task: dict[str, Any],
        descriptors: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        on_statistics: Callable[[Report], None] | None = None,
    ) -> None:
        """Starts it, with descriptors, and variables for what runs there; `on_statistics` hears reports so far."""
        if not sys.platform.startswith("linux"):
            raise RealTimeError("real time requires Linux (network namespaces and TUN devices)")
        ask, asked = os.pipe(), os.pipe()
        command = [sys.executable, "-I", "-S", str(_HELPER), str(_native.__file__), str(ask[0]), str(asked[1])]
        command.append(json.dumps(sys.path))
        self._on_statistics = on_statistics
        with _requests_passed_over():
            self._process = subprocess.Popen(
                command, pass_fds=(ask[0], asked[1], *descriptors), env={**os.environ, **(environment or {})}
            )
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
        """The next answer. Raises RequestError if the request is refused, KeyboardInterrupt after Ctrl-C."""
        answer: dict[str, Any] = json.loads(self.line())
        while "statistics" in answer:
            if self._on_statistics:
                self._on_statistics(answer["statistics"])
            answer = json.loads(self.line())
        if "error" in answer:
            self.close()
            if str(answer["error"]).startswith("interrupted"):
                raise KeyboardInterrupt(answer["error"])
            raise RealTimeError(str(answer["error"]))
        return answer

    def stop(self) -> None:
        """Tells it to end and to answer."""
        self._process.send_signal(signal.SIGTERM)

    def ask(self) -> None:
        """Asks how the run is so far; `on_statistics` hears of it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)

    def close(self) -> None:
        """Waits for its end."""
        self._answers.close()
        self._process.wait()

    def kill(self) -> None:
        """Ends it, and everything that it created."""
        self._process.kill()
        self.close()


@contextmanager
def _requests_passed_over() -> Iterator[None]:
    """What is started within ignores requests for statistics until it listens to them: the default is its end.

    Limits: only from the main thread; others cannot say what a signal does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


@contextmanager
def interrupts_passed_over() -> Iterator[None]:
    """Ctrl-C also reaches the processes on the terminal; they end, and then this one."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_shell(
    request: LiveRequest,
    command: Sequence[str],
    peer: Sequence[str] | Peer | None = None,
    environment: Mapping[str, str] | None = None,
    on_statistics: Callable[[Report], None] | None = None,
) -> ShellResult:
    """Runs a command on a host whose only way out is the path, and `peer` on the host at the other end.

    The command has the input and output of this process; the peer reads nothing, and each line that it says
    appears on standard error behind `peer: `, unless it goes to a file. On SIGUSR1, `on_statistics` hears
    how the run is so far. Raises RequestError, also if the peer cannot be started, is not ready in time, or
    fails before the command ends.
    """
    other = Peer(peer) if isinstance(peer, Sequence) else peer
    with interrupts_passed_over(), ExitStack() as until_end:
        task: dict[str, Any] = {"kind": "shell", "command": as_bytes(command), "peer": None}
        descriptors: list[int] = []
        if other:
            descriptors.append(until_end.enter_context(peer_output(other.output)))
            task["peer"] = other.document(descriptors[0])
        process = LiveProcess(request, task, descriptors, environment, on_statistics)
        asked = signal.signal(signal.SIGUSR1, lambda *_: process.ask())
        until_end.callback(signal.signal, signal.SIGUSR1, asked)
        try:
            ended = process.answer()["ended"]
            process.close()
        except BaseException:
            process.kill()
            raise
    return ShellResult(ended["status"], ended["report"])
