"""The damping of a reaction: the step response of a second-order system, fitted to what a controller sent.

Model: the response of `w^2 / (s^2 + 2 z w s + w^2)` to a unit step, after a dead time: z is the damping ratio,
w the natural frequency. Below z = 1 it overshoots and swings, at 1 it is as fast as it can be without that,
above it creeps. Rates are put to a scale on which the step leads from 0 to 1, the level of the steady windows;
the fit is least squares over all bins from the step to the end of these windows (all bins of a run that did
not converge), from the best point of a grid.

Classes: the rule of the source needs a band, since no fit says exactly 1. Critically damped is z from 0.78, where
the overshoot is 2 %, the usual settling band, to 1/0.78. Undamped is z up to 0.11: each swing keeps at least
half of the height of the one before. A fit that explains less than half of the variance (R^2 < 0.5) has no class.

Source: the SIGCOMM 2021 poster section 1 (see `metric.py`), for the four classes; any textbook of
control theory for the response, e.g. Ogata, Modern Control Engineering, section 5-3.

Limits: controllers are neither linear nor of second order; a slow start grows exponentially, and a sawtooth is no
swing. The quality of the fit belongs to every number here. Frequencies between one swing over what was observed
and one radian in half a bin can be found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thalweg.experiments.studies.transient.metric import NO_STEP, WINDOW_RTTS, Rates, Reactions

if TYPE_CHECKING:
    import numpy.typing as npt


UNDAMPED, UNDER, CRITICAL, OVER, NONE = (
    "undamped",
    "under-damped",
    "critically damped",
    "over-damped",
    "no second-order response",
)
CLASSES = (UNDAMPED, UNDER, CRITICAL, OVER, NONE)
UNDAMPED_BELOW = math.log(2) / math.sqrt((2 * math.pi) ** 2 + math.log(2) ** 2)
"""exp(-2 pi z / sqrt(1 - z^2)) = 1/2: what a swing keeps of the one before."""
CRITICAL_FROM = -math.log(0.02) / math.sqrt(math.pi**2 + math.log(0.02) ** 2)
"""exp(-pi z / sqrt(1 - z^2)) = 0.02: the overshoot."""
CRITICAL_TO = 1 / CRITICAL_FROM
LEAST_QUALITY = 0.5

_RATIOS = (0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85, 1, 1.2, 1.45, 1.8, 2.3, 3, 4.5, 7)
_FREQUENCIES = 30
_DEAD_BINS = 8
_NEXT_TO_ONE = 1e-4
_LEAST_RATIO = 1e-3


@dataclass(frozen=True)
class Fit:
    """The fitted response of each run."""

    damping: Rates
    """Damping ratio."""
    frequency: Rates
    """Natural frequency in radians a second."""
    dead_s: Rates
    quality: Rates
    """R^2: the share of the variance that the response explains; negative if the mean explains more, nan if there
    is nothing to explain."""

    @property
    def classes(self) -> list[str]:
        """The damping class of each run."""
        return [damping_class(ratio, quality) for ratio, quality in zip(self.damping, self.quality, strict=True)]


def damping_class(ratio: float, quality: float) -> str:
    """The class of a fit.

    >>> damping_class(0.3, 0.9), damping_class(1.0, 0.9), damping_class(3.0, 0.9), damping_class(1.0, 0.2)
    ('under-damped', 'critically damped', 'over-damped', 'no second-order response')
    """
    if not quality >= LEAST_QUALITY:
        return NONE
    if ratio <= UNDAMPED_BELOW:
        return UNDAMPED
    if ratio < CRITICAL_FROM:
        return UNDER
    return CRITICAL if ratio <= CRITICAL_TO else OVER


def step_response(phase: Rates, ratio: Rates) -> Rates:
    """The response at `phase`, which is natural frequency times the time since the step; both broadcast.

    >>> step_response(np.array([0.0, np.pi]), np.array(0.0)).round(6).tolist()
    [0.0, 2.0]
    >>> float(step_response(np.array(1.0), np.array(1.0)).round(4))  # 1 - 2/e
    0.2642
    """
    phase = np.maximum(phase, 0)
    under = np.minimum(ratio, 1 - _NEXT_TO_ONE)  # both formulas have the critical one as their limit
    root = np.sqrt(1 - under**2)
    swing = np.exp(-under * phase) * (np.cos(root * phase) + under / root * np.sin(root * phase))
    over = np.maximum(ratio, 1 + _NEXT_TO_ONE)
    root = np.sqrt(over**2 - 1)
    slow, fast = root - over, -root - over
    creep = (fast * np.exp(slow * phase) - slow * np.exp(fast * phase)) / (fast - slow)
    return np.asarray(1 - np.where(ratio < 1, swing, creep), dtype=np.float64)


def fit_response(response: Rates, bins: npt.NDArray[np.int64], every_s: float) -> Fit:
    """Fits each row of `response`, on the scale on which its step leads from 0 to 1, over its first `bins` bins.

    A row that is not finite has no fit: all of it is nan.

    >>> time = (np.arange(80) + 0.5) * 0.05
    >>> fit = fit_response(step_response(4 * time, np.array(0.3))[None, :], np.array([80]), 0.05)
    >>> float(fit.damping[0].round(2)), float(fit.frequency[0].round(1)), float(fit.quality[0].round(3))
    (0.3, 4.0, 1.0)
    """
    runs = len(response)
    counts = np.clip(bins, 1, response.shape[1])
    length = int(counts.max(initial=1))
    seen = np.where(np.arange(length) < counts[:, None], response[:, :length], 0.0)
    known = np.isfinite(seen).all(axis=1)
    seen[~known] = 0.0
    frequencies = np.geomspace(np.pi / (length * every_s), 2 / every_s, _FREQUENCIES)
    ratio, frequency = (axis.ravel() for axis in np.meshgrid(_RATIOS, frequencies, indexing="ij"))
    best, dead = _search_grid(seen, counts, every_s, ratio, frequency)
    fitted, quality = np.full((3, runs), np.nan), np.full(runs, np.nan)
    for run in np.flatnonzero(known):
        values = seen[run, : counts[run]]
        begin = np.array([ratio[best[run]], frequency[best[run]], dead[run] * every_s])
        fitted[:, run], left = _refine(values, every_s, begin)
        variance = float(((values - values.mean()) ** 2).sum())
        if variance > 1e-12 * counts[run]:
            quality[run] = 1 - left / variance
    return Fit(fitted[0], fitted[1], fitted[2], quality)


def _search_grid(
    seen: Rates, counts: npt.NDArray[np.int64], every_s: float, ratio: Rates, frequency: Rates
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The best response of the grid for each run, and its dead time in bins."""
    length = seen.shape[1]
    time = (np.arange(length) + 0.5) * every_s
    known = step_response(frequency[:, None] * time, ratio[:, None])
    power = np.concatenate([np.zeros((len(known), 1)), np.cumsum(known**2, axis=1)], axis=1)
    total = (seen**2).sum(axis=1)
    best = np.zeros(len(seen), dtype=np.int64)
    error = np.full(len(seen), np.inf)
    dead = np.zeros(len(seen), dtype=np.int64)
    for shift in range(min(_DEAD_BINS + 1, length)):
        match = seen[:, shift:] @ known[:, : length - shift].T
        errors = total[:, None] - 2 * match + power[:, np.maximum(counts - shift, 0)].T
        chosen = errors.argmin(axis=1)
        less = np.take_along_axis(errors, chosen[:, None], axis=1)[:, 0]
        better = less < error
        best, error, dead = (
            np.where(better, new, old) for new, old in ((chosen, best), (less, error), (shift, dead))
        )
    return best, dead


def _refine(values: Rates, every_s: float, begin: Rates) -> tuple[Rates, float]:
    """Least squares from a point of the grid: ratio, frequency and dead time, and the sum of the squared errors.

    A dead time below zero would say that the controller knew of the step: then it is zero, and the others are
    fitted by themselves.
    """
    time = (np.arange(len(values)) + 0.5) * every_s

    def response(logarithms: Rates, dead_s: float) -> Rates:
        ratio, frequency = _within_bounds(logarithms)
        return step_response(frequency * np.maximum(time - dead_s, 0), ratio)

    start = np.log([max(begin[0], _LEAST_RATIO), begin[1]])
    if len(values) < len(begin) or not values.any():
        return begin, float(((response(start, begin[2]) - values) ** 2).sum())

    def all_three(of: Rates) -> Rates:
        return response(of[:2], float(of[2])) - values

    def from_the_step_on(of: Rates) -> Rates:
        return response(of, 0.0) - values

    from scipy.optimize import least_squares  # noqa: PLC0415 - takes half of the time in which a command starts

    found = least_squares(all_three, [*start, begin[2]], method="lm", x_scale=[1, 1, every_s])
    if found.x[2] < 0:
        found = least_squares(from_the_step_on, found.x[:2], method="lm")
    ratio, frequency = _within_bounds(found.x[:2])
    dead_s = found.x[2] if len(found.x) > 2 else 0.0
    return np.array([ratio, frequency, dead_s]), float(2 * found.cost)


def _within_bounds(logarithms: Rates) -> Rates:
    """Ratio and frequency, clipped: a step of the fit may lead far beyond what a number can hold."""
    largest = np.log(1 / _LEAST_RATIO) + 1
    values: Rates = np.exp(np.minimum(logarithms, largest))
    return values.clip(_LEAST_RATIO, 1 / _LEAST_RATIO)


def fit_reaction(sent: Rates, before: Rates, reactions: Reactions, every_s: float, rtt_bins: int) -> Fit:
    """Fits the reaction of each run, from its rate before the step to the rate at which it became steady.

    The level after the step is the mean of the ten round trips that follow the convergence point (of the last
    ten where there is none), and the fit ends where they do. A run whose rate has hardly changed has no fit.
    """
    bins = sent.shape[1]
    window = WINDOW_RTTS * rtt_bins
    ends = np.minimum(reactions.mark + window, bins)
    span = np.arange(bins)
    starts = np.where(reactions.converged, reactions.mark, ends - window)
    settled = (span >= np.maximum(starts, 0)[:, None]) & (span < ends[:, None])
    after = np.where(settled, sent, 0).sum(axis=1) / settled.sum(axis=1)
    height = after - before
    height = np.where(np.abs(height) > NO_STEP * np.maximum(after, before), height, np.nan)
    return fit_response((sent - before[:, None]) / height[:, None], ends, every_s)
