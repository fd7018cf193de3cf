"""How our trials agree with the peer's: ratios of quantiles with intervals, and shares of modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from thalweg.judging.statistics.claims import FAILS, HOLDS, each_of, within
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.rates import rate_interval
from thalweg.judging.statistics.ratios import OrderStatistic, ratio_interval

Agreement = Literal["inside", "outside", "undecided"]
PLACES = {"min": 0.0, "p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "max": 1.0}
LEAST_OF_A_MODE = 5
"""Trials; fewer are outliers."""


def sample_of(quantiles: Mapping[str, float], n: int) -> Values:
    """A sample of n values with these quantiles, linear between them: what is known of trials kept as quantiles.

    >>> sample_of({"min": 0, "p5": 5, "p25": 25, "median": 50, "p75": 75, "p95": 95, "max": 100}, 3).tolist()
    [0.0, 50.0, 100.0]
    """
    known = [float(quantiles[name]) for name in PLACES]
    return np.interp(np.linspace(0, 1, n), list(PLACES.values()), known)


def ratio_of_quantiles(ours: Values, peer: Values, quantile: str) -> Interval:
    """A quantile of ours over the peer's, with its interval of 95 %.

    >>> ratio_of_quantiles(np.full(20, 3.0), np.full(20, 2.0), "median")
    Interval(value=1.5, low=1.5, high=1.5, n=20)
    """
    fraction = PLACES[quantile]

    def ranks(n: int) -> tuple[int, ...]:
        below = int((n - 1) * fraction)
        return (below + 1, min(below + 2, n))

    def combined(values: Values) -> Values:
        # The share of the way between both ranks; samples of one size have one.
        share = (size - 1) * fraction % 1
        return np.asarray(values[..., 0] * (1 - share) + values[..., 1] * share, dtype=np.float64)

    size = min(len(ours), len(peer))
    return ratio_interval(OrderStatistic(ranks, combined), ours[:size], peer[:size])


def agreement(ratio: Interval, tolerance: float) -> Agreement:
    """Whether a ratio lies within 1 +- `tolerance` percent, by its whole interval.

    >>> [agreement(Interval(1.0, low, 1.01, 100), 2) for low in (0.99, 0.97)]
    ['inside', 'undecided']
    >>> agreement(Interval(1.1, 1.05, 1.2, 100), 2)
    'outside'
    """
    answer = within(ratio, 1 - tolerance / 100, 1 + tolerance / 100)
    return "inside" if answer == HOLDS else "outside" if answer == FAILS else "undecided"


def split(values: Values) -> float | None:
    """Between two modes, if there are two: a gap wider than half of the range, with trials on both sides.

    >>> split(np.repeat([494.0, 496.0, 1939.0], 5))
    1217.5
    >>> split(np.arange(20.0)) is None
    True
    """
    ordered = np.sort(values)
    gaps = np.diff(ordered)
    at = int(np.argmax(gaps))
    if min(at + 1, len(ordered) - at - 1) < LEAST_OF_A_MODE or gaps[at] <= np.ptp(ordered) / 2:
        return None
    return float(ordered[at] + gaps[at] / 2)


def share_above(values: Values, at: float, confidence: float) -> Interval:
    """The share of trials in the upper mode."""
    return rate_interval(int(np.count_nonzero(values > at)), len(values), confidence)


def difference_of_shares(ours: Values, peer: Values, at: float) -> Interval:
    """By how much more of our trials are in the upper mode; each share has half of what the interval may miss.

    >>> low = difference_of_shares(np.zeros(100), np.repeat([0.0, 9.0], [60, 40]), 5.0)
    >>> low.value, round(low.low, 2), round(low.high, 2)
    (-0.4, -0.52, -0.25)
    """
    our_share, their_share = (share_above(values, at, each_of(2)) for values in (ours, peer))
    return Interval(
        our_share.value - their_share.value,
        our_share.low - their_share.high,
        our_share.high - their_share.low,
        min(len(ours), len(peer)),
    )
