"""Comparisons as tables, and the rows beyond a limit."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

from thalweg.base.quantity import percent, text
from thalweg.cli.fitting import FittingTable
from thalweg.cli.tables import criterion_text
from thalweg.judging.comparison.row import Row
from thalweg.judging.comparison.sample import Compared
from thalweg.judging.statistics.digits import bracketed, supported
from thalweg.judging.verdict import Statistics

LETTERS = string.ascii_uppercase
"""What results are called, the base first."""
_DROPPABLE = ("ties", "B better", "of", "failures", "criteria", "A median", "change")
"""What a narrow terminal goes without, the first one first: the answer and its interval stay."""
_COLUMNS = (
    *("scenario", "criterion", "B is", "A median", "B - A [95 %]", "change"),
    *("criteria", "failures", "of", "B better", "ties"),
)
_DIGITS = 5
"""Digits of a median that messages name."""
_OF_CRITERIA = ("criteria", "failures")


def named(one: Compared) -> str:
    """A criterion in words, or the name of a number."""
    return criterion_text(one) if isinstance(one, Statistics) else one.subject


def headers(rows: Sequence[Row], b: str = "B") -> list[str]:
    """The headers of a comparison of A and `b`."""
    return [name.replace("B", b) for name in _columns(rows)]


def comparison_rows(rows: Sequence[Row]) -> list[list[str]]:
    """Under `headers`."""
    columns = _columns(rows)
    return [[cells[name] for name in columns] for cells in map(_cells, rows)]


def comparison_table(rows: Sequence[Row], is_one_scenario: bool = False, b: str = "B") -> FittingTable:
    """For a terminal; the name of the scenario is left out where there is one."""
    first = int(is_one_scenario)
    names = [name.replace("B", b) for name in _DROPPABLE]
    table = FittingTable(headers(rows, b)[first:], 3 - first, names, grouped=not is_one_scenario)
    for row in comparison_rows(rows):
        table.add_row(*row[first:])
    return table


def _columns(rows: Sequence[Row]) -> list[str]:
    """What is shown: verdicts where there are criteria, and who is better where an end is."""
    of_criteria = any(isinstance(row.a, Statistics) for row in rows)
    of_who = any(row.better for row in rows)
    left_out = (*(() if of_criteria else _OF_CRITERIA), *(() if of_who else ("B better",)))
    return [name for name in _COLUMNS if name not in left_out]


def change_text(change: float | None) -> str:
    """A change as a percentage with its sign.

    >>> change_text(0.0312), change_text(-0.5), change_text(None)
    ('+3.1 %', '-50.0 %', '-')
    """
    return "-" if change is None else f"{'+' if change >= 0 else ''}{percent(change)}"


def median_and_more(row: Row, b: str, a: str = "A") -> tuple[str, str]:
    """The median of a, and by how much b is more or less: `4.5794 s`, `54.6 ms more (+1.2 %)`."""
    difference, unit = row.sharper.interval.value, row.a.unit
    if math.isinf(difference):
        more = f"most trials of {b if (difference > 0) == (row.better != 'higher') else a} do not finish"
    else:
        share = "" if row.change is None else f" ({change_text(row.change)})"
        size = text(abs(difference), unit).replace("%", "points")
        more = f"{size} {'less' if difference < 0 else 'more'}{share}"
    return text(row.a.median, unit, _DIGITS), more


def _cells(row: Row) -> dict[str, str]:
    base, other, unit, paired = row.a, row.b, row.a.unit, row.paired
    cells = {
        "scenario": row.scenario,
        "criterion": base.subject,
        "B is": row.words,
        "A median": supported(base.median_interval, unit),
        "B - A [95 %]": bracketed(row.sharper.interval, unit),
        "change": change_text(row.change),
        "criteria": "-",
        "failures": "-",
        "of": "pairs" if row.pairs_are_sharper else "all with all",
        "B better": f"{paired.b_better} of {paired.n}" if paired and row.better else "-",
        "ties": str(paired.ties) if paired else "-",
    }
    if isinstance(base, Statistics) and isinstance(other, Statistics):
        cells["criteria"] = f"{base.answer}, {other.answer}"
        cells["failures"] = f"{base.failures} of {base.n}, {other.failures} of {other.n}"
    return cells
