"""A sign test that may be looked at after every pair: which of two sides is worse, as soon as the pairs tell.

Each pair says whether one side is worse than the other by more than a margin. Where the median pair is not, that
happens with a probability of at most one half. The evidence against it is the mixture likelihood ratio of Robbins
("Statistical methods related to the law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970):
the mean, over all probabilities above one half, of how much more likely they make what was seen. Under the null it
is a martingale that begins at 1, so by Ville's inequality it ever reaches 1 / error with a probability of at most
the error, however often one looks and whenever one stops. Nothing is assumed of how differences are distributed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

ERROR = 0.05
"""Of all comparisons of one gate together for what is worse, and of each comparison for what is not."""

Decision = Literal["worse", "not worse", "undecided"]


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
    n: int = 0
    """Pairs so far."""
    worse: int = 0
    """Of these, those in which the second side is worse by more than the margin."""
    decision: Decision = "undecided"

    def add(self, is_worse: bool) -> None:
        """Takes a pair."""
        self.n += 1
        self.worse += is_worse
        if self.decision != "undecided":
            return
        if evidence(self.n, self.worse) * Fraction(self.error) >= self.family:
            self.decision = "worse"
        elif evidence(self.n, self.n - self.worse) * Fraction(self.error) >= 1:
            self.decision = "not worse"

    def can_become_worse(self, left: int) -> bool:
        """Whether so many pairs more could still say that it is worse."""
        if self.decision != "undecided":
            return False
        return evidence(self.n + left, self.worse + left) * Fraction(self.error) >= self.family

    @property
    def lacks_pairs(self) -> bool:
        """Whether so few pairs could not have said that it is worse, however much it was."""
        return self.decision == "undecided" and self.n < fewest(self.family, self.error)


def fewest(family: int, error: float = ERROR) -> int:
    """How many pairs say "worse" if each of them does.

    >>> fewest(1), fewest(48)
    (7, 13)
    """
    n = 1
    while evidence(n, n) * Fraction(error) < family:
        n += 1
    return n
