"""Columns of a study, each declared once, and the tables, legends and stored columns that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Row, StudyResult

Format = Callable[[Row, str], str]
"""The text of a row under a key."""


@dataclass(frozen=True)
class Column:
    """A word or a number of each row: its key, its unit, its heading, what it means and how tables write it."""

    key: str
    """In documents and stored tables, with the unit of a number behind it."""
    heading: str = ""
    """In tables; empty: only documents have it."""
    unit: str = ""
    """`s`, `bps`, `B` or `bytes`, `share`; others stay as they are."""
    meaning: str = ""
    """For legend and manual, without a full stop. One that begins with no small letter has its own term."""
    kind: type = float
    digits: int = 3
    format: Format | None = None
    """None: words and whole numbers as they are, others as quantities of their unit."""
    table: int = 0
    """The number of the printed table that has it; words stand in all of them."""

    def text(self, row: Row) -> str:
        """The cell of a row.

        >>> Column("rtt_s", "RTT", "s").text({"rtt_s": 0.04}), Column("n", "n", kind=int).text({"n": 3})
        ('40 ms', '3')
        """
        if self.format:
            return self.format(row, self.key)
        value = row[self.key]
        return number_text(row, self.key, self.unit, self.digits) if self.kind is float else str(value)

    @property
    def explanation(self) -> str:
        """Its sentence of the legend.

        >>> Column("ratio", "ratio", meaning="the largest rate over the smallest").explanation
        'Ratio: the largest rate over the smallest.'
        """
        term = f"{self.heading[:1].upper()}{self.heading[1:]}: " if self.meaning[:1].islower() else ""
        return f"{term}{self.meaning}."


@dataclass(frozen=True)
class Table:
    """Headers, and a line of text for each row."""

    headers: Sequence[str]
    lines: Sequence[Sequence[str]]
    words: int
    """Number of leading columns with words; the others hold numbers."""


def table(columns: Sequence[Column], rows: Sequence[Row], words: int) -> Table:
    """The rows under these columns, of which the first ones are words."""
    lines = [[column.text(row) for column in columns] for row in rows]
    return Table([column.heading for column in columns], lines, words)


def tables(columns: Sequence[Column], rows: Sequence[Row]) -> list[Table]:
    """One for each number of a table: the columns up to the last word say what a row is, and stand in each."""
    names, numbers = _names_and_numbers(columns)
    parts = sorted({column.table for column in numbers})
    return [
        table([*names, *(column for column in numbers if column.table == part)], rows, len(names))
        for part in parts
    ]


def whole_table(columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """All of them in one."""
    names, numbers = _names_and_numbers(columns)
    return table([*names, *numbers], rows, len(names))


def _names_and_numbers(columns: Sequence[Column]) -> tuple[Sequence[Column], Sequence[Column]]:
    shown = [column for column in columns if column.heading]
    words = 1 + max((place for place, column in enumerate(shown) if column.kind is str), default=0)
    return shown[:words], shown[words:]


def legend(introduction: str, columns: Sequence[Column]) -> str:
    """What the columns of tables mean, in sentences."""
    sentences = [column.explanation for column in columns if column.heading and column.meaning]
    return " ".join(filter(None, [introduction, *sentences]))


def number(row: Row, key: str) -> float:
    """A number of a row, NaN where it does not apply.

    >>> number({"n": 3}, "n"), number({"n": None}, "n")
    (3.0, nan)
    """
    value = row[key]
    return float("nan") if value is None else float(value)


def number_text(row: Row, key: str, unit: str = "", digits: int = 4) -> str:
    """A number of a row, in its base unit, for people.

    >>> number_text({"rtt_s": 0.04}, "rtt_s", "s"), number_text({"rtt_s": None}, "rtt_s", "s")
    ('40 ms', '-')
    """
    return text(number(row, key), unit, digits)


def percentage(row: Row, key: str) -> str:
    """A share with one decimal.

    >>> percentage({"loss": 0.03}, "loss"), percentage({"loss": None}, "loss")
    ('3.0 %', '-')
    """
    return "-" if row[key] is None else percent(number(row, key))


def formatted(specification: str) -> Format:
    """A number as Python formats it.

    >>> formatted(".2f")({"ratio": 1.234}, "ratio"), formatted(".2f")({"ratio": None}, "ratio")
    ('1.23', '-')
    """
    return lambda row, key: "-" if row[key] is None else format(number(row, key), specification)


def findings_table(result: StudyResult, columns: Mapping[str, str], words: int | None = None) -> Table:
    """What is published and decides nothing; `columns` has what stands in them by their headers.

    The first `words` columns are words; None: all.
    """
    lines = [[str(getattr(finding, name)) for name in columns.values()] for finding in result.findings]
    return Table([*columns], lines, len(columns) if words is None else words)
