"""Stacks from shared libraries: what one says about itself, asked in a process of its own, since it may crash.

The native module asks here when it reads a scenario (`crates/bindings/src/libraries.rs`). Processes that play
trials get the answers with their scenarios, and ask nobody.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from thalweg import _native
from thalweg.base.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

StackInfo: TypeAlias = tuple[str, str, list[str], int]
"""Name, version, controllers, and the most streams of a connection."""
Library: TypeAlias = tuple[str, str, StackInfo]
"""Path, SHA-256 of the contents, and what it says."""

_INSPECTOR = Path(__file__).with_name("library_inspector.py")
PATIENCE_S = 10.0
"""How long a call of a library may take."""
_known: dict[str, tuple[str, StackInfo]] = {}
_NOT_ASKED: StackInfo = ("", "", [], 0)
"""Stands for a library that is not loaded: any controllers, and as many streams as a scenario may have."""
_asks = ContextVar("asks", default=True)
_refusal = ""
"""Why no library is asked here; empty if they are."""


def inspected(path: str | Path, sha256: str) -> StackInfo:
    """What the library with this path and these contents says about itself. Raises RequestError."""
    known = _known.get(str(path))
    if known and known[0] == sha256:
        return known[1]
    if not _asks.get():
        return _NOT_ASKED
    if _refusal:
        raise RequestError(_refusal)
    info = _ask(str(path))
    _known[str(path)] = sha256, info
    return info


@contextmanager
def unasked() -> Iterator[None]:
    """Loads no library within: to ask one what it is is to run its code. For scenarios that are not played."""
    token = _asks.set(False)
    try:
        yield
    finally:
        _asks.reset(token)


def remember(libraries: Iterable[Library]) -> None:
    """Knows what another process has asked; from now on nobody is asked here."""
    refuse("has changed since the scenario was read")
    for path, sha256, (name, version, controllers, streams) in libraries:
        _known[path] = sha256, (name, version, list(controllers), streams)


def refuse(why: str) -> None:
    """Asks no library in this process from now on: to ask one is to run its code."""
    global _refusal  # noqa: PLW0603 - of the whole process
    _refusal = why


def given(stack: str | Path) -> str:
    """The value of the key `stack` for what a user names: a library is looked for in the present folder.

    >>> given("quic")
    'quic'
    >>> given("./libmine.so") == str(Path.cwd() / "libmine.so")
    True
    """
    text = str(stack)
    return str(Path.cwd() / text) if _native.names_library(text) else text


def shown(path: str) -> str:
    """A path for people: relative to the present folder if it lies below.

    >>> shown(str(Path.cwd() / "libmine.so")), shown("/elsewhere/libmine.so")
    ('./libmine.so', '/elsewhere/libmine.so')
    """
    here = Path.cwd()
    return f"./{Path(path).relative_to(here)}" if Path(path).is_relative_to(here) else path


def signal_name(number: int) -> str:
    """The name of a signal.

    >>> signal_name(11)
    'SIGSEGV'
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _ask(path: str) -> StackInfo:
    command = [sys.executable, "-I", "-S", str(_INSPECTOR), _native.__file__, path]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise RequestError(
            f"has not returned from its constructor or thalweg_stack_describe for {PATIENCE_S:g} s"
        ) from None
    if done.returncode < 0:
        name = signal_name(-done.returncode)
        raise RequestError(f"crashed with {name} in its constructor or thalweg_stack_describe")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise RequestError(f"ended the process that loaded it, with status {done.returncode}") from None
    if "problem" in answer:
        raise RequestError(answer["problem"])
    name, version, controllers, streams = answer["info"]
    return name, version, controllers, streams
