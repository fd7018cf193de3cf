"""Trials with controllers in Python on all cores: an interpreter runs one handler at a time, so each core has one.

A process plays one trial after the other (`worker.py`). Outcomes come back as text that loses nothing, so they are
those of trials in this process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from thalweg.control.definition import Definition
from thalweg.errors import AuditError, ControllerError

_WORKER = Path(__file__).with_name("worker.py")
_POLL_S = 0.1
Told = tuple[int, str, float]
"""The number of a trial, its outcome as text, and the seconds of processor time that it took."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C. `told` holds the trials that were finished."""

    def __init__(self, told: list[Told]) -> None:
        super().__init__("interrupted")
        self.told = told


def can_run_apart(definitions: Mapping[str, Definition]) -> bool:
    """Whether another process could load all controllers in Python of a scenario, of which there are some."""
    return bool(definitions) and all(definition.source for definition in definitions.values())


def play_apart(
    toml: str,
    name: str,
    definitions: Mapping[str, Definition],
    seeds: Sequence[int],
    processes: int,
    audit: bool,
    on_progress: Callable[[int], None] | None = None,
) -> list[Told]:
    """Plays one trial for each seed. Raises ControllerError, AuditError, and Stopped after Ctrl-C."""
    hashes = {text: definition.source.sha256 for text, definition in definitions.items() if definition.source}
    request = {"path": sys.path, "toml": toml, "name": name, "hashes": hashes, "audit": audit}
    work = _Work(json.dumps(request), seeds)
    with ThreadPoolExecutor(processes) as pool:
        running = [pool.submit(work.drive) for _ in range(processes)]
        try:
            while True:
                done, waiting = wait(running, timeout=_POLL_S)
                if on_progress:
                    on_progress(len(work.told))
                for part in done:
                    part.result()
                if not waiting:
                    break
        except BaseException as error:
            work.stop()
            if isinstance(error, KeyboardInterrupt):
                raise Stopped(sorted(work.told)) from None
            raise
    return sorted(work.told)


class _Work:
    """Seeds to play and what came of them."""

    def __init__(self, request: str, seeds: Sequence[int]) -> None:
        self.told: list[Told] = []
        self._request = request
        self._seeds: Iterator[tuple[int, int]] = iter(enumerate(seeds))
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[str]] = []
        self._stopped = False

    def drive(self) -> None:
        """Keeps one process at work until no seed is left."""
        with self._lock:
            if self._stopped:
                return
            command = [sys.executable, "-I", "-S", str(_WORKER)]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            self._processes.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            self._say(process, self._request)
            for index, seed in iter(self._next, None):
                self._say(process, str(seed))
                line = process.stdout.readline()
                if self._stopped:
                    return
                self.told.append((index, *self._heard(line, process)))
        finally:
            process.kill()
            process.communicate()

    def stop(self) -> None:
        """Ends all processes."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()

    def _next(self) -> tuple[int, int] | None:
        with self._lock:
            return None if self._stopped else next(self._seeds, None)

    @staticmethod
    def _say(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
        except BrokenPipeError:  # what it said last says why
            pass

    @staticmethod
    def _heard(line: str, process: subprocess.Popen[str]) -> tuple[str, float]:
        if not line:
            raise ControllerError(f"a process that played trials has ended with status {process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ControllerError(answer["error"])
        if "audit" in answer:
            raise AuditError(answer["audit"])
        return answer["told"], answer["core_s"]
