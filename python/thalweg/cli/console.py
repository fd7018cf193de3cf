"""What the command line says: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_UNBOUNDED = 100_000
"""Columns of what goes into a file or a pipe, where nothing is wrapped or left out."""
_PATIENCE_S = 1.0
"""How long a command may be silent."""


class _Answers(Console):
    """Standard output, whose reader may leave, as `head` does: what is still to be stored is stored."""

    def on_broken_pipe(self) -> None:
        """Nobody reads the rest."""
        reader_left()


def reader_left() -> None:
    """Lets the rest of the answer go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stdout() -> Console:
    """The console for answers."""
    return _Answers(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else _UNBOUNDED)


def stderr() -> Console:
    """The console for everything else."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)


def complain(message: str, label: str = "error: ") -> None:
    """One message on stderr."""
    sys.stderr.write(f"{label}{message}\n")


def note(message: str) -> None:
    """Something that is worth knowing but is not the answer."""
    stderr().print(message, style="dim")


def print_json(document: dict[str, Any]) -> None:
    """One document on stdout, and nothing else."""
    try:
        print(json.dumps(document, indent=2, allow_nan=False))
    except BrokenPipeError:
        reader_left()


class Bar:
    """A progress bar on stderr that shows itself only when the work takes more than a second."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        """Starts the clock."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Removes the bar."""
        if self._bar:
            self._bar.stop()

    def show(self, name: str, done: int, total: int) -> None:
        """Tells how far the work is."""
        if not self._bar:
            console = stderr()
            if not console.is_terminal or time.monotonic() - self._begin < _PATIENCE_S:
                return
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
            self._bar.start()
        if self._task is None:
            self._task = self._bar.add_task(name, total=total)
        self._bar.update(self._task, description=name, completed=done, total=total)
