"""Pareto fronts: points that no other one beats in throughput without more delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def is_on_front(rate: npt.NDArray[np.float64], delay: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which points no other one dominates, with at least as much rate, at most as much delay, and one better.

    Points that lack a number are on no front; equal points are on it together.

    >>> is_on_front(np.array([3.0, 2.0, 1.0, 1.0]), np.array([3.0, 1.0, 2.0, np.nan])).tolist()
    [True, True, False, False]
    """
    found = np.zeros(len(rate), dtype=np.bool_)
    known = np.flatnonzero(np.isfinite(rate) & np.isfinite(delay))
    # From the least delay on, and of equal delays the most rate first: a point is on the front if it has more rate
    # than all before it, or is equal to the last that was.
    order = known[np.lexsort((-rate[known], delay[known]))]
    best, least = -np.inf, np.nan
    for number in order:
        if rate[number] > best or (rate[number] == best and delay[number] == least):
            found[number] = True
            best, least = float(rate[number]), float(delay[number])
    return found
