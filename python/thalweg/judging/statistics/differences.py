"""Difference between two samples: in pairs, or of all with all.

**In pairs.** Where trials share seeds, the path does the same in both. The difference is the median of the
differences within pairs, with the interval of the sign test: order statistics, without any assumption.

**Of all with all.** The difference is the median of all differences between a value of one sample and a value
of the other (Hodges and Lehmann, Annals of Mathematical Statistics 34, 1963), with the interval of the test of
Wilcoxon, Mann and Whitney. It assumes that one distribution is the other one, shifted. Of 3 trials on each
side there is no interval of 95 %: by chance, all 9 differences are above in 5 % of cases, and below in 5 %.

Which is sharper depends on the rank correlation of the pairs. For normal values the sign test makes as much of
n differences as Student's test of 2/pi n, Mann and Whitney's of 3/pi n; pairing takes the correlated part
out of the variance. So where all trials have a partner, pairs are sharper if 1 - rho < 2/3: a rank correlation
above 1/3. A negative one makes samples that share seeds differ more: then the interval of all with all is
widened by sqrt(1 - rho).

An unfinished trial is infinite. Infinite less finite is infinite; two unfinished trials are a tie, 0: unknown
which would have ended first.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from thalweg.judging.statistics.interval import CONFIDENCE, Interval, Values
from thalweg.judging.statistics.probabilities import binomial_up_to, normal_below, ranks
from thalweg.judging.statistics.quantiles import median_interval

if TYPE_CHECKING:
    import numpy.typing as npt


ROUNDING = 16 * sys.float_info.epsilon
"""The share of a value that a few operations on floating-point numbers may add to it or take away."""
LEAST_PAIRS = 6
"""Fewer have no interval, and no correlation worth the name."""


@dataclass(frozen=True)
class Difference:
    """By how much b is larger than a."""

    interval: Interval
    p_larger: float
    """Chance of such trials if b were not larger than a by more than the margin; one-sided."""
    p_smaller: float
    """The same if b were not smaller by more than the margin."""
    p_least: float
    """The least of these chances that so many trials can have, however much larger b is."""

    @property
    def p_differs(self) -> float:
        """Chance of such trials if b were within the margin of a; of both sides."""
        return min(1.0, 2 * min(self.p_larger, self.p_smaller))


def subtract(b: Values, a: Values) -> Values:
    """B - a; two infinite values are a tie, and so are two that differ by no more than rounding.

    >>> subtract(np.array([np.inf, np.inf, 3.0, 0.1 + 0.2]), np.array([np.inf, 1.0, 1.0, 0.3])).tolist()
    [0.0, inf, 2.0, 0.0]
    """
    with np.errstate(invalid="ignore"):
        difference = b - a
        tie = np.isfinite(difference) & (np.abs(difference) <= ROUNDING * np.abs(a))
    return np.where(tie | (np.isinf(a) & np.isinf(b)), 0.0, difference)


def in_pairs(a: Values, b: Values, margin: float = 0.0, confidence: float = CONFIDENCE) -> Difference:
    """Compares values that belong together, one by one.

    >>> in_pairs(np.zeros(10), np.arange(1.0, 11.0)).interval.value
    5.5
    """
    differences = subtract(b, a)

    def sign_test(above: int, below: int) -> float:
        """Probability of so few pairs below; ties are omitted."""
        return binomial_up_to(below, above + below, 0.5) if above + below else 1.0

    larger = sign_test(_count(differences > margin), _count(differences < margin))
    smaller = sign_test(_count(differences < -margin), _count(differences > -margin))
    return Difference(median_interval(differences, confidence), larger, smaller, sign_test(len(differences), 0))


def of_all(
    a: Values, b: Values, margin: float = 0.0, confidence: float = CONFIDENCE, correlation: float = 0.0
) -> Difference:
    """Compares every value of one sample with every value of the other.

    `correlation` is the rank correlation of the pairs where samples share seeds; a positive one is ignored,
    since the interval is only wider than need be then.

    >>> of_all(np.zeros(10), np.arange(1.0, 11.0)).interval.value
    5.5
    """
    differences = np.sort(subtract(b[:, None], a[None, :]).ravel())
    m, n, count = len(a), len(b), len(differences)
    middle = (differences[(count - 1) // 2], differences[count // 2])
    value = middle[0] if middle[0] == middle[1] else sum(middle) / 2
    # The number of pairs in which b is below a is nearly normal, with this mean and variance (Mann and Whitney).
    # It is a whole number: the half corrects for that, without which few trials would promise too much.
    widened = math.sqrt(1 - min(correlation, 0.0))
    deviation = widened * math.sqrt(m * n * (m + n + 1) / 12)
    rank = math.floor(count / 2 + NormalDist().inv_cdf((1 - confidence) / 2) * deviation - 0.5)
    low, high = (differences[rank], differences[count - 1 - rank]) if rank >= 0 else (-math.inf, math.inf)

    def rank_test(beyond: int, ties: int) -> float:
        """Probability of this many differences beyond the margin; a tie counts one half."""
        return _rank_chance(beyond + ties / 2, m, n, widened)

    larger = rank_test(_count(differences > margin), _count(differences == margin))
    smaller = rank_test(_count(differences < -margin), _count(differences == -margin))
    interval = Interval(float(value), float(low), float(high), min(m, n))
    return Difference(interval, larger, smaller, rank_test(count, 0))


def sharper(a: Values, b: Values, margin: float = 0.0, confidence: float = CONFIDENCE) -> tuple[Difference, bool]:
    """Compares samples whose values belong together one by one; whether in pairs is sharper than all with all.

    >>> path = np.array([1.0, 5.0, 2.0, 8.0, 3.0, 9.0])
    >>> sharper(path, path + 0.5)[0].interval
    Interval(value=0.5, low=0.5, high=0.5, n=6)
    """
    correlation, n = rank_correlation(a, b), len(a)
    if pairs_are_sharper(correlation, n, n, n):
        return in_pairs(a, b, margin, confidence), True
    return of_all(a, b, margin, confidence, correlation), False


def least_pairs(chance: float) -> int:
    """How many pairs the sign test needs at least to have this chance, of both sides: all signs alike.

    >>> least_pairs(0.05), least_pairs(0.05 / 228)
    (6, 14)
    """
    return math.ceil(math.log2(2 / chance))


def least_of_all(chance: float) -> int:
    """How many trials on each side a comparison of all with all needs at least: every difference above zero.

    >>> least_of_all(0.05), least_of_all(0.05 / 228)
    (4, 10)
    """
    n = 1
    while 2 * _rank_chance(n * n, n, n) > chance:
        n += 1
    return n


def _rank_chance(beyond: float, m: int, n: int, widened: float = 1.0) -> float:
    """Probability of this many of all m n differences beyond the margin, or more."""
    deviation = widened * math.sqrt(m * n * (m + n + 1) / 12)
    return normal_below(-(beyond - m * n / 2 - 0.5) / deviation)


def _count(which: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(which))


def pairs_are_sharper(correlation: float, pairs: int, m: int, n: int) -> bool:
    """Whether this many pairs with this rank correlation are sharper than samples of m and n values.

    >>> [pairs_are_sharper(rho, 100, 100, 100) for rho in (-0.5, 0.3, 0.4)]
    [False, False, True]
    """
    if pairs < LEAST_PAIRS:
        return False
    of_pairs = math.pi / 2 * 2 * (1 - correlation) / pairs
    return of_pairs < math.pi / 3 * (1 / m + 1 / n)


def rank_correlation(a: Values, b: Values) -> float:
    """Spearman's rank correlation of pairs; 0 if one side does not vary, since pairing is then useless.

    >>> rank_correlation(np.array([1.0, 2.0, np.inf]), np.array([10.0, 30.0, 70.0]))
    1.0
    >>> rank_correlation(np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    0.0
    """
    first, second = ranks(a), ranks(b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1].round(12))
