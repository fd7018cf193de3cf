"""How far a piece of work is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Hears what is being done, and how many of how many steps are finished."""


def silent(name: str, done: int, total: int) -> None:
    """Nobody listens."""
