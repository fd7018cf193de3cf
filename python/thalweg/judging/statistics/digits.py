"""How many digits of a number its interval supports."""

from __future__ import annotations

import math

from thalweg.base.quantity import percent, text
from thalweg.judging.statistics.interval import Interval

MOST = 4
"""Digits of a number that is known better than that."""


def supported(interval: Interval, unit: str = "", shown: int | None = None) -> str:
    """The value to the first digit that its interval leaves in doubt, or with as many as are `shown`.

    >>> supported(Interval(4.7123, 4.31, 5.10, 100), "s"), supported(Interval(4.7123, 4.7, 4.72, 100), "s")
    ('4.7 s', '4.71 s')
    >>> supported(Interval(4.7123, -math.inf, math.inf, 3), "s")  # these trials, and no more than these
    '4.712 s'
    """
    return text(interval.value, unit, shown or digits(interval))


def in_order(*ascending: Interval) -> list[int]:
    """How many digits of each of these numbers are shown: no fewer than keep what is shown in their order.

    So a 95th percentile that its interval leaves in doubt is not above the worst value.

    >>> p95, worst = Interval(2.93, 1.9, math.inf, 16), Interval(2.94, 2.94, 2.94, 16)
    >>> supported(p95, "s"), supported(worst, "s"), in_order(p95, worst)
    ('3 s', '2.94 s', [2, 4])
    """
    shown = [digits(one) for one in ascending]
    while True:
        numbers = [float(f"{one.value:.{many}g}") for one, many in zip(ascending, shown, strict=True)]
        wrong = [at for at in range(len(numbers) - 1) if numbers[at] > numbers[at + 1]]
        if not wrong:
            return shown
        # With the same number of digits no number passes another.
        at = min(wrong[0], wrong[0] + 1, key=lambda number: shown[number])
        shown[at] += 1


def bracketed(interval: Interval, unit: str = "", shown: int | None = None) -> str:
    """The same with the interval behind it; what all three are in is said once.

    >>> bracketed(Interval(4.7123, 4.31, 5.10, 100), "s"), bracketed(Interval(4.7123, 4.3, math.inf, 20), "s")
    ('4.7 s [4.3, 5.1]', '4.7 s [4.3 s, unbounded]')
    >>> bracketed(Interval(1.2, 0.91, 1.4, 20), "s")
    '1.2 s [910 ms, 1.4 s]'
    """
    shown = shown or digits(interval)
    value = text(interval.value, unit, shown)
    low, high = low_bound(interval.low, unit, shown), high_bound(interval.high, unit, shown)
    _, _, prefixed = value.partition(" ")
    if prefixed and all(bound.endswith(f" {prefixed}") for bound in (low, high)):
        low, high = (bound.removesuffix(f" {prefixed}") for bound in (low, high))
    return f"{value} [{low}, {high}]"


def ranged(interval: Interval) -> str:
    """A ratio with three digits and its interval.

    >>> ranged(Interval(0.7143, 0.67, 0.7712, 20)), ranged(Interval(1.2, 1.0, math.inf, 20))
    ('0.714 (0.67 to 0.771)', '1.2 (1 to unbounded)')
    >>> ranged(Interval(math.inf, math.inf, math.inf, 20))  # only the other side has a median
    'beyond all (beyond all to unbounded)'
    """
    value, low = (
        text(number, digits=3) if number < math.inf else "beyond all" for number in (interval.value, interval.low)
    )
    low = "unbounded" if interval.low == -math.inf else low
    return f"{value} ({low} to {high_bound(interval.high, digits_=3)})"


def percent_of(interval: Interval) -> str:
    """A share as a percentage with half of its interval, if it is known.

    >>> percent_of(Interval(0.5, 0.45, 0.55, 20)), percent_of(Interval(0.5, -math.inf, math.inf, 1))
    ('50.0 % ±5.0 %', '50.0 %')
    """
    half = f" ±{percent((interval.high - interval.low) / 2)}" if interval.is_bounded else ""
    return percent(interval.value) + half


def low_bound(value: float, unit: str = "", digits_: int = MOST) -> str:
    """The lower bound of an interval; an infinite one says that nothing finishes, and not that it is missing.

    >>> low_bound(-math.inf, "s"), low_bound(0.5, "s"), low_bound(math.inf, "s")
    ('unbounded', '500 ms', 'did not finish')
    """
    return "unbounded" if value == -math.inf else text(value, unit, digits_)


def high_bound(value: float, unit: str = "", digits_: int = MOST) -> str:
    """The upper bound of an interval.

    >>> high_bound(math.inf, "s"), high_bound(0.5, "s")
    ('unbounded', '500 ms')
    """
    return "unbounded" if value == math.inf else text(value, unit, digits_)


def digits(interval: Interval) -> int:
    """Significant digits of the value down to the leading digit of the half of its interval, from 1 to 4."""
    sides = (interval.value - interval.low, interval.high - interval.value)
    known = [side for side in sides if math.isfinite(side)]
    if not known or max(known) <= 0 or not math.isfinite(interval.value) or interval.value == 0:
        return MOST
    magnitude = math.floor(math.log10(abs(interval.value)))
    return min(max(magnitude - math.floor(math.log10(max(known))) + 1, 1), MOST)
