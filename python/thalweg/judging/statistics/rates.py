"""Rates of events, from their counts: bounds, and whether one of two is larger."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from thalweg.judging.statistics.interval import CONFIDENCE, Interval
from thalweg.judging.statistics.probabilities import beta_quantile, binomial_up_to

if TYPE_CHECKING:
    import numpy.typing as npt


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


def chance_of_more(events_a: int, n_a: int, events_b: int, n_b: int) -> float:
    """The chance of so many events in b, or more, if they were no more frequent than in a; one-sided.

    Of so many events in both together, the number in b is hypergeometric (the exact test of Fisher, The Design of
    Experiments, 1935). The chance is never understated, and overstated where events are rare.

    >>> round(chance_of_more(0, 100, 1, 100), 12), chance_of_more(0, 100, 20, 100) < 1e-6
    (0.5, True)
    >>> chance_of_more(3, 10, 0, 10)
    1.0
    """
    events, n = events_a + events_b, n_a + n_b
    if events_b <= max(0, events - n_a):
        return 1.0

    def ways(k: int, of: int) -> float:
        return math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)

    all_ways = ways(events, n)
    more = range(events_b, min(events, n_b) + 1)
    return min(1.0, math.fsum(math.exp(ways(k, n_b) + ways(events - k, n_a) - all_ways) for k in more))


def chance_of_more_in_pairs(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> float:
    """The same of trials in pairs: where only one side has the event, it should be either side equally often.

    The exact form of McNemar's test (Psychometrika 12, 1947), which is the sign test.

    >>> a, b = np.zeros(10, bool), np.arange(10) < 3
    >>> round(chance_of_more_in_pairs(a, b), 12), chance_of_more_in_pairs(a, a), chance_of_more_in_pairs(b, a)
    (0.125, 1.0, 1.0)
    """
    a_alone, b_alone = int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a))
    return binomial_up_to(a_alone, a_alone + b_alone, 0.5) if a_alone + b_alone else 1.0
