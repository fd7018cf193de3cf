"""Fits the two-component model of Wi-Fi to measured delays, by maximum likelihood.

The delays are of one direction, above their least, with in-order delivery undone (`distribution`): a packet
that was not held back contributes the probability of its delay, one that was held back contributes the
probability of a delay up to its bound. So the estimate does not depend on how often probes were sent, while the
mean of the delays as they were experienced does.

Delays are rounded to a quarter of a millisecond first: no network measures the model's step at zero exactly.

The distance of Kolmogorov and Smirnov is taken between the model and the estimated distribution, at the
boundaries of these bins. Its probability is that for a model that was not fitted: the true one is lower. A
small probability refutes the model; a large one proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

from thalweg.probe.distribution import Censored, censored_cumulative
from thalweg.probe.series import Floats
from thalweg.probe.wifi_model import LONG_S, SHORT_S, WifiModel

_Point: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

_BIN_S = 0.25e-3
_LEAST_PROBABILITY = 1e-300
_LONG_FROM_S = 20e-3
"""The short component hardly reaches this: what lies beyond is where the search for the fraction begins."""
_WORTH = 2.0
"""A parameter has to gain one unit of log-likelihood (Akaike); the long component has two."""


@dataclass(frozen=True)
class WifiFit:
    """A model that was fitted."""

    model: WifiModel
    distance: float
    """Largest difference between the distributions (Kolmogorov and Smirnov)."""
    probability: float
    """Probability of a larger one if the model is true, at most."""
    exact: int
    """Delays that were known exactly."""
    held: int
    """Delays of which only a bound was known."""


@dataclass(frozen=True)
class _Binned:
    """Delays by bin: counts of exact ones, and of bounds."""

    upper: Floats
    exact: Floats
    held: Floats

    @staticmethod
    def of(delays: Censored) -> _Binned:
        bins = np.maximum(np.floor(delays.value / _BIN_S + 0.5), 0).astype(np.int64)
        size = int(bins.max(initial=0)) + 1
        exact = np.bincount(bins[delays.exact], minlength=size).astype(np.float64)
        held = np.bincount(bins[~delays.exact], minlength=size).astype(np.float64)
        return _Binned((np.arange(size) + 0.5) * _BIN_S, exact, held)

    def surprise(self, model: WifiModel) -> float:
        """Minus the log-likelihood."""
        below = model.cumulative(self.upper)
        within = np.diff(below, prepend=0.0)
        logs = np.log(np.maximum(np.stack([within, below]), _LEAST_PROBABILITY))
        return -float(self.exact @ logs[0] + self.held @ logs[1])


def fit_wifi(delays: Censored) -> WifiFit:
    """Fits fraction and both scales. The fraction is 0 if the data do not need long delays."""
    binned = _Binned.of(delays)

    def short_only(logs: _Point) -> float:
        return binned.surprise(WifiModel(0.0, SHORT_S * float(np.exp(logs[0]))))

    def both(logs: _Point) -> float:
        return binned.surprise(_model(logs))

    alone = _minimise(short_only, np.zeros(1), np.array([0.3]))
    far = float(np.mean(delays.value[delays.exact] > _LONG_FROM_S)) if delays.exact.any() else 0.0
    far = min(max(far, 1e-3), 0.99)
    two = _minimise(both, np.array([np.log(far / (1 - far)), 0.0, 0.0]), np.array([0.5, 0.3, 0.3]))
    if two.fun > alone.fun - _WORTH:
        return _judged(WifiModel(0.0, SHORT_S * float(np.exp(alone.x[0])), LONG_S), delays)
    return _judged(_model(two.x), delays)


def fit_published(delays: Censored) -> WifiFit:
    """Fits only the fraction, with the published scales: what a requested mean stands for."""
    from scipy import optimize  # noqa: PLC0415 - of an extra

    binned = _Binned.of(delays)
    found = optimize.minimize_scalar(
        lambda fraction: binned.surprise(WifiModel(fraction)),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return _judged(WifiModel(float(found.x)), delays)


def _minimise(function: Callable[[_Point], float], start: _Point, step: _Point) -> OptimizeResult:
    """Nelder and Mead (1965), from a simplex with these edges."""
    from scipy import optimize  # noqa: PLC0415 - of an extra

    simplex = np.vstack([start, start + np.diag(step)])
    return optimize.minimize(
        function,
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-4, "fatol": 1e-4, "maxiter": 2000, "initial_simplex": simplex},
    )


def _model(logs: Floats) -> WifiModel:
    """Fraction by its logit, scales by their logarithm over the published ones."""
    odds = float(np.exp(np.clip(logs[0], -30, 30)))
    short, long = np.exp(np.clip(logs[1:], -5, 5))
    return WifiModel(odds / (1 + odds), SHORT_S * float(short), LONG_S * float(long))


def _judged(model: WifiModel, delays: Censored) -> WifiFit:
    from scipy import stats  # noqa: PLC0415 - of an extra

    values, shares = censored_cumulative(delays)
    edges = _Binned.of(delays).upper
    at = np.searchsorted(values, edges, side="right")
    measured = np.concatenate([[0.0], shares])[at]
    # Below the least exact value only bounds are known: the estimate says nothing there.
    known = at > 0
    distance = float(np.abs(measured - model.cumulative(edges))[known].max(initial=0.0))
    exact = int(delays.exact.sum())
    probability = float(stats.kstwobign.sf(np.sqrt(exact) * distance))
    return WifiFit(model, distance, probability, exact, len(delays.value) - exact)


def scenario_entry(model: WifiModel) -> str:
    """The fitted model as a value of the key `jitter` of a scenario.

    >>> scenario_entry(WifiModel(0.0714, 1.02e-3, 7.4e-3))
    '{ model = "two-components", fraction = "7.14 %", short = "1.02 ms", long = "7.4 ms" }'
    """
    steps = f'short = "{model.short_s * 1e3:.4g} ms", long = "{model.long_s * 1e3:.4g} ms"'
    return f'{{ model = "two-components", fraction = "{model.fraction * 100:.4g} %", {steps} }}'


def published_entry(model: WifiModel) -> str:
    """The published model with this fraction, as a value of the key `jitter` of a scenario.

    >>> published_entry(WifiModel.of_mean(7e-3))
    '{ model = "wifi", mean = "7 ms" }'
    """
    return f'{{ model = "wifi", mean = "{model.requested_mean_s * 1e3:.4g} ms" }}'
