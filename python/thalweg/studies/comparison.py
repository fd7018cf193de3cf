"""Stored studies side by side: the numbers of their rows, and by what share they differ.

Rows belong together that say the same in words: a study names its cells by controllers, queues and the like. Rows
that say the same in words are distinguished by their position.

Limits: a difference of two numbers comes without an interval. What a study claims is in its checks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.errors import ResultError
from thalweg.store.folder import find_file
from thalweg.store.metadata import parse_document
from thalweg.studies.runner.folder import DOCUMENT

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StoredStudy:
    """What a folder says of a study."""

    folder: Path
    name: str
    version: str
    rows: list[Row]

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a folder holds a study. Raises RequestError if its document is not a file of this folder."""
        return find_file(folder, DOCUMENT) is not None

    @staticmethod
    def load(folder: Path) -> StoredStudy:
        """Reads a stored study. Raises ResultError, and RequestError as `is_in` does."""
        file = find_file(folder, DOCUMENT) or folder / DOCUMENT
        document = parse_document(file)
        rows = document.get("rows") if isinstance(document, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ResultError(f"{file}: this is not a study that this version reads")
        words = [document.get(key) for key in ("study", "version")]
        name, version = (word if isinstance(word, str) else "unknown" for word in words)
        return StoredStudy(folder, name, version, rows)


@dataclass(frozen=True)
class Difference:
    """One number in both studies."""

    row: str
    """What the row says in words."""
    column: str
    a: float | None
    b: float | None

    @property
    def change(self) -> float | None:
        """By what share b is larger than a; None where one is missing, or a is 0."""
        if self.a is None or self.b is None or self.a == 0:
            return None
        return (self.b - self.a) / abs(self.a)

    def is_beyond(self, margin: float) -> bool:
        """Whether both differ by more than a share of a; a number that one of them lacks differs."""
        if self.change is None:
            return self.a != self.b
        return abs(self.change) > margin

    def document(self) -> dict[str, Any]:
        """This difference as JSON."""
        return {"row": self.row, "column": self.column, "a": self.a, "b": self.b, "change": self.change}


def compare_studies(a: StoredStudy, b: StoredStudy) -> list[Difference]:
    """Every number of the rows that both have. Raises ResultError if they are of two studies, or share no row."""
    if a.name != b.name:
        raise ResultError(f"{a.folder} is of the study {a.name}, {b.folder} of {b.name}; accepted: one study")
    others = dict(_named(b.rows))
    found = [
        Difference(name, column, _number(value), _number(others[name].get(column)))
        for name, row in _named(a.rows)
        if name in others
        for column, value in row.items()
        if _number(value) is not None or _number(others[name].get(column)) is not None
    ]
    if not found:
        raise ResultError(f"{a.folder} and {b.folder} have no row in common")
    return found


def missing_rows(a: StoredStudy, b: StoredStudy) -> list[str]:
    """The rows of a that b lacks, in words."""
    others = dict(_named(b.rows))
    return [name for name, _ in _named(a.rows) if name not in others]


def _named(rows: list[Row]) -> Iterator[tuple[str, Row]]:
    """Each row under its words, with a number where they come again."""
    count: dict[str, int] = {}
    for row in rows:
        words = ", ".join(value for value in row.values() if isinstance(value, str)) or "row"
        count[words] = count.get(words, 0) + 1
        yield (words if count[words] == 1 else f"{words} ({count[words]})"), row


def _number(value: Any) -> float | None:
    """A value as a number; None if it is none, is not finite, or is larger than a float holds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON knows no largest whole number
        return None
    return number if math.isfinite(number) else None
