"""What became worse: of all medians and failure rates that one command compares, those that are not so by chance.

All are one family: where nothing is worse, at most one command in twenty says that something is, however much is
compared (the false discovery rate, which is then the chance of any false discovery). The tests are one-sided, so
that what became better in b makes nothing else worse. Where neither end of a number is better, its test has two
sides, and what differs counts as worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thalweg.judging.answer import Answer
from thalweg.judging.comparison.failures import Failures
from thalweg.judging.comparison.row import Row, judge
from thalweg.judging.statistics.discovery import RATE, discoveries


@dataclass(frozen=True)
class Worse:
    """What became worse in one result than in the first."""

    rows: list[Row]
    """Criteria whose median is worse by more than the margin."""
    failures: list[Failures]
    """Criteria that fail more often."""
    changed: list[Failures]
    """Criteria that hold in the first result and not in this one, with no more failures than chance allows."""
    undecided: list[Row]
    """Criteria whose median so few trials could not call worse in so large a family, however much it was."""


def find_worse(rows: Sequence[Sequence[Row]], failures: Sequence[Sequence[Failures]]) -> list[Worse]:
    """What is worse in each result than in the first; rows and failures of each, which are one family."""
    chances = [row.p_worse for each in rows for row in each] + [one.p_more for each in failures for one in each]
    found = iter(discoveries(chances))
    worse = [[row for row in each if next(found) and row.is_beyond] for each in rows]
    judged = [[replace(one, fails_more=next(found)) for one in each] for each in failures]
    return [
        Worse(
            rows=found,
            failures=[one for one in counted if one.is_worse],
            changed=[one for one in counted if one.changed and not one.is_worse],
            undecided=[row for row in _others(each, found) if _lacks_trials(row, len(chances))],
        )
        for each, found, counted in zip(rows, worse, judged, strict=True)
    ]


def _others(rows: Sequence[Row], found: Sequence[Row]) -> list[Row]:
    known = {id(row) for row in found}
    return [row for row in rows if id(row) not in known]


def _lacks_trials(row: Row, family: int) -> bool:
    """Whether so few trials could not call it worse in so large a family, however much it was."""
    if row.better is None:
        return 2 * row.sharper.p_least > RATE / family
    # An interval beyond the margin takes 2.5 %, even if only one thing is compared.
    return row.sharper.p_least > RATE / max(family, 2)


def decide(rows: Sequence[Row]) -> list[Row]:
    """The answers of one family, in which `worse` is tested from one side, and which says where trials lack."""
    judged = judge(rows)
    (found,) = find_worse([judged], [[]])
    worse, undecided = ({id(row) for row in some} for some in (found.rows, found.undecided))
    return [
        replace(row, answer=_answer(row, id(row) in worse), lacks_trials=id(row) in undecided) for row in judged
    ]


def _answer(row: Row, is_worse: bool) -> Answer:
    if is_worse:
        return "worse"
    return "undecided" if row.answer == "worse" else row.answer
