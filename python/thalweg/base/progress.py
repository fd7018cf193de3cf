"""Progress of a piece of work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Gets the current activity, and how many of how many steps are finished."""


def silent(name: str, done: int, total: int) -> None:
    """Ignores progress."""
