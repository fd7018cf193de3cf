"""Quantiles of a sample, and intervals for the quantiles of what it was drawn from.

The interval of a quantile lies between two order statistics, which needs no assumption on the distribution: of n
trials, the number below the quantile `p` is binomial. Between neighbouring order statistics it is interpolated
(Nyblom, Annals of the Institute of Statistical Mathematics 44, 1992; for the median Hettmansperger and Sheather,
Statistics and Probability Letters 4, 1986), so that 95 % means 95 % and not 97 % for few trials.

Limits: with few trials a bound may not exist. The bound of the median needs 6 trials, the upper one of the 95th
percentile 72. Ties make the interval wider than need be, never narrower.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache

import numpy as np

from thalweg.judging.statistics.interval import CONFIDENCE, Interval, Values
from thalweg.judging.statistics.probabilities import binomial_above


def percentile(ordered: Values, fraction: float) -> float:
    """The quantile of values in ascending order, by linear interpolation; infinite values are allowed.

    >>> percentile(np.array([1.0, 2.0, 4.0]), 0.75)
    3.0
    >>> percentile(np.array([1.0, np.inf]), 0.5)
    inf
    """
    return _between(ordered, (len(ordered) - 1) * fraction)


def median(values: Values) -> float:
    """The median of values in any order.

    >>> median(np.array([3.0, 1.0, np.inf]))
    3.0
    """
    return percentile(np.sort(values), 0.5)


def quantile_interval(values: Values, fraction: float, confidence: float = CONFIDENCE) -> Interval:
    """A quantile of a sample, with an interval for the distribution's.

    >>> seven = quantile_interval(np.array([4.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0]), 0.5)
    >>> seven.value, round(seven.low, 2), round(seven.high, 2)
    (4.0, 1.73, 6.27)
    """
    ordered = np.sort(values)
    tail = (1 - confidence) / 2
    low = _lower_bound(ordered, fraction, tail)
    # The upper bound of a quantile is the lower one of its mirror image.
    high = -_lower_bound(-ordered[::-1], 1 - fraction, tail)
    return Interval(percentile(ordered, fraction), low, high, len(ordered))


def median_interval(values: Values, confidence: float = CONFIDENCE) -> Interval:
    """The median with its interval."""
    return quantile_interval(values, 0.5, confidence)


def least_worst(values: Values, confidence: float = CONFIDENCE) -> float:
    """What the worst of as many further trials reaches at least; -inf if so few trials do not tell.

    A prediction: of 2n trials in any order, the chance that the j largest are all among the first n is the product
    of (n - i) / (2n - i), i < j, about 2^-j. There is no such bound from above: the worst of the trials to come
    may be worse than anything seen.

    >>> least_worst(np.arange(1.0, 101.0)), least_worst(np.arange(2.0))
    (96.0, -inf)
    """
    ordered, n = np.sort(values), len(values)
    chance = 1.0
    for j in range(n):
        chance *= (n - j) / (2 * n - j)
        if chance <= 1 - confidence:
            return float(ordered[n - 1 - j])
    return -math.inf


def _lower_bound(ordered: Values, fraction: float, tail: float) -> float:
    """The value under which the quantile lies with probability `tail`."""
    n = len(ordered)
    k, share, weight = _lower_position(n, fraction, tail)
    if k == 0:
        return -math.inf
    if k == n:
        return float(ordered[-1])
    is_edge = math.isinf(ordered[k]) and not math.isinf(ordered[k - 1])
    if share <= 0 or is_edge:  # nothing lies between a number and infinity
        return float(ordered[k - 1])
    return _between(ordered, k - 1 + weight)


@lru_cache(maxsize=1024)
def _lower_position(n: int, fraction: float, tail: float) -> tuple[int, float, float]:
    """The last order statistic, from 1, that is surely enough at or below the quantile of n values; 0 for none.

    And the share of the way to the next one, in probability and in value. All samples of a size have the same.
    """
    if (1 - fraction) ** n > tail:  # not even the least value is so surely at or below the quantile
        return 0, 0.0, 0.0

    def reached(rank: int) -> float:
        """The chance that the order statistic of this rank is at or below the quantile."""
        return binomial_above(rank - 1, n, fraction)

    k = bisect_right(
        range(1, n + 1), tail - 1, key=lambda rank: -reached(rank)
    )  # the last that is so surely enough
    if k in (0, n):
        return k, 0.0, 0.0
    share = (reached(k) - (1 - tail)) / (reached(k) - reached(k + 1))
    if share <= 0:
        return k, share, 0.0
    return k, share, 1 / (1 + k * (1 - fraction) / ((n - k) * fraction) * (1 - share) / share)


def _between(ordered: Values, position: float) -> float:
    """The value at a position between two order statistics, counted from 0."""
    low, share = int(position), position - int(position)
    if share == 0 or ordered[low] == ordered[low + 1] or math.isinf(ordered[low]):
        return float(ordered[low])
    return float(ordered[low] + share * (ordered[low + 1] - ordered[low]))
