"""Rates of events, from their counts."""

from __future__ import annotations

from thalweg.statistics.interval import CONFIDENCE, Interval
from thalweg.statistics.probabilities import beta_quantile


def rate_upper_bound(failures: float, n: float, confidence: float = CONFIDENCE) -> float:
    """Upper bound of a failure rate, one-sided (Clopper and Pearson, Biometrika 26, 1934).

    With no failure in 100 trials: 1 - 0.05^(1/100). Numbers of trials may be effective ones, with a fraction.

    >>> round(rate_upper_bound(0, 100), 4)
    0.0295
    >>> rate_upper_bound(3, 3)
    1.0
    """
    if failures >= n:
        return 1.0
    if failures == 0:
        return float(1 - (1 - confidence) ** (1 / n))
    return beta_quantile(failures + 1, n - failures, confidence)


def rate_lower_bound(failures: float, n: float, confidence: float = CONFIDENCE) -> float:
    """Lower bound of a failure rate, one-sided (Clopper and Pearson): the upper one of successes, mirrored.

    >>> rate_lower_bound(0, 100), round(rate_lower_bound(100, 100), 4)
    (0.0, 0.9705)
    """
    return 1 - rate_upper_bound(n - failures, n, confidence)


def rate_interval(events: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """A rate with its two-sided interval by Clopper and Pearson.

    >>> ten = rate_interval(0, 10)
    >>> ten.low, round(ten.high, 4)
    (0.0, 0.3085)
    """
    one_sided = (1 + confidence) / 2
    high = rate_upper_bound(events, n, one_sided)
    return Interval(events / n, rate_lower_bound(events, n, one_sided), high, n)
