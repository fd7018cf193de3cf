"""The auditor: a check of physics that watches trials, if asked. It changes nothing of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from thalweg._native import AuditError

__all__ = ["AuditError", "auditing", "is_on", "switch"]

_on: ContextVar[bool] = ContextVar("audit", default=False)


def is_on() -> bool:
    """Whether trials that do not say otherwise are watched."""
    return _on.get()


def switch(on: bool) -> None:
    """From here on, in this context, trials are watched or not."""
    _on.set(on)


@contextmanager
def auditing(on: bool = True) -> Iterator[None]:
    """Within it, all trials are watched, those of studies and suites too. A finding raises AuditError.

    >>> import thalweg
    >>> with auditing():
    ...     trial = thalweg.Scenario.load("c4/simple-20mbps").run(seed=7)
    >>> trial.trace_hash == thalweg.Scenario.load("c4/simple-20mbps").run(seed=7).trace_hash
    True
    """
    token = _on.set(on)
    try:
        yield
    finally:
        _on.reset(token)
