"""Comparisons as tables, and the rows beyond a limit."""

from __future__ import annotations

import string
from collections.abc import Sequence

from thalweg.base.quantity import percent, text
from thalweg.cli.fitting import FittingTable
from thalweg.judging.statistics.digits import bracketed
from thalweg.results.comparison import Row

LETTERS = string.ascii_uppercase
"""What results are called, the base first."""
_DROPPABLE = ("ties", "B better", "of", "A fails", "B fails", "B - A [95 %]", "A", "B")
"""What a narrow terminal goes without, the first one first."""
_DIGITS = 5
"""Of medians: their rounding, 0.005 % of each, does not show in a change that is printed to 0.1 %."""


def headers(named: bool, b: str = "B") -> tuple[str, ...]:
    """Of a comparison of A and `b`, with the names of scenarios or without."""
    names = ("scenario",) if named else ()
    rest = ("A", "B", "B - A", "A median", "B median", "change", "A fails", "B fails", "B - A [95 %]", "of")
    return tuple(name.replace("B", b) for name in (*names, "criterion", *rest, "B better", "ties"))


def comparison_rows(rows: Sequence[Row], named: bool, b: str = "B") -> list[list[str]]:
    """Under `headers`."""
    return [_cells(row, b)[0 if named else 1 :] for row in rows]


def comparison_table(rows: Sequence[Row], named: bool = True, b: str = "B") -> FittingTable:
    """For a terminal."""
    names = [name.replace("B", b) for name in _DROPPABLE]
    table = FittingTable(headers(named, b), 5 if named else 4, names, grouped=named)
    for row in comparison_rows(rows, named, b):
        table.add_row(*row)
    return table


def change_text(change: float | None) -> str:
    """A change as a percentage with its sign.

    >>> change_text(0.0312), change_text(-0.5), change_text(None)
    ('+3.1 %', '-50.0 %', '-')
    """
    return "-" if change is None else f"{'+' if change >= 0 else ''}{percent(change)}"


def medians(row: Row) -> tuple[str, str, str]:
    """Both medians, and the change from the one that is printed to the other.

    Also where the interval, which stands beside the change, supports fewer digits.
    """
    a, b = (float(f"{median:.{_DIGITS}g}") for median in (row.a.median, row.b.median))
    change = None if row.change is None else (b - a) / a
    return text(a, row.a.unit, _DIGITS), text(b, row.a.unit, _DIGITS), change_text(change)


def _cells(row: Row, b: str) -> list[str]:
    base, other, unit, paired = row.a, row.b, row.a.unit, row.paired
    median_a, median_b, change = medians(row)
    return [
        row.scenario,
        base.subject,
        base.answer,
        other.answer,
        row.conclusion.replace("B", b),
        median_a,
        median_b,
        change,
        f"{base.failures} of {base.n}",
        f"{other.failures} of {other.n}",
        bracketed(row.sharper.interval, unit),
        "pairs" if row.pairs_are_sharper else "all with all",
        f"{paired.b_better} of {paired.n}" if paired else "-",
        str(paired.ties) if paired else "-",
    ]
