"""What the command line says: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from thalweg import _native

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.progress import Progress, TaskID

_UNBOUNDED = 100_000
"""Columns of what goes into a file or a pipe, where nothing is wrapped or left out."""
_PATIENCE_S = 1.0
"""How long a command may be silent."""


_COMMAND = re.compile(r"^(\s*:):|##\[", re.MULTILINE)
"""How commands to a runner of GitHub begin: a line with `::`, and its older form anywhere in a line."""


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def silence(on: bool) -> None:
    """From here on, in this context, no tables and notes are printed: documents and errors are."""
    _quiet.set(on)


@cache
def _kind() -> type[Console]:
    """The kind of our consoles."""
    # Plain lines need none of this, and it takes long to load.
    from rich.console import Console, RenderHook  # noqa: PLC0415
    from rich.segment import Segment  # noqa: PLC0415

    class Harmless:
        """What is printed, without what a terminal or a runner would obey."""

        def __init__(self, printed: RenderableType) -> None:
            self._printed = printed

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for part in console.render(self._printed, options):
                yield part if part.control else Segment(harmless(part.text), part.style)

    class Hook(RenderHook):
        """Makes harmless whatever a console prints."""

        def process_renderables(self, renderables: list[Any]) -> list[Any]:
            return [Harmless(printed) for printed in renderables]

    class Leavable(Console):
        """A stream whose reader may leave, as `head` does: what is still to be stored is stored."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.push_render_hook(Hook())

        def on_broken_pipe(self) -> None:
            """Nobody reads the rest."""
            reader_left(self.file)

    return Leavable


def open_missing_streams() -> None:
    """Gives a process that was started without output (`>&-`) one that goes nowhere: the exit status answers.

    The descriptors are taken too, or a file that is opened later would get what is printed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8"))


def reader_left(stream: IO[str]) -> None:
    """Lets the rest of what is written to a stream go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _reader_may_leave(stream: IO[str]) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        reader_left(stream)


def stdout() -> Console:
    """The console for answers."""
    width = None if sys.stdout.isatty() else _UNBOUNDED
    return _kind()(markup=False, highlight=False, emoji=False, width=width, quiet=_quiet.get())


def stderr() -> Console:
    """The console for everything else."""
    return _kind()(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True, quiet=_quiet.get())


def harmless(text: str) -> str:
    r"""A text of others with escapes for what a terminal obeys, and without commands to a runner of GitHub.

    >>> harmless("a\x1b[2J\n::error::b"), harmless("one\n\ttwo")
    ('a\\u001b[2J\n: :error::b', 'one\n\ttwo')
    """
    return _COMMAND.sub(lambda found: f"{found[1]} :" if found[1] else "## [", _native.visible_lines(text))


def complain(message: str, label: str = "error: ") -> None:
    """One message on stderr."""
    with _reader_may_leave(sys.stderr):
        sys.stderr.write(f"{label}{harmless(message)}\n")
        sys.stderr.flush()


def note(message: str) -> None:
    """Something that is worth knowing but is not the answer."""
    stderr().print(message, style="dim")


def say(text: str, end: str = "\n") -> None:
    """A text on stdout as it is: the answer, or a part of it, that was asked for in this form."""
    with _reader_may_leave(sys.stdout):
        sys.stdout.write(_native.visible_lines(text) + end)


def print_json(document: dict[str, Any]) -> None:
    """One document on stdout, and nothing else."""
    say(json.dumps(document, indent=2, allow_nan=False))


def flush() -> None:
    """Hands over what was said. Raises OSError if there is no room for it."""
    with _reader_may_leave(sys.stdout):
        sys.stdout.flush()


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
        """Tells how far the work is; a `total` of 0 is not known."""
        if not self._bar:
            console = stderr()
            if not console.is_terminal or time.monotonic() - self._begin < _PATIENCE_S:
                return
            self._bar = _progress(console)
            self._bar.start()
        if self._task is None:
            self._task = self._bar.add_task(name, total=total or None, rate="")
        speed = self._bar.tasks[0].speed
        rate = f"{speed:.3g}/s" if speed else ""
        self._bar.update(self._task, description=name, completed=done, total=total or None, rate=rate)


def _progress(console: Console) -> Progress:
    from rich.progress import (  # noqa: PLC0415 - work that is done within a second shows no bar
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
