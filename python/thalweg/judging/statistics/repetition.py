"""How many different trials there are among those that were run.

On a path without randomness a hundred trials are one trial, a hundred times. A bound on a failure rate that counts
them all says nothing. The effective number of trials is how many different values there would be in the long run,
or the number of trials where that is less: by the estimator of Chao (Scandinavian Journal of Statistics 11, 1984),
from how many values came once and how many came twice.

Limits: it looks at one number of a trial. Values count as equal if they are so in four digits, the digits of the
tables; trials that differ by less differ by nothing that anybody reads.
"""

from __future__ import annotations

import numpy as np

from thalweg.judging.statistics.interval import Values

DIGITS = 4
LEAST_OUTCOMES = 20
"""Trials that repeat fewer outcomes than this are those outcomes: they have no rate."""


def has_rate(effective_n: int, n: int) -> bool:
    """Whether a rate of failures among n trials says anything: not if a few outcomes repeat each other.

    >>> has_rate(1, 100), has_rate(20, 100), has_rate(5, 5)
    (False, True, True)
    """
    return effective_n >= min(LEAST_OUTCOMES, n)


def effective_number(values: Values) -> int:
    """Number of distinct trials; a value that is infinite (did not finish) is a value like others.

    >>> effective_number(np.array([4.4571, 4.4573, 4.4568])), effective_number(np.arange(3.0))
    (1, 3)
    >>> effective_number(np.repeat([1.0, 2.0], 50))
    2
    """
    _, counts = np.unique(rounded(values, DIGITS), return_counts=True)
    once, twice = int(np.count_nonzero(counts == 1)), int(np.count_nonzero(counts == 2))
    # The form that is free of bias, and exists without doubles: S + f1 (f1 - 1) / (2 (f2 + 1)).
    there_are = len(counts) + once * (once - 1) / (2 * (twice + 1))
    return int(min(len(values), there_are))


def rounded(values: Values, digits: int) -> Values:
    """Values to this many significant digits.

    >>> rounded(np.array([0.0, 123.456, -0.98765, np.inf]), 3).tolist()
    [0.0, 123.0, -0.988, inf]
    """
    known = np.isfinite(values) & (values != 0)
    size = np.abs(np.where(known, values, 1.0))
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(size)))
    return np.where(known, np.round(values * np.where(known, scale, 1.0)) / scale, values)
