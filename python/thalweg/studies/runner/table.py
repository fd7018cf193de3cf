"""Tables of a study for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Headers, and a line of text for each row."""

    headers: Sequence[str]
    lines: Sequence[Sequence[str]]
    words: int
    """Number of leading columns with words; the others hold numbers."""
