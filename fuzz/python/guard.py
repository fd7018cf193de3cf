"""Rules for every case: it touches nothing outside of its folder, stops on request, and uses little memory."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from failure import Broken

BUDGET_S = 2.0
"""Processor time of a case before it is asked to stop, in seconds."""
_PATIENCE_S = 1.0
"""Seconds of the processor from then on, to a second's digit."""
_LARGEST = 1 << 30
_PLACES = {  # what an event of the interpreter names by its arguments
    "os.listdir": (0,),
    "os.scandir": (0,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.rename": (0, 1),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.link": (0, 1),
    "os.symlink": (1,),
    "shutil.rmtree": (0,),
}
_FOLDER_OF = {"os.remove": 1, "os.rmdir": 1, "os.mkdir": 2, "os.rename": 2, "os.chmod": 2, "os.chown": 3}
"""Where such an event says relative to which open folder its place is."""
_CHANGES = set(_PLACES) - {"os.listdir", "os.scandir"}


class Guard:
    """Observes cases in this process; `watch` reports violations."""

    def __init__(self, sandbox: Path) -> None:
        """A sandbox holds `inside`, which a case may use, and `outside`, which it may not."""
        self.inside, self.outside = sandbox / "inside", sandbox / "outside"
        self.outside.mkdir(parents=True)
        for name in ("keep.parquet", "experiment.json", "report.html"):
            (self.outside / name).write_text("outside\n", encoding="utf-8")
        self._before = _contents(self.outside)
        self._seen: list[str] = []
        self._on = False
        self._asked_s: float | None = None
        sys.addaudithook(self._hear)
        signal.signal(signal.SIGPROF, self._ask)

    @property
    def was_asked(self) -> bool:
        """Whether the case was asked to stop."""
        return self._asked_s is not None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Runs a case within. Raises Broken."""
        self._seen.clear()
        self._asked_s = None
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak of memory, see proc(5)
        held = peak_memory()
        self._on = True
        signal.setitimer(signal.ITIMER_PROF, BUDGET_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            took = time.process_time() - self._asked_s if self._asked_s is not None else 0.0
            self._on = False
        if self._seen:
            raise Broken("something outside was touched", "; ".join(self._seen[:5]))
        if _contents(self.outside) != self._before:
            raise Broken("something outside was changed")
        if took > _PATIENCE_S:
            raise Broken("deaf to stop", f"{took:.1f} s of the processor after it was asked")
        # What a step of the case left behind, which made the files, is not the command's.
        if (own := peak_memory() - held) > _LARGEST:
            raise Broken("memory beyond 1 GiB", f"{own >> 20} MiB")

    def _ask(self, _signal: int, _frame: FrameType | None) -> None:
        """As Ctrl-C does."""
        self._asked_s = time.process_time()
        raise KeyboardInterrupt

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._on:
            return
        if event == "open":
            path, mode, flags = arguments
            writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            self._note(event, path, -1, writes or any(sign in str(mode or "") for sign in "wax+"))
        elif event in _PLACES:
            at = _FOLDER_OF.get(event)
            folder = arguments[at] if at is not None and at < len(arguments) else -1
            for argument in _PLACES[event]:
                self._note(event, arguments[argument], folder, event in _CHANGES)

    def _note(self, event: str, path: object, folder: object, changes: bool) -> None:
        if isinstance(path, int) or path is None:
            return
        given = os.fsdecode(path)  # type: ignore[arg-type] # what an event names is a path
        if isinstance(folder, int) and folder >= 0:
            given = f"/proc/self/fd/{folder}/{given}"
        # An event that changes an entry of a folder does not follow a link that is the entry.
        parent, name = os.path.split(given)
        real = f"{os.path.realpath(parent)}/{name}" if event != "open" and name else os.path.realpath(given)
        forbidden = real.startswith((f"{self.outside}/", "/etc/")) or real == str(self.outside)
        allowed = real.startswith((f"{self.inside}/", "/dev/null", "/proc/self/")) or real == str(self.inside)
        if forbidden or (changes and not allowed and "__pycache__" not in real):
            self._seen.append(f"{event} {real}")


def peak_memory() -> int:
    """The most bytes of memory that this process has held since the peak was last forgotten."""
    return _memory("VmHWM")


def held_memory() -> int:
    """The bytes of memory that this process holds."""
    return _memory("VmRSS")


def _memory(key: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(key))


def _contents(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        for file in folder.rglob("*")
    }
