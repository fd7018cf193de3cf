"""Whether a claim holds, by an interval and its margin.

A claim holds when the whole interval is on its side of the margin, fails when the whole interval is on the
other side, and is otherwise undecided: there are not enough trials. Too few trials are never decisive:
fewer than 6 (a median has no interval of 95 % below that), or fewer than 20 if shares of a link
are compared.

A claim that lies at its margin is so taken for settled in at most 2.5 % of cases on each side. A claim in
several parts holds if all parts do and fails if one does; its intervals are made for 1 - 5 % / parts
(`each_of`), so that it keeps that promise as a whole (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from thalweg.judging.statistics.interval import CONFIDENCE, Interval

Answer = Literal["holds", "fails", "undecided"]
"""What `judging.answer` has for a claim."""

HOLDS: Answer = "holds"
FAILS: Answer = "fails"
UNDECIDED: Answer = "undecided"

LEAST_TRIALS = 6
LEAST_TRIALS_OF_SHARES = 20
"""For comparisons of shares of a link, which vary by tens of percent from trial to trial."""


def above(interval: Interval, margin: float, least: int = LEAST_TRIALS) -> Answer:
    """Whether the number is above the margin.

    >>> above(Interval(2.0, 1.5, 2.5, 20), 1.0), above(Interval(2.0, 0.5, 3.5, 20), 1.0)
    ('holds', 'undecided')
    >>> above(Interval(0.5, 0.2, 0.9, 20), 1.0), above(Interval(2.0, 1.5, 2.5, 3), 1.0)
    ('fails', 'undecided')
    """
    if interval.n < least:
        return UNDECIDED
    if interval.low > margin:
        return HOLDS
    return FAILS if interval.high <= margin else UNDECIDED


def below(interval: Interval, margin: float, least: int = LEAST_TRIALS) -> Answer:
    """Whether the number is below the margin."""
    return above(Interval(-interval.value, -interval.high, -interval.low, interval.n), -margin, least)


def within(interval: Interval, low: float, high: float, least: int = LEAST_TRIALS) -> Answer:
    """Whether the number lies between two margins, or at one of them.

    >>> within(Interval(1.0, 0.98, 1.04, 20), 0.95, 1.05), within(Interval(1.2, 1.1, 1.3, 20), 0.95, 1.05)
    ('holds', 'fails')
    """
    if interval.n < least:
        return UNDECIDED
    if low <= interval.low and interval.high <= high:
        return HOLDS
    return FAILS if interval.low > high or interval.high < low else UNDECIDED


def every(answers: Iterable[Answer]) -> Answer:
    """The answer to a claim that is made of several.

    >>> every(["holds", "undecided"]), every(["holds", "undecided", "fails"])
    ('undecided', 'fails')
    """
    given = set(answers)
    return FAILS if FAILS in given else UNDECIDED if UNDECIDED in given else HOLDS


def each_of(parts: int) -> float:
    """The confidence of each interval of a claim with this many parts.

    >>> each_of(1), each_of(5)
    (0.95, 0.99)
    """
    return 1 - (1 - CONFIDENCE) / max(parts, 1)
