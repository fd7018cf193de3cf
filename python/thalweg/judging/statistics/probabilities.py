"""Probabilities of a few distributions, by the regularized incomplete beta function.

I_x(a, b) is as in the NIST Digital Library of Mathematical Functions, 8.17; equation 8.17.5 says what it is
to binomial sums. scipy has the same functions, but is a third of an installation that needs nothing else of it.
"""

from __future__ import annotations

import math

import numpy as np

from thalweg._native import inverse_regularized_beta, regularized_beta
from thalweg.judging.statistics.interval import Values


def binomial_above(count: int, n: int, probability: float) -> float:
    """The chance of more than `count` successes in n trials.

    >>> [round(binomial_above(count, 3, 0.5), 12) for count in (0, 1, 3)]
    [0.875, 0.5, 0.0]
    """
    if count >= n:
        return 0.0
    return regularized_beta(count + 1, n - count, probability) if count >= 0 else 1.0


def binomial_up_to(count: int, n: int, probability: float) -> float:
    """The chance of at most `count` successes in n trials.

    >>> round(binomial_up_to(1, 10, 0.5), 12) == 11 / 1024, binomial_up_to(-1, 10, 0.5)
    (True, 0.0)
    """
    if count >= n:
        return 1.0
    return regularized_beta(n - count, count + 1, 1 - probability) if count >= 0 else 0.0


def beta_quantile(a: float, b: float, probability: float) -> float:
    """The quantile of a beta distribution.

    >>> round(beta_quantile(1, 100, 0.95), 6) == round(1 - 0.05**0.01, 6)
    True
    """
    return inverse_regularized_beta(a, b, probability)


def normal_below(value: float) -> float:
    """The chance that a standard normal variable is below a value, exact in the tail too.

    >>> normal_below(0.0), round(normal_below(-1.959964), 6)
    (0.5, 0.025)
    """
    return math.erfc(-value / math.sqrt(2)) / 2


def student_below(degrees: float, value: float) -> float:
    """The chance that Student's t is below a value.

    >>> student_below(5, 0.0), round(student_below(1, -1.0), 12)
    (0.5, 0.25)
    """
    if value == 0:
        return 0.5
    beyond = regularized_beta(degrees / 2, 0.5, degrees / (degrees + value * value)) / 2
    return beyond if value < 0 else 1 - beyond


def student_quantile(degrees: float, probability: float) -> float:
    """The quantile of Student's t.

    >>> round(student_quantile(1, 0.75), 9)
    1.0
    """
    if probability == 0.5:
        return 0.0
    tail = 2 * min(probability, 1 - probability)
    x = inverse_regularized_beta(degrees / 2, 0.5, tail)
    return math.copysign(math.sqrt(degrees * (1 / x - 1)), probability - 0.5)


def ranks(values: Values) -> Values:
    """The rank of each value from 1 on; equal values share the mean of theirs.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, groups, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Values = (last - (counts - 1) / 2)[groups]
    return shared
