"""Distributions of delays: histograms, cumulative curves, and the one behind in-order delivery.

On an in-order link, a packet held back for `h` only shows that its own delay was at most `h`:
the value is left-censored. Omitting such packets, as the in-order filter does, keeps long delays and
drops short ones. The Kaplan-Meier estimate (1958), from the largest value down, uses both kinds:

    F(t) = product over exact values u > t of (1 - exact(u) / at_or_below(u))

where `at_or_below(u)` counts all packets whose exact value or bound is at most u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.probe.in_order import GAP_S, hold
from thalweg.probe.series import Counts, Floats, Mask

BIN_S = 2.5e-3
BINS_END_S = 150e-3
"""The bins of octoping's analysis."""


@dataclass(frozen=True)
class Histogram:
    """Counts in bins of equal width from 0 on, and of what lies beyond the last."""

    edges_s: Floats
    counts: Counts
    beyond: int

    @staticmethod
    def pool(parts: Sequence[Histogram]) -> Histogram:
        """All in one; their bins have to be the same, and there is at least one.

        >>> one = histogram(np.array([1e-3, 3e-3, 1.0]))
        >>> Histogram.pool([one, one]).counts[:2].tolist(), Histogram.pool([one, one]).beyond
        ([2, 2], 2)
        """
        counts = np.sum([part.counts for part in parts], axis=0)
        return Histogram(parts[0].edges_s, counts.astype(np.int64), sum(part.beyond for part in parts))


def histogram(values: Floats, width_s: float = BIN_S, end_s: float = BINS_END_S) -> Histogram:
    """Counts values, each bin from its lower edge to just below its upper one."""
    edges = np.arange(round(end_s / width_s) + 1) * width_s
    index = np.floor(values / width_s).astype(np.int64)
    inside = (index >= 0) & (index < len(edges) - 1)
    counts = np.bincount(index[inside], minlength=len(edges) - 1)
    return Histogram(edges, counts.astype(np.int64), int(np.sum(index >= len(edges) - 1)))


def percentiles(values: Floats, shares: tuple[float, ...]) -> list[float]:
    """The least value that at least this share of the values does not exceed; nan for none."""
    if len(values) == 0:
        return [float("nan")] * len(shares)
    return [float(value) for value in np.quantile(values, shares, method="inverted_cdf")]


def cumulative(values: Floats) -> tuple[Floats, Floats]:
    """The values in order, and the share of all at or below each."""
    return np.sort(values), np.arange(1, len(values) + 1) / max(len(values), 1)


@dataclass(frozen=True)
class Censored:
    """Delays of which some are known exactly and of the others only an upper bound."""

    value: Floats
    """The delay, or its bound."""
    exact: Mask

    @staticmethod
    def join(parts: list[Censored]) -> Censored:
        """All in one."""
        return Censored(
            np.concatenate([part.value for part in parts]), np.concatenate([part.exact for part in parts])
        )


def undo_in_order(sent: Floats, delay: Floats, gap_s: float = GAP_S) -> Censored:
    """The packets' own delays on an in-order link.

    A packet that came within `gap_s` of the release of those before it was held back: its own delay was at most
    the bound `hold + gap`, a number that does not depend on it. A packet that overtook was not held back.
    """
    held = hold(sent, delay)
    bound = held + gap_s
    overtook = delay < held - gap_s
    exact = (delay > bound) | overtook
    return Censored(np.where(exact, delay, bound), exact)


def censored_cumulative(delays: Censored) -> tuple[Floats, Floats]:
    """The exact values in order, and the estimated probability of a delay at or below each.

    >>> values, shares = censored_cumulative(Censored(np.array([1.0, 2.0, 3.0]), np.array([True, True, True])))
    >>> shares.round(3).tolist()
    [0.333, 0.667, 1.0]
    """
    everything = np.sort(delays.value)
    values, exact = np.unique(delays.value[delays.exact], return_counts=True)
    at_or_below = np.searchsorted(everything, values, side="right")
    factors = 1 - exact / at_or_below
    # F at the largest value is 1, at each other the product of the factors of all larger ones.
    shares = np.concatenate([np.cumprod(factors[::-1])[::-1][1:], [1.0]]) if len(values) else factors
    return values, shares
