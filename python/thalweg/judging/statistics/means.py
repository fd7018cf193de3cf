"""Means of replications."""

from __future__ import annotations

import math

import numpy as np

from thalweg.judging.statistics.interval import CONFIDENCE, Interval, Values, without_interval
from thalweg.judging.statistics.probabilities import student_below, student_quantile


def mean_interval(replications: Values, confidence: float = CONFIDENCE) -> Interval:
    """The mean of replications and Student's interval: mean +- t s / sqrt(n), n - 1 degrees of freedom.

    Each value should already be a comparison within one replication where two sides share its seed: what both
    share then does not widen the interval. A value that is not finite leaves the mean undefined (nan), and says
    so: leaving it out would report another experiment. A single replication has no interval.

    >>> mean_interval(np.array([0.5]))
    Interval(value=0.5, low=-inf, high=inf, n=1)
    >>> mean_interval(np.array([0.5, np.nan])).value
    nan

    Limits: few replications of a very skewed measure, such as a ratio of losses, are covered less often than
    promised.
    """
    n = len(replications)
    if not np.isfinite(replications).all():
        return without_interval(math.nan, n)
    mean = float(replications.mean())
    if n == 1:
        return without_interval(mean, n)
    half = student_quantile(n - 1, (1 + confidence) / 2) * float(replications.std(ddof=1)) / n**0.5
    return Interval(mean, mean - half, mean + half, n)


def ratio_to_published_mean(
    replications: Values, mean: float, sd: float, n: int, confidence: float = CONFIDENCE
) -> Interval:
    """The mean of replications over a published mean of n, whose standard deviation is published too.

    The relative errors of both sides add as squares (the delta method); Student's quantile is for the
    smaller side. A value that is not finite leaves the mean undefined.

    >>> sample = np.array([9.0, 11.0] * 50)  # standard error 0.1: 1 % of the mean; of the published one the same
    >>> interval = ratio_to_published_mean(sample, 10.0, 1.0, 100)
    >>> interval.value, round(interval.high, 3)  # 1.984 times the root of two, in per cent
    (1.0, 1.028)
    """
    size = min(len(replications), n)
    if not np.isfinite(replications).all():
        return without_interval(math.nan, size)
    own = float(replications.mean())
    if size == 1:
        return without_interval(own / mean, size)
    own_error = float(replications.std(ddof=1)) / len(replications) ** 0.5 / own
    error = math.hypot(own_error, sd / n**0.5 / mean)
    half = student_quantile(size - 1, (1 + confidence) / 2) * error * own / mean
    return Interval(own / mean, own / mean - half, own / mean + half, size)


def chance_of_mean(replications: Values, margin: float) -> float:
    """The chance of such replications if their expectation were within the margin of 0 (Student, both sides).

    >>> chance_of_mean(np.array([1.0, 1.1, 0.9]), 0.01) < 0.01, chance_of_mean(np.array([1.0, -1.0]), 0.01)
    (True, 1.0)

    With two degrees of freedom it is 1 - t / sqrt(2 + t^2); here t = (1 - 0.9) / (0.1 / sqrt(3)) = sqrt(3):

    >>> round(chance_of_mean(np.array([1.0, 1.1, 0.9]), 0.9), 9) == round(1 - (3 / 5) ** 0.5, 9)
    True
    """
    n = len(replications)
    if n < 2 or not np.isfinite(replications).all():
        return 1.0
    beyond = abs(float(replications.mean())) - margin
    error = float(replications.std(ddof=1)) / n**0.5
    if error == 0:
        return 0.0 if beyond > 0 else 1.0
    return min(1.0, 2 * student_below(n - 1, -beyond / error))
