"""Steps of bandwidth, which repeat, as a delivery trace in Mahimahi's format.

A line for each 1500 bytes: the first millisecond by whose end the steps have offered all bytes up to them. The
last line is the period of the trace, so it must stand where a period of the steps ends, with a whole number of
packets and of milliseconds: as many periods are written out as that takes, and what is left of a packet at the
end of one is carried over to the next. Where that takes more than `_EXACT` lines, the mean of the trace is off by
a hundred-thousandth at most and its time by a thousandth, or by as little as `MOST_LINES` lines allow.

Where the steps end without a packet, as in a pause, the packet that is nearer in time stands for the end: the last
one before it, or the first one of the next period.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, count
from typing import NamedTuple

OPPORTUNITY = 1500 * 8 * 10**9
"""Bits of a line, times nanoseconds in a second."""
_MILLISECOND = 10**6
MOST_LINES = 3_000_000
"""A trace of a scenario has at most 32 MiB, and a line up to eleven bytes."""
LONGEST_NS = 10**18
_EXACT = 100_000
_MEAN, _TIME = 1e-5, 1e-3


class Step(NamedTuple):
    """A rate, and for how long it holds."""

    bps: int
    nanoseconds: int


class _Period(NamedTuple):
    """A period of the trace: periods of the steps in it, its packets and its milliseconds."""

    repeats: int
    lines: int
    milliseconds: int
    off: float
    """How far its mean or its time is from the steps', as a multiple of the tolerance."""


def delivery_lines(steps: list[Step]) -> list[int] | None:
    """The lines; None if they would be too many, or too late. Some step has a rate.

    >>> delivery_lines([Step(1_000_000, 15_000_000)])
    [12, 24, 36, 48, 60]
    """
    works = list(accumulate(step.bps * step.nanoseconds for step in steps))
    ends = list(accumulate(step.nanoseconds for step in steps))
    period = _period(works[-1], ends[-1])
    if period is None:
        return None

    def millisecond(packet: int) -> int:
        """When this packet, counted from 1, has been offered."""
        before, rest = divmod(packet * OPPORTUNITY - 1, works[-1])
        at = bisect_left(works, rest + 1)
        missing = works[at] - rest - 1
        end = before * ends[-1] + ends[at]
        # It is there so long before the end of the step, rounded up to a millisecond.
        return -(-(end * steps[at].bps - missing) // (steps[at].bps * _MILLISECOND))

    end = period.milliseconds
    lines = [min(millisecond(packet), end) for packet in range(1, period.lines + 1)]
    if lines[-1] < end:
        at = -1 if end - lines[-1] <= lines[0] else 0
        del lines[at]
        lines.append(end)
    return lines


def _period(work: int, span: int) -> _Period | None:
    """The shortest period that is exact, or near enough; the nearest if none is."""
    exact = math.lcm(OPPORTUNITY // math.gcd(work, OPPORTUNITY), _MILLISECOND // math.gcd(span, _MILLISECOND))
    whole = _Period(exact, exact * work // OPPORTUNITY, exact * span // _MILLISECOND, 0.0)
    if whole.lines <= _EXACT and exact * span <= LONGEST_NS:
        return whole
    nearest: _Period | None = None
    for period in _periods(work, span):
        if nearest is None or period.off < nearest.off:
            nearest = period
        if nearest.off <= 1:
            break
    return nearest


def _periods(work: int, span: int) -> Iterator[_Period]:
    """Periods of whole repeats of the steps, the shortest first, rounded to packets and milliseconds."""
    for number in count(1):
        repeats = number if work >= OPPORTUNITY else round(number * OPPORTUNITY / work)
        milliseconds = round(repeats * span / _MILLISECOND)
        lines = round(milliseconds * _MILLISECOND * work / (span * OPPORTUNITY))
        if lines > MOST_LINES or repeats * span > LONGEST_NS:
            return
        if lines:
            time = abs(milliseconds * _MILLISECOND / (repeats * span) - 1)
            mean = abs(lines * OPPORTUNITY * span / (milliseconds * _MILLISECOND * work) - 1)
            yield _Period(repeats, lines, milliseconds, max(time / _TIME, mean / _MEAN))
