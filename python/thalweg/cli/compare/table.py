"""Comparisons as tables, and the rows beyond a limit."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

from thalweg.base.quantity import percent, text
from thalweg.cli.fitting import FittingTable
from thalweg.judging.statistics.digits import bracketed, supported
from thalweg.results.comparison import Row

LETTERS = string.ascii_uppercase
"""What results are called, the base first."""
_DROPPABLE = ("ties", "B better", "of", "failures", "criteria", "A median", "change")
"""What a narrow terminal goes without, the first one first: the answer and its interval stay."""
_DIGITS = 5
"""Digits of a median that messages name."""


def headers(named: bool, b: str = "B") -> tuple[str, ...]:
    """The headers of a comparison of A and `b`, with the names of scenarios or without."""
    names = ("scenario",) if named else ()
    rest = ("B is", "A median", "B - A [95 %]", "change", "criteria", "failures", "of")
    return tuple(name.replace("B", b) for name in (*names, "criterion", *rest, "B better", "ties"))


def comparison_rows(rows: Sequence[Row], named: bool) -> list[list[str]]:
    """Under `headers`."""
    return [_cells(row)[0 if named else 1 :] for row in rows]


def comparison_table(rows: Sequence[Row], named: bool = True, b: str = "B") -> FittingTable:
    """For a terminal."""
    names = [name.replace("B", b) for name in _DROPPABLE]
    table = FittingTable(headers(named, b), 3 if named else 2, names, grouped=named)
    for row in comparison_rows(rows, named):
        table.add_row(*row)
    return table


def change_text(change: float | None) -> str:
    """A change as a percentage with its sign.

    >>> change_text(0.0312), change_text(-0.5), change_text(None)
    ('+3.1 %', '-50.0 %', '-')
    """
    return "-" if change is None else f"{'+' if change >= 0 else ''}{percent(change)}"


def median_and_more(row: Row) -> tuple[str, str]:
    """The median of a, and by how much b is more or less: `4.5794 s`, `54.6 ms more (+1.2 %)`."""
    difference, unit = row.sharper.interval.value, row.a.unit
    if math.isinf(difference):
        more = f"most trials of {'B' if (difference > 0) == (row.a.side == 'at_most') else 'A'} do not finish"
    else:
        share = "" if row.change is None else f" ({change_text(row.change)})"
        size = text(abs(difference), unit).replace("%", "points")
        more = f"{size} {'less' if difference < 0 else 'more'}{share}"
    return text(row.a.median, unit, _DIGITS), more


def _cells(row: Row) -> list[str]:
    base, other, unit, paired = row.a, row.b, row.a.unit, row.paired
    return [
        row.scenario,
        base.subject,
        row.words,
        supported(base.median_interval, unit),
        bracketed(row.sharper.interval, unit),
        change_text(row.change),
        f"{base.answer}, {other.answer}",
        f"{base.failures} of {base.n}, {other.failures} of {other.n}",
        "pairs" if row.pairs_are_sharper else "all with all",
        f"{paired.b_better} of {paired.n}" if paired else "-",
        str(paired.ties) if paired else "-",
    ]
