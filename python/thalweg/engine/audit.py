"""The auditor: an optional check of trials against physics. It does not change them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from thalweg.base.errors import AuditError

__all__ = ["AuditError", "auditing", "is_on", "switch"]

_on: ContextVar[bool] = ContextVar("audit", default=False)


def is_on() -> bool:
    """Whether trials are audited by default."""
    return _on.get()


def switch(on: bool) -> None:
    """Sets the default in this context."""
    _on.set(on)


@contextmanager
def auditing(on: bool = True) -> Iterator[None]:
    """Within it, all trials are audited, also in studies and suites. A finding raises AuditError.

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
