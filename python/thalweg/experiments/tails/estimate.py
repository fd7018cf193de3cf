"""The interval of a probability that independent runs have estimated.

What a run of subset simulation estimates is a product of shares, whose errors multiply: its distribution is
skewed, and its logarithm is nearly normal. The probability is its mean, so that most runs are too low. The
interval is Cox's for the mean of a lognormal variable, with quantiles of Student's t (U. Olsson, "Confidence
intervals for the mean of a log-normal distribution", Journal of Statistics Education 13, 2005).

Limits: it has only the runs to go by. A way to the event that none of them came upon is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.judging.statistics.interval import CONFIDENCE, Interval
from thalweg.judging.statistics.probabilities import student_quantile


def lognormal_mean(estimates: Sequence[float], least_variance: float = 0.0) -> Interval:
    """The mean of positive estimates, at least two, with its interval.

    The variance of their logarithms is at least `least_variance`: few runs can agree by chance.

    >>> found = lognormal_mean([1e-6, 1e-6, 2e-6, 4e-6])
    >>> f"{found.value:.2e} {found.low:.1e} {found.high:.1e}"
    '2.00e-06 6.3e-07 7.0e-06'
    """
    logs = np.log(np.asarray(estimates))
    n, variance = len(logs), max(float(np.var(logs, ddof=1)), least_variance)
    centre = float(np.mean(logs)) + variance / 2
    error = np.sqrt(variance / n + variance**2 / (2 * (n - 1)))
    reach = student_quantile(n - 1, (1 + CONFIDENCE) / 2) * float(error)
    value = float(np.mean(estimates))
    low, high = float(np.exp(centre - reach)), float(np.exp(centre + reach))
    return Interval(value, min(low, value), min(max(high, value), 1.0), n)
