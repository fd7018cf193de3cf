"""Trials with controllers in Python on all cores: an interpreter runs one handler at a time, so each core has one.

A process plays one trial after the other (`worker.py`) and stays for all batches of a run. Outcomes come back as
text that loses nothing, so they equal trials in this process. When a process ends, another one takes its
place and repeats its trial; a trial that has ended several processes fails.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thalweg.base.errors import ControllerError, StackError
from thalweg.base.executor import Batch, Failed, Finished, Report, T, Take, unheard
from thalweg.engine import audit, libraries
from thalweg.engine.outcome import Outcomes, Trial
from thalweg.engine.scenario import Scenario
from thalweg.engine.trace import Trace
from thalweg.trials.apart import FAILURES
from thalweg.trials.in_turn import in_turn
from thalweg.trials.portable import TrialRecord, document_of, gathered, line_of, read_answer
from thalweg.trials.threads import Threads

_WORKER = Path(__file__).with_name("worker.py")
_LIBRARY_WORKER = Path(__file__).with_name("library_worker.py")
_POLL_S = 0.1
LIVES = 3
"""How many processes a trial may end before it counts as failed."""
_Came = tuple[int, int, "tuple[str, float] | Exception"]
"""The number of a scenario, the number of a seed, and the result of the trial."""


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, one for each trial at once."""

    jobs: int = 0
    """How many; 0 for all cores."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""
        return Threads(self.jobs).width

    @property
    def lanes(self) -> int:
        """One batch at once, in all processes."""
        return 1

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.width} process{'es' if self.width > 1 else ''}"

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        """Plays batches, one after the other."""
        with self.started() as pool:
            in_turn(batches, lambda batch, hear: pool.play_batch(batch, take, hear), report)

    @contextmanager
    def started(self) -> Iterator[Pool]:
        """Processes that stay until the end of what is done with them."""
        pool = Pool([Process() for _ in range(self.width)])
        try:
            yield pool
        finally:
            pool.close()

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """On threads: what is taken from a trace is a function of this process."""
        return Threads(self.jobs).each(scenario, seeds, take, report)


class Process:
    """A place for one process after the other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._program = _WORKER
        self._scenario: Scenario | None = None
        self._lock = threading.Lock()
        self._ended = False

    def play(
        self, scenario: Scenario, seed: int, document: Callable[[], str], traced: bool = False
    ) -> tuple[str, float]:
        """Plays a trial, again if the process ends. Raises what it fails with, and Stopped after `end`."""
        status = 0
        program = _LIBRARY_WORKER if scenario.libraries else _WORKER
        if program != self._program:
            self._drop()
            self._program = program
        for _ in range(LIVES):
            process = self._started()
            if self._scenario is not scenario:
                self._say(process, document())
                self._scenario = scenario
            self._say(process, json.dumps([seed, traced]) + "\n")
            assert process.stdout is not None
            line = process.stdout.readline()
            if line.endswith("\n"):  # a process that has ended leaves half an answer
                return _read(scenario, seed, json.loads(line))
            if self._ended:
                raise Stopped
            status = process.wait()
            self._drop()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        raise ControllerError(f"the process that played it has ended {LIVES} times, with {how} (seed {seed})")

    def end(self) -> None:
        """Ends the process, and refuses others."""
        with self._lock:
            self._ended = True
            if self._process:
                self._process.kill()

    def close(self) -> None:
        """Frees what the process has left. Nobody reads from it any more."""
        self.end()
        self._drop()

    def _started(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._ended:
                raise Stopped
            if self._process is None:
                command = [sys.executable, "-I", "-S", str(self._program)]
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
                )
                self._say(self._process, json.dumps(sys.path) + "\n")
            return self._process

    def _drop(self) -> None:
        process, self._process, self._scenario = self._process, None, None
        if process:
            process.kill()
            process.communicate()

    @staticmethod
    def _say(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except BrokenPipeError:  # it has ended: there will be no answer
            pass


def _read(scenario: Scenario, seed: int, answer: dict[str, Any]) -> tuple[str, float]:
    """What a process has recorded. Raises what the trial failed with."""
    where = f"{scenario.description.reference}, seed {seed}"
    if "printed" in answer and "failed" not in answer:
        _note_printed(scenario, where, *answer["printed"])
    try:
        return read_answer(answer)
    except StackError as error:
        raise StackError(f"{where}: {error}") from None


def _note_printed(scenario: Scenario, where: str, length: int, text: str) -> None:
    """Says once that a library prints."""
    names = ", ".join(libraries.shown(path) for path, *_ in scenario.libraries)
    with _lock:
        if names in _printers:
            return
        _printers.add(names)
    last = text.splitlines()[-1:] or [""]
    sys.stderr.write(
        f'note: {names} printed {length} bytes in {where}: "{last[0][:200]}"; stacks have no output\n'
    )
    sys.stderr.flush()


_printers: set[str] = set()
_lock = threading.Lock()


def play_alone(scenario: Scenario, seed: int, traced: bool, audited: bool) -> Trial:
    """One trial in a process of its own, which ends with it. Raises what a trial fails with."""
    process = Process()
    try:
        text, core_s = process.play(scenario, seed, lambda: line_of(document_of(scenario, audited)), traced)
    finally:
        process.close()
    return trial_of(scenario, text, core_s, traced)


def trial_of(scenario: Scenario, text: str, core_s: float, traced: bool) -> Trial:
    """A trial that another process has recorded."""
    if not traced:
        return Trial(Outcomes.of(gathered(scenario, [(0, text, core_s)]), scenario.description), None)
    native = scenario.native.measured(text, core_s)
    series = Trace.of(native.trace) if native.trace is not None else None
    return Trial(Outcomes.of(native.outcomes, scenario.description), series)


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The run is over: what is at work is not wanted any more."""


@dataclass
class Pool:
    """Processes at work."""

    processes: list[Process]

    def play_batch(self, batch: Batch, take: Take, report: Report) -> None:
        """Plays one batch. Raises AuditError, and KeyboardInterrupt after what was finished."""
        came: queue.Queue[_Came | None] = queue.Queue()
        work = _Work(batch)
        some = self.processes[: batch.trials]
        with ThreadPoolExecutor(len(some)) as threads:
            for process in some:
                threads.submit(work.drive, process, came)
            try:
                _hear(batch, len(some), came, take, report)
            except BaseException:
                for process in self.processes:
                    process.end()
                raise

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """What `take` makes of each trial with its trace, one trial in each process at once."""
        document = line_of(document_of(scenario, audit.is_on()))
        free: queue.SimpleQueue[Process] = queue.SimpleQueue()
        for process in self.processes:
            free.put(process)

        def work(seed: int) -> T:
            process = free.get()
            try:
                text, core_s = process.play(scenario, seed, lambda: document, traced=True)
            finally:
                free.put(process)
            return take(trial_of(scenario, text, core_s, True))

        found: list[T] = []
        with ThreadPoolExecutor(len(self.processes)) as threads:
            try:
                for taken in threads.map(work, seeds):
                    found.append(taken)
                    report(len(found))
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for process in self.processes:
                    process.end()
                raise
        return found

    def close(self) -> None:
        """Ends all processes. None is at work any more."""
        for process in self.processes:
            process.close()


def _hear(batch: Batch, drivers: int, came: queue.Queue[_Came | None], take: Take, report: Report) -> None:
    """Hands over what comes until nobody drives a process any more."""
    records: list[list[TrialRecord]] = [[] for _ in batch.scenarios]
    missing = [len(batch.seeds)] * len(batch.scenarios)
    finished = 0

    def hand_over(number: int) -> None:
        own, records[number] = records[number], []  # first: a Ctrl-C within `take` must not hand them over twice
        if own:
            take(Finished(batch, number, gathered(batch.scenarios[number], own)))

    try:
        while drivers:
            report(finished)
            try:
                found = came.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if found is None:
                drivers -= 1
                continue
            number, index, result = found
            if isinstance(result, tuple):
                records[number].append((index, *result))
            elif isinstance(result, FAILURES):
                take(Failed(batch, number, batch.seeds[index], result))
            else:
                raise result
            finished += 1
            missing[number] -= 1
            if not missing[number]:
                hand_over(number)
    except KeyboardInterrupt:
        for number in range(len(batch.scenarios)):
            hand_over(number)
        raise
    report(finished)


@dataclass
class _Work:
    """The trials of a batch, of which each process takes the next one."""

    batch: Batch
    _next: int = 0
    _documents: dict[int, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _audited: bool = field(default_factory=audit.is_on)

    def drive(self, process: Process, came: queue.Queue[_Came | None]) -> None:
        """Keeps one process at work until no trial is left."""
        try:
            for number, index in iter(self._take, None):

                def document(number: int = number) -> str:
                    return self._document(number)

                result: tuple[str, float] | Exception
                try:
                    result = process.play(self.batch.scenarios[number], self.batch.seeds[index], document)
                except Stopped:
                    return
                except Exception as error:  # raised where the run is
                    result = error
                came.put((number, index, result))
        finally:
            came.put(None)

    def _take(self) -> tuple[int, int] | None:
        with self._lock:
            trial, self._next = self._next, self._next + 1
        return divmod(trial, len(self.batch.seeds)) if trial < self.batch.trials else None

    def _document(self, number: int) -> str:
        with self._lock:
            self._documents = {number: self._documents.get(number, "")}
            if not self._documents[number]:
                self._documents[number] = line_of(document_of(self.batch.scenarios[number], self._audited))
            return self._documents[number]
