"""The damping of a reaction: the step response of a second-order system, fitted to what a controller sent.

Model: the response of `w^2 / (s^2 + 2 z w s + w^2)` to a unit step, after a dead time: z is the damping ratio,
w the natural frequency. Below z = 1 it overshoots and swings, at 1 it is as fast as it can be without that,
above it creeps. Rates are put to a scale on which the step leads from 0 to 1, the level of the steady windows;
the fit is least squares over all bins from the step to the end of these windows (all bins of a run that did
not converge), by a search of a grid that is refined twice.

Classes: the rule of the source needs a band, since no fit says exactly 1. Critically damped is z from 0.78, where the
overshoot is 2 %, the usual settling band, to 1/0.78. Undamped is z up to 0.11: each swing keeps at least
half of the height of the one before. A fit that explains less than half of the variance (R^2 < 0.5) has no class.

Source: the SIGCOMM 2021 poster (see `transient_metric.py`), section 1, for the four classes; any textbook of
control theory for the response, e.g. Ogata, Modern Control Engineering, section 5-3.

Limits: controllers are neither linear nor of second order; a slow start grows exponentially, and a sawtooth is no
swing. The quality of the fit belongs to every number here. Frequencies between one swing over what was observed
and one radian in half a bin can be found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.studies.transient_metric import Rates

UNDAMPED, UNDER, CRITICAL, OVER, NONE = (
    "undamped",
    "under-damped",
    "critically damped",
    "over-damped",
    "no second-order response",
)
CLASSES = (UNDAMPED, UNDER, CRITICAL, OVER, NONE)
UNDAMPED_BELOW = float(np.log(2) / np.sqrt((2 * np.pi) ** 2 + np.log(2) ** 2))
"""exp(-2 pi z / sqrt(1 - z^2)) = 1/2: what a swing keeps of the one before."""
CRITICAL_FROM = float(-np.log(0.02) / np.sqrt(np.pi**2 + np.log(0.02) ** 2))
"""exp(-pi z / sqrt(1 - z^2)) = 0.02: the overshoot."""
CRITICAL_TO = 1 / CRITICAL_FROM
LEAST_QUALITY = 0.5

_RATIOS = np.array([0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85, 1, 1.2, 1.45, 1.8, 2.3, 3, 4.5, 7])
_FREQUENCIES = 30
_DEAD_BINS = 8
_ZOOM = np.linspace(-1, 1, 7)


@dataclass(frozen=True)
class Fit:
    """The fitted response of each run."""

    damping: Rates
    """Damping ratio."""
    frequency: Rates
    """Natural frequency in radians a second."""
    dead_s: Rates
    quality: Rates
    """R^2: the share of the variance that the response explains; negative if the mean explains more."""

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
    ratio = np.where(np.abs(ratio - 1) < 1e-4, 1 + 1e-4, ratio)  # the limit, to eight digits
    root = np.sqrt(np.abs(1 - ratio**2))
    phase = np.maximum(phase, 0)
    with np.errstate(over="ignore"):
        swing = np.exp(-np.minimum(ratio, 1) * phase) * (
            np.cos(root * phase) + np.minimum(ratio, 1) / root * np.sin(root * phase)
        )
    slow, fast = -(ratio - root), -(ratio + root)
    creep = (fast * np.exp(slow * phase) - slow * np.exp(fast * phase)) / (fast - slow)
    return np.asarray(1 - np.where(ratio < 1, swing, creep), dtype=np.float64)


def fit_response(response: Rates, bins: npt.NDArray[np.int64], every_s: float) -> Fit:
    """Fits each row of `response`, on the scale on which its step leads from 0 to 1, over its first `bins` bins.

    >>> time = (np.arange(80) + 0.5) * 0.05
    >>> fit = fit_response(step_response(4 * time, np.array(0.3))[None, :], np.array([80]), 0.05)
    >>> float(fit.damping[0].round(2)), float(fit.frequency[0].round(1)), float(fit.quality[0].round(3))
    (0.3, 4.0, 1.0)
    """
    runs = len(response)
    counts = np.clip(bins, 1, response.shape[1])
    length = int(counts.max(initial=1))
    seen = np.where(np.arange(length) < counts[:, None], response[:, :length], 0.0)
    seen = np.where(np.isfinite(seen), seen, 0.0)
    frequencies = np.geomspace(np.pi / (length * every_s), 2 / every_s, _FREQUENCIES)
    ratio, frequency = (axis.ravel() for axis in np.meshgrid(_RATIOS, frequencies, indexing="ij"))
    best, error, dead = _search_grid(seen, counts, every_s, ratio, frequency)
    damping, natural = ratio[best], frequency[best]
    quality = np.empty(runs)
    pitch = frequencies[1] / frequencies[0]
    for run in range(runs):
        values = seen[run, : counts[run]]
        time = np.maximum((np.arange(counts[run]) + 0.5 - dead[run]) * every_s, 0)
        damping[run], natural[run], left = _refine(values, time, damping[run], natural[run], pitch, error[run])
        variance = float(((values - values.mean()) ** 2).sum())
        quality[run] = 1 - left / variance if variance > 1e-12 * counts[run] else np.nan
    return Fit(damping, natural, dead * every_s, quality)


def _search_grid(
    seen: Rates, counts: npt.NDArray[np.int64], every_s: float, ratio: Rates, frequency: Rates
) -> tuple[npt.NDArray[np.int64], Rates, npt.NDArray[np.int64]]:
    """The best response of the grid for each run, its squared error, and its dead time in bins."""
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
    return best, error, dead


def _refine(
    values: Rates, time: Rates, ratio: float, frequency: float, pitch: float, error: float
) -> tuple[float, float, float]:
    """A finer look around a point of the grid: ratio and frequency of the least squared error, and the error."""
    place = int(np.abs(_RATIOS - ratio).argmin())
    reach = float(np.diff(_RATIOS[max(place - 1, 0) : place + 2]).max())
    for _ in range(3):
        ratios = np.maximum(ratio + reach * _ZOOM, 0)[:, None, None]
        frequencies = (frequency * pitch**_ZOOM)[None, :, None]
        errors = ((step_response(frequencies * time, ratios) - values) ** 2).sum(axis=2)
        row, column = np.unravel_index(int(errors.argmin()), errors.shape)
        if errors[row, column] < error:
            ratio, frequency = float(ratios[row, 0, 0]), float(frequencies[0, column, 0])
            error = float(errors[row, column])
        reach, pitch = reach / 3, pitch ** (1 / 3)
    return ratio, frequency, max(error, 0.0)
