"""The metric of the study `fairness`: functions on plain arrays, for any measurement.

Rates are arrays of shape (flows, bins), in any unit; a bin is a stretch of time of constant length.

Sources: Jain, Chiu and Hawe 1984 (the index); RFC 8868 section 3 (bins of 1, 5 and 20 s, ratios between 1/3
and 3); Prudentia (Pan et al. 2024: per cent of the max-min fair share); Chiu and Jain 1989 (convergence).

Limits: Jain's index does not say who won: read it with the shares. A bin that does not fill at the end is left
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


Values: TypeAlias = "npt.NDArray[np.float64]"


def rebin(amounts: Values, every_s: float, bin_s: float) -> Values:
    """Mean rates over bins of `bin_s`, out of amounts (last axis) over bins of `every_s`.

    >>> rebin(np.array([1.0, 3.0, 2.0, 2.0, 9.0]), 0.5, 1.0).tolist()
    [4.0, 4.0]
    """
    width = round(bin_s / every_s)
    if width < 1 or not np.isclose(width * every_s, bin_s):
        raise ValueError(f"bins of {bin_s} s are not a multiple of {every_s} s")
    count = amounts.shape[-1] // width
    whole = amounts[..., : count * width].reshape(*amounts.shape[:-1], count, width)
    rates: Values = whole.sum(axis=-1) / bin_s
    return rates


def jain(rates: Values) -> Values:
    """Jain's index over the flows (first axis) in each bin: (sum x)^2 / (n sum x^2), from 1/n to 1.

    NaN for bins without any bytes.

    >>> jain(np.array([[1.0, 4.0, 0.0], [1.0, 0.0, 0.0]])).tolist()
    [1.0, 0.5, nan]
    """
    squares = (rates**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        index: Values = rates.sum(axis=0) ** 2 / (len(rates) * squares)
    return index


def mean_jain(amounts: Values, every_s: float, bin_s: float) -> float:
    """The mean over bins of `bin_s` of Jain's index; nan if no bin fills, or no flow ever got anything."""
    index = jain(rebin(amounts, every_s, bin_s))
    known = index[np.isfinite(index)]
    return float(known.mean()) if len(known) else float("nan")


def max_min(demands: Sequence[float], capacity: float) -> Values:
    """The max-min fair shares of a capacity: no flow gets more than its demand, and the rest is split evenly.

    >>> max_min([2.0, 10.0, 10.0], 12.0).tolist()
    [2.0, 5.0, 5.0]
    """
    wanted = np.asarray(demands, dtype=np.float64)
    shares = np.zeros(len(wanted))
    left, waiting = capacity, np.argsort(wanted, kind="stable")
    for index, flow in enumerate(waiting):
        shares[flow] = min(wanted[flow], left / (len(wanted) - index))
        left -= shares[flow]
    return shares


def share_of_fair(rates: Values, capacity: float) -> Values:
    """Rate of each flow relative to its max-min fair share, 1 being fair; all flows have unlimited demand."""
    return rates / max_min([np.inf] * len(rates), capacity)


def ratio(rates: Values) -> float:
    """The largest rate over the smallest; infinite if a flow got nothing."""
    return float(rates.max() / rates.min()) if rates.min() > 0 else float("inf")


def convergence_time(
    amounts: Values, every_s: float, start_s: float, *, bin_s: float = 1.0, least: float = 0.9, hold_s: float = 5.0
) -> float:
    """Seconds from `start_s` until Jain's index over bins of `bin_s` is at least `least` for `hold_s` on end.

    NaN if that never happens, which is a valid result.

    >>> both = np.array([[9.0, 7.0, 5.0, 5.0, 5.0], [1.0, 3.0, 5.0, 5.0, 5.0]])
    >>> convergence_time(both, 1.0, 0.0, hold_s=2.0)
    2.0
    """
    first = int(np.ceil(start_s / bin_s - 1e-9))
    fair = np.nan_to_num(jain(rebin(amounts, every_s, bin_s))[first:]) >= least
    width = max(1, round(hold_s / bin_s))
    if len(fair) < width:
        return float("nan")
    runs = np.convolve(fair, np.ones(width), "valid") >= width - 0.5
    if not runs.any():
        return float("nan")
    return float(np.argmax(runs) + first) * bin_s - start_s
