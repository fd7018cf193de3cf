"""Harm: how much worse a workload performs with a competitor than alone. Functions on plain numpy arrays.

Model (Ware et al., "Beyond Jain's Fairness Index", HotNets 2019): `solo` is what a workload measures alone,
`competing` what it measures with a competitor, in the same unit. Harm is 0 if the competitor changes
nothing and 1 at worst:

- more is better (throughput): (solo - competing) / solo
- less is better (completion time, delay, loss): (competing - solo) / competing

The second form is what ccafct computes, and its README prints as (workload - solo) / workload. The other
quotient in use for times, (competing - solo) / solo, is `excess`: it has no upper bound, and harm = excess / (1
+ excess). A benefit is a negative harm. ccafct makes it 0 (`clamp`): right for one number that is printed,
wrong for one that is averaged. With nothing happening half of the replications are a little better and half a
little worse; without the better half, the mean is a harm that is not there.

All functions take arrays or single numbers, and broadcast. They raise ValueError for what no measurement can
be: an empty sample, a negative value, a value that is not a number.

Limits: harm compares two statistics, such as two medians, not flow with flow. Only for the geometric mean are
the two the same if both samples have the same flows: it is the geometric mean of the ratios.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg.judging.statistics.interval import Values

if TYPE_CHECKING:
    import numpy.typing as npt


_ROUNDING = 1e-9
"""What floating point may add to p * n when that is a whole number (0.07 * 100 = 7.000000000000001)."""


def geometric_mean(sample: npt.ArrayLike) -> float:
    """The exponential of the mean logarithm; 0 if any value is 0.

    >>> round(geometric_mean([1.0, 10.0, 100.0]), 9)
    10.0
    """
    values = _sample(sample)
    if (values == 0).any():
        return 0.0
    return float(np.exp(np.log(values).mean()))


def quantile(sample: npt.ArrayLike, p: float) -> float:
    """The smallest value x of a sample with F(x) >= p, F being the share of values at or under x.

    No interpolation: the answer is one of the values (gonum's `stat.Empirical`, which ccafct uses).

    >>> quantile([4.0, 1.0, 3.0, 2.0], 0.5), quantile([4.0, 1.0, 3.0, 2.0], 0.95)
    (2.0, 4.0)
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p}: a quantile is asked for between 0 and 1")
    values = np.sort(_sample(sample))
    rank = int(np.ceil(p * len(values) - _ROUNDING))
    return float(values[max(rank, 1) - 1])


def durations(start_s: npt.ArrayLike, completion_s: npt.ArrayLike) -> Values:
    """Completion time of each flow; infinite for one that never completed (NaN).

    Leaving such flows out would reward the competitor that stops the slowest of them.

    >>> durations([0.0, 1.0], [0.5, float("nan")]).tolist()
    [0.5, inf]
    """
    taken = np.subtract(completion_s, start_s, dtype=np.float64)
    if (taken < 0).any():
        raise ValueError("a flow completes before it starts")
    return np.where(np.isnan(taken), np.inf, taken)


def observed_durations(start_s: npt.ArrayLike, completion_s: npt.ArrayLike, limit_s: float) -> Values:
    """Observed duration of each flow; of one that never completed (NaN) until the end of the trial, `limit_s`.

    The least that it took, and the time in which it got the bytes that it got.

    >>> observed_durations([0.0, 1.0], [0.5, float("nan")], limit_s=100.0).tolist()
    [0.5, 99.0]
    """
    taken = durations(start_s, completion_s)
    open_s: Values = np.subtract(limit_s, start_s, dtype=np.float64)
    if (open_s < 0).any() or (np.isfinite(taken) & (taken > open_s + _ROUNDING)).any():
        raise ValueError(f"a flow lasted beyond the limit of {limit_s} s")
    return np.where(np.isinf(taken), open_s, taken)


def harm_less_is_better(solo: npt.ArrayLike, competing: npt.ArrayLike, *, clamp: bool = False) -> Values:
    """Harm to a measure that should be small: (competing - solo) / competing.

    What was 0 alone and is not any more is harmed entirely (1); what stays 0 is not harmed. (ccafct has
    infinity for `competing` = 0.) So is a finite time that becomes infinite. A benefit is negative, down to minus
    infinity; with `clamp` it is 0. Where both are infinite it is unknown: nan.

    >>> harm_less_is_better([1.0, 1.0, 1.0], [4.0, 1.0, 0.5]).tolist()
    [0.75, 0.0, -1.0]
    """
    before, after = _measures(solo, competing)
    with np.errstate(invalid="ignore"):
        harm = _quotient(after - before, after)
    return _clamped(np.where(np.isinf(after) & np.isfinite(before), 1.0, harm), clamp)


def harm_more_is_better(solo: npt.ArrayLike, competing: npt.ArrayLike, *, clamp: bool = False) -> Values:
    """Harm to a measure that should be large: (solo - competing) / solo.

    Nothing can be taken from a measure that is 0 alone: no harm. (ccafct has infinity for it.) A benefit is
    negative; with `clamp` it is 0.

    >>> harm_more_is_better([10.0, 10.0, 10.0], [2.5, 10.0, 15.0]).tolist()
    [0.75, 0.0, -0.5]
    """
    before, after = _measures(solo, competing)
    return _clamped(np.where(before == 0, 0.0, _quotient(before - after, before)), clamp)


def excess(solo: npt.ArrayLike, competing: npt.ArrayLike) -> Values:
    """Relative growth of a measure: (competing - solo) / solo; negative if it shrinks.

    Infinite for a measure that is 0 alone and not any more.

    >>> excess([1.0, 2.0], [4.0, 1.0]).tolist()
    [3.0, -0.5]
    """
    before, after = _measures(solo, competing)
    with np.errstate(invalid="ignore"):
        return _quotient(after - before, before)


def _quotient(numerator: Values, denominator: Values) -> Values:
    """Zero over zero is not a change; anything else over zero is infinite, with the sign of the numerator."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerator == 0, 0.0, numerator / denominator)


def _clamped(harm: Values, clamp: bool) -> Values:
    return np.maximum(harm, 0.0) if clamp else harm


def _measures(solo: npt.ArrayLike, competing: npt.ArrayLike) -> tuple[Values, Values]:
    before, after = np.asarray(solo, dtype=np.float64), np.asarray(competing, dtype=np.float64)
    for name, values in (("solo", before), ("competing", after)):
        if np.isnan(values).any() or (values < 0).any():
            raise ValueError(f"{name} holds a value that is negative or not a number")
    return before, after


def _sample(sample: npt.ArrayLike) -> Values:
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("a sample is a one-dimensional array with at least one value")
    if np.isnan(values).any() or (values < 0).any():
        raise ValueError("the sample holds a value that is negative or not a number")
    return values
