"""A sign test that may be looked at after every pair: which of two sides is worse, as soon as the pairs tell.

Each pair says whether one side is worse than the other by more than a margin. Where the median pair is not, that
happens with a probability of at most one half. The evidence against it is the mixture likelihood ratio of Robbins
("Statistical methods related to the law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970):
the mean, over all probabilities above one half, of how much more likely they make what was seen. Under the null it
is a martingale that begins at 1, so by Ville's inequality it ever reaches 1 / error with a probability of at most
the error, however often one looks and whenever one stops. Nothing is assumed of how differences are distributed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.quantiles import median

ERROR = 0.05
"""The error of all comparisons of one gate together for what is worse, and of each for what is not."""

Answer = Literal["worse", "holds", "undecided"]
"""What `judging.answer` has for a sign test: B is worse, or it holds that B is not."""


def evidence(n: int, k: int) -> Fraction:
    """How much more likely a probability above one half, any one alike, makes `k` of `n` than one half does.

    The mean over p in [1/2, 1] of (2 p)^k (2 (1 - p))^(n - k). It is an incomplete beta function, and so a sum of
    binomial coefficients: exact. With C(n + 1, j), j = 0 ... k, it is their sum over (n + 1) C(n, k), which is
    (n + 1 - k) C(n + 1, k); each coefficient comes from the one before.

    >>> evidence(0, 0), evidence(1, 1), evidence(1, 0)
    (Fraction(1, 1), Fraction(3, 2), Fraction(1, 2))
    """
    coefficient = total = 1
    for j in range(1, k + 1):
        coefficient = coefficient * (n + 2 - j) // j
        total += coefficient
    return Fraction(total, (n + 1 - k) * coefficient)


@dataclass
class SignTest:
    """One comparison, pair by pair. What it has decided it keeps."""

    family: int
    """How many comparisons share the error of what is worse."""
    error: float = ERROR
    planned: int | None = None
    """How many pairs there are to be; None if nothing is planned."""
    n: int = 0
    """Pairs so far."""
    worse: int = 0
    """In how many of these the second side is worse by more than the margin."""
    answer: Answer = "undecided"

    def add(self, is_worse: bool) -> None:
        """Takes a pair."""
        self.n += 1
        self.worse += is_worse
        if self.answer != "undecided":
            return
        if evidence(self.n, self.worse) * Fraction(self.error) >= self.family:
            self.answer = "worse"
        elif evidence(self.n, self.n - self.worse) * Fraction(self.error) >= 1:
            self.answer = "holds"

    def can_become_worse(self, left: int) -> bool:
        """Whether so many pairs more could still say that it is worse."""
        if self.answer != "undecided":
            return False
        return evidence(self.n + left, self.worse + left) * Fraction(self.error) >= self.family

    @property
    def lacks_pairs(self) -> bool:
        """Whether pairs are missing that could have said that it is worse.

        A test that ends before its last pair since the rest could not say so any more lacks none.
        """
        if self.answer != "undecided" or self.n >= fewest(self.family, self.error):
            return False
        return self.planned is None or self.can_become_worse(self.planned - self.n)


def median_interval(values: Sequence[float], error: float = ERROR) -> Interval:
    """The median of all trials to come, with an interval that one may look at after every trial.

    A number is outside if the sign test has evidence enough, on either side: so many values lie above it, or below
    it. Bounds are order statistics; nothing is assumed of the distribution. Fewer than eight values have none.

    >>> median_interval([1.0, 2.0, 3.0])
    Interval(value=2.0, low=-inf, high=inf, n=3)
    >>> median_interval([float(value) for value in range(20)])
    Interval(value=9.5, low=3.0, high=16.0, n=20)
    """
    n, ordered = len(values), sorted(values)
    if not n:
        return Interval(math.nan, -math.inf, math.inf, 0)
    outside = 0  # as many of the least, and of the largest values
    while outside < (n + 1) // 2 and evidence(n, n - outside) * Fraction(error) >= 2:
        outside += 1
    middle = float(median(np.array(ordered)))
    if not outside:
        return Interval(middle, -math.inf, math.inf, n)
    return Interval(middle, ordered[outside - 1], ordered[n - outside], n)


def fewest(family: int, error: float = ERROR) -> int:
    """How many pairs say "worse" if each of them does.

    >>> fewest(1), fewest(48)
    (7, 13)
    """
    n = 1
    while evidence(n, n) * Fraction(error) < family:
        n += 1
    return n
