"""Ratios of two independent samples' medians or other statistics, by bootstrap.

The ratio is drawn again and again from samples with replacement (Efron, The Annals of Statistics 7, 1979); its
percentiles 2.5 and 97.5 are its interval of 95 %. Samples are drawn apart from each other even where they share
seeds: trials of two controllers part ways within milliseconds.

A statistic may be infinite, where too many trials did not finish. Infinite over finite is infinite, finite over
infinite is 0, and of two infinite ones nothing tells which is larger: every ratio is possible, so that the
interval has no bounds if that happens in more than 2.5 % of the draws.

A statistic is made of order statistics. Of a sample drawn with replacement, these are order statistics of the
original sample at the places that uniform order statistics point to, so only they are drawn, and not the sample.

Limits: intervals of medians are a little wide, and miss on each side in 1 to 2 % where 2.5 % are allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from thalweg.judging.statistics.interval import CONFIDENCE, Interval, Values

if TYPE_CHECKING:
    import numpy.typing as npt


RESAMPLES = 4000
_SEED = 9743
"""The seed of the resampling: the same trials give the same answer."""


@dataclass(frozen=True)
class OrderStatistic:
    """A statistic that is made of some of the values of a sample in ascending order."""

    ranks: Callable[[int], tuple[int, ...]]
    """Which ones of n values, from 1 on, ascending; the same may come twice."""
    combined: Callable[[Values], Values]
    """The statistic, out of the values of those ranks (last axis)."""

    def of(self, sample: Values) -> float:
        """Its value for a sample."""
        at = [rank - 1 for rank in self.ranks(len(sample))]
        return float(self.combined(np.sort(sample)[at]))

    def resampled(self, sample: Values, stream: int, size: int | None = None) -> Values:
        """Its values for samples of `size`, or as many, drawn with replacement; streams are independent."""
        n, size = len(sample), len(sample) if size is None else size
        return self.combined(np.sort(sample)[_places(self.ranks(size), size, n, stream)])


@lru_cache(maxsize=64)
def _places(ranks: tuple[int, ...], size: int, n: int, stream: int) -> npt.NDArray[np.int64]:
    """Where in a sample of n, from 0 on, order statistics of samples of `size` from it lie: (resample, rank)."""
    rng = np.random.default_rng((_SEED, stream))
    ranks_at, quantile, before = [], np.zeros(RESAMPLES), 0
    for rank in ranks:
        if rank > before:
            # The number of rank (rank - before) among the size - before uniform numbers above `quantile`.
            quantile = quantile + (1 - quantile) * rng.beta(rank - before, size - rank + 1, RESAMPLES)
        ranks_at.append(np.minimum((quantile * n).astype(np.int64), n - 1))
        before = rank
    return np.stack(ranks_at, axis=-1)


def _mean_of_both(values: Values) -> Values:
    low, high = values[..., 0], values[..., 1]
    return np.where(low == high, low, (low + high) / 2)


MEDIAN = OrderStatistic(lambda n: ((n + 1) // 2, n // 2 + 1), _mean_of_both)


def ratio_of_medians(first: Values, second: Values, confidence: float = CONFIDENCE) -> Interval:
    """The ratio of the medians of two samples.

    >>> ratio_of_medians(np.full(6, 1.0), np.full(6, 2.0))
    Interval(value=0.5, low=0.5, high=0.5, n=6)
    """
    return ratio_interval(MEDIAN, first, second, confidence)


def ratio_interval(
    statistic: OrderStatistic, first: Values, second: Values, confidence: float = CONFIDENCE
) -> Interval:
    """The ratio of a statistic of two samples; `n` is the size of the smaller one."""
    drawn = _over(statistic.resampled(first, 0), statistic.resampled(second, 1))
    value = _over(np.array(statistic.of(first)), np.array(statistic.of(second)))
    return Interval(float(value), *_bounds(drawn, confidence), min(len(first), len(second)))


def ratio_to_published(
    statistic: OrderStatistic, sample: Values, published: float, size: int, confidence: float = CONFIDENCE
) -> Interval:
    """A statistic of a sample over the published one, of which the number of trials is known and not more.

    The published statistic has an error too. It is taken for the error of `size` trials of our distribution,
    scaled: both sides are drawn from our sample.

    Limits: where the distributions differ in shape, so does the error.

    >>> sample = np.linspace(9.0, 11.0, 1000)
    >>> exact = ratio_to_published(MEDIAN, sample, 10.0, size=1_000_000)
    >>> few = ratio_to_published(MEDIAN, sample, 10.0, size=20)
    >>> round(exact.value, 6), few.high - few.low > 2 * (exact.high - exact.low)
    (1.0, True)
    """
    own = statistic.of(sample)
    drawn = _over(statistic.resampled(sample, 0), statistic.resampled(sample, 1, size)) * own / published
    return Interval(own / published, *_bounds(drawn, confidence), min(len(sample), size))


def _bounds(drawn: Values, confidence: float) -> tuple[float, float]:
    tail, unknown = (1 - confidence) / 2, np.isnan(drawn)
    # What cannot be told counts against both bounds.
    low = np.quantile(np.where(unknown, -np.inf, drawn), tail, method="higher")
    high = np.quantile(np.where(unknown, np.inf, drawn), 1 - tail, method="lower")
    return float(low), float(high)


def _over(numerator: Values, denominator: Values) -> Values:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(numerator / denominator, dtype=np.float64)
