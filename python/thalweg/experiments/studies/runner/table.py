"""Tables of a study for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thalweg.base.quantity import text
from thalweg.experiments.studies.runner.result import Row, StudyResult


@dataclass(frozen=True)
class Table:
    """Headers, and a line of text for each row."""

    headers: Sequence[str]
    lines: Sequence[Sequence[str]]
    words: int
    """Number of leading columns with words; the others hold numbers."""


def number(row: Row, column: str) -> float:
    """A number of a row, NaN where it does not apply.

    >>> number({"n": 3}, "n"), number({"n": None}, "n")
    (3.0, nan)
    """
    value = row[column]
    return float("nan") if value is None else float(value)


def told(row: Row, column: str, unit: str = "", digits: int = 4) -> str:
    """A number of a row, in its base unit, for people.

    >>> told({"rtt_s": 0.04}, "rtt_s", "s"), told({"rtt_s": None}, "rtt_s", "s")
    ('40 ms', '-')
    """
    return text(number(row, column), unit, digits)


def findings_table(result: StudyResult, columns: Mapping[str, str], words: int | None = None) -> Table:
    """What is published and decides nothing; `columns` has what stands in them by their headers.

    The first `words` columns are words; None: all.
    """
    lines = [[str(getattr(finding, name)) for name in columns.values()] for finding in result.findings]
    return Table([*columns], lines, len(columns) if words is None else words)
