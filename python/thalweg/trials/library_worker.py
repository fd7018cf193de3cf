"""The program of a process that plays trials of libraries for another one, each in a process forked for it.

It is run as a file by an isolated interpreter, and is asked and answers as `worker.py` does. It never runs a
library itself: a forked process loads the library, plays one trial and ends, so that nothing of one trial is left
in the next. Meanwhile this process sees in shared memory which function is being called (`crates/stacks`,
`present.rs`). It says so when the other one crashes, and ends it when a call does not return or simulated time
stands still.
"""

import ctypes
import json
import mmap
import os
import resource
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from typing import Any

STILL_S = 60.0
"""How long simulated time may stand still while calls return."""
_POLL_S = 0.25
_MOST_DATA = 4 << 30
"""Most memory of a trial, in bytes: a library that leaks without end fails."""
_KEPT = 2048
"""Bytes that are kept of what a library prints."""
_PIECE = 1 << 20
_DESCRIPTORS = 256
"""More than this process has open."""
_HEADER = struct.Struct("=QQQQ")
_LABEL = 64
_AT_THE_END = 2**64 - 1
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answers until the input ends."""
    lines = Lines(0)
    sys.path[:] = json.loads(lines.next())
    # Ctrl-C is for the process that asks: it ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    from thalweg.base.errors import ScenarioError  # noqa: PLC0415 - there is no way to it before
    from thalweg.engine.libraries import PATIENCE_S  # noqa: PLC0415
    from thalweg.trials.portable import Portable, line_of  # noqa: PLC0415

    scenario: Portable | None = None
    patience_s, refusal = PATIENCE_S, ""
    while True:
        asked = json.loads(lines.next())
        if isinstance(asked, dict):
            patience_s = asked["patience_s"]
            try:
                scenario = Portable.of(asked)
            except ScenarioError as error:
                scenario, refusal = None, str(error)
            continue
        if scenario:
            answer = Trial(scenario, patience_s).answer(*asked)
        else:
            answer = {"failed": "StackError", "error": refusal}
        answers.write(line_of(answer))
        answers.flush()


class Lines:
    """Lines of a descriptor, none of which is read before it is wanted, so that its end can be polled for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._read = descriptor, b""

    def next(self) -> str:
        """The next line; the process ends where there is none: nobody is there to read an answer."""
        while b"\n" not in self._read:
            piece = os.read(self._descriptor, _PIECE)
            if not piece:
                os._exit(0)
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()


class Trial:
    """One trial in a process of its own."""

    def __init__(self, scenario: Any, patience_s: float, asker: int = 0) -> None:
        """`asker` is a descriptor that hangs up when the asking process has ended."""
        from thalweg import _native  # noqa: PLC0415 - as above

        self._native = _native
        self._scenario = scenario
        self._patience_s = patience_s
        self._asker = asker
        self._present = mmap.mmap(-1, _native.PRESENT_CALL_SIZE)
        self._printed, self._printed_bytes = b"", 0

    def answer(self, seed: int, traced: bool) -> dict[str, Any]:
        """What `Portable.answer` says there, or why nothing does."""
        answer_out, answer_in = os.pipe()
        output_out, output_in = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(answer_out)
                os.close(output_out)
                self._play(seed, traced, answer_in, output_in)
            finally:
                os._exit(70)
        os.close(answer_in)
        os.close(output_in)
        return self.hear(child, answer_out, output_out)

    def _play(self, seed: int, traced: bool, answer_in: int, output_in: int) -> None:
        """In the forked process: plays the trial and says what came of it."""
        process = os.getpid()
        try:
            os.setsid()  # what the library forks is in its group, and ends with it
            die_with_parent()
            limit(resource.RLIMIT_DATA, _MOST_DATA)
            limit(resource.RLIMIT_CORE, 0)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(output_in, 1)
            os.dup2(output_in, 2)
            answer_in = os.dup2(answer_in, 3)
            os.closerange(4, _DESCRIPTORS)  # a library that forks keeps none on which others wait
            self._native.play_libraries_here()
            self._native.share_present_call(self._present)
            answer = self._scenario.answer(seed, traced)
            ctypes.CDLL(None).fflush(None)  # what the library has printed and C still keeps
        except BaseException as error:  # there is no other way out of this process
            answer = {"failed": "StackError", "error": f"the trial could not be played: {error!r}"}
        if os.getpid() != process:
            return  # a copy of the process, forked by the library
        left = json.dumps(answer).encode()
        while left:
            left = left[os.write(answer_in, left) :]
        os._exit(0)

    def hear(self, child: int, answer: int, output: int) -> dict[str, Any]:
        """What a forked process answers and prints to these descriptors, which are closed."""
        pieces, ended, status = self._hear(child, answer, output)
        os.close(answer)
        os.close(output)
        try:
            heard: dict[str, Any] = json.loads(b"".join(pieces))
        except ValueError:
            heard = {"failed": "StackError", "error": ended or self._crash(status)}
        if self._printed_bytes:
            text = self._printed.decode(errors="replace").strip()
            heard["printed"] = [self._printed_bytes, text]
        return heard

    def _hear(self, child: int, answer: int, output: int) -> tuple[list[bytes], str, int]:
        """The answer, as far as it comes; why the process was ended, if it was; and its status.

        A process that the library has forked may keep the descriptors open: nothing is waited for when the child
        has gone.
        """
        poll = select.poll()
        for descriptor in (answer, output):
            os.set_blocking(descriptor, False)
            poll.register(descriptor, select.POLLIN)
        poll.register(self._asker, 0)  # hangs up when the asking process has ended
        pieces: list[bytes] = []
        ended = ""
        watch = Watch(self._patience_s)
        gone = status = 0
        is_open = True
        while is_open and not gone:
            gone, status = os.waitpid(child, os.WNOHANG)
            for descriptor, event in poll.poll(0 if gone else _POLL_S * 1000):
                if descriptor == self._asker and event & (select.POLLHUP | select.POLLERR):
                    end_group(child, gone)
                    os._exit(0)
                if descriptor == output and not self._keep(output):
                    poll.unregister(output)
                if descriptor == answer:
                    piece = ready(answer)
                    pieces += [piece] if piece else []
                    is_open = bool(piece)
            if not (ended or pieces or gone):
                calls, function, now, end = _HEADER.unpack_from(self._present)
                ended = watch.look(calls, now)
                if ended:
                    ended = f"{self._where(function, end)} {ended}{at(now)}"
                    end_group(child, gone)
        end_group(child, gone)
        if not gone:
            _, status = os.waitpid(child, 0)
        # One read empties a pipe, and nothing is added that matters.
        pieces.append(ready(answer))
        self._keep(output)
        return pieces, ended, status

    def _keep(self, output: int) -> bool:
        """Keeps the end of what was printed; whether more may come."""
        piece = ready(output)
        self._printed_bytes += len(piece)
        self._printed = (self._printed + piece)[-_KEPT:]
        return bool(piece)

    def _where(self, function: int, end: int) -> str:
        """The library, the function and the end."""
        libraries = ", ".join(name for name in self._scenario.libraries)
        call = self._native.STACK_CALLS[function]
        label = self._present[_LABEL * (end + 1) : _LABEL * (end + 2)] if end < 2**32 else b""
        of = label.rstrip(b"\0").decode(errors="replace")
        return f"{libraries}: {call} of the {of}" if of else f"{libraries}: {call}"

    def _crash(self, status: int) -> str:
        """How the process has ended."""
        from thalweg.engine.libraries import signal_name  # noqa: PLC0415 - as above

        calls, function, now, end = _HEADER.unpack_from(self._present)
        if os.WIFSIGNALED(status):
            how = f"crashed with {signal_name(os.WTERMSIG(status))}"
        else:
            how = f"ended its process with status {os.waitstatus_to_exitcode(status)}"
        where = self._where(function, end) if calls else ", ".join(self._scenario.libraries)
        last = self._printed.decode(errors="replace").strip().splitlines()
        printed = f'; the last line that it printed: "{last[-1][:200]}"' if last else ""
        return f"{where} {how}{at(now) if calls else ''}{printed}"


class Watch:
    """Whether calls return and simulated time goes on."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._calls = self._now = -1
        self._called = self._moved = time.monotonic()

    def look(self, calls: int, now: int) -> str:
        """What is wrong, if anything is."""
        here = time.monotonic()
        if calls != self._calls:
            self._calls, self._called = calls, here
        if now != self._now:
            self._now, self._moved = now, here
        if not calls:
            return ""
        if here - self._called > self._patience_s:
            return f"has not returned for {self._patience_s:g} s"
        if here - self._moved > STILL_S:
            return f"was the last call when simulated time had stood still for {STILL_S:g} s"
        return ""


def at(now: int) -> str:
    """A simulated time in ns, for people."""
    return " after the end of the trial" if now == _AT_THE_END else f", at {now / 1e9:.9g} s"


def ready(descriptor: int) -> bytes:
    """What can be read now; nothing at the end."""
    try:
        return os.read(descriptor, _PIECE)
    except BlockingIOError:
        return b""


def limit(kind: int, most: int) -> None:
    """Limits what this process may have; a lower limit that it has already stays."""
    _, hard = resource.getrlimit(kind)
    new = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (new, new))


def end_group(child: int, gone: int) -> None:
    """Ends a forked process, unless it has `gone`, and what it has forked, unless that has left its group."""
    with suppress(ProcessLookupError, PermissionError):  # the group is empty, or not there yet
        os.killpg(child, signal.SIGKILL)
    if not gone:
        os.kill(child, signal.SIGKILL)


def die_with_parent() -> None:
    """Has the kernel end this process with the one that forked it, where there is such a thing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() == 1:
            os._exit(0)


if __name__ == "__main__":
    main()
