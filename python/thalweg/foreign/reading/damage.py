"""What is wrong with a file, and where in it."""

from __future__ import annotations


class DamageError(Exception):
    """A file cannot be read: what is wrong, at which place, and what is accepted."""

    def __init__(self, what: str, place: str = "", accepted: str = "") -> None:
        super().__init__(f"{f'{place}: ' if place else ''}{what}{f'; accepted: {accepted}' if accepted else ''}")
