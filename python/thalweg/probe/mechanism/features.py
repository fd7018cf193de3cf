"""Features of a series by which mechanisms differ: distribution and dependence of delays, and losses.

A delay that was drawn for each packet says nothing of the next one; an event of the medium delays all packets of
its time, and they arrive together, each earlier by the interval than the one before it.
"""

from __future__ import annotations

import numpy as np

from thalweg.probe.dependence import LONG_S
from thalweg.probe.series import Floats, Mask

_FLOOR_S = 0.1e-3
"""Delays are compared by their logarithm, above this."""
_SHARES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
_LAGS = (1, 2, 5, 20)
_LATE_S = 5e-3
_WITHIN_S = 1.5e-3

NAMES = (
    *(f"p{100 * share:g}" for share in _SHARES),
    "lost",
    "lost after a loss",
    "undelayed",
    *(f"correlation at {lag}" for lag in _LAGS),
    "share of falls",
    "fresh correlation",
    "late ones",
    *(f"p{share} of late ones" for share in (10, 50, 90, 100)),
    "long ones",
    "spread of their gaps",
)


def features(rtt: Floats, interval_s: float) -> Floats:
    """One number for each of `NAMES`; `rtt` has an entry per request, nan for a lost one."""
    got = np.isfinite(rtt)
    delay = rtt - np.min(rtt[got])
    logs = np.log10(delay + _FLOOR_S)
    values = [*np.quantile(logs[got], _SHARES), *_losses(got), float(np.mean(delay[got] < 3 * _FLOOR_S))]
    values += [_correlation(logs[:-lag], logs[lag:]) for lag in _LAGS]
    falls, held = _falls(delay, interval_s)
    fresh = got & ~held
    values += [falls, _correlation(logs[fresh][:-1], logs[fresh][1:])]
    values += [*_late(logs, fresh & (delay > _LATE_S)), *_long(fresh & (delay > LONG_S))]
    return np.array(values)


def _losses(got: Mask) -> list[float]:
    lost = ~got
    count = int(lost.sum())
    together = float(np.sum(lost[1:] & lost[:-1])) / count if count else 0.0
    return [np.log10((count + 0.3) / len(got)), together]


def _correlation(first: Floats, second: Floats) -> float:
    """0 for what does not vary."""
    known = np.isfinite(first) & np.isfinite(second)
    a, b = first[known], second[known]
    if len(a) < 3 or np.ptp(a) < 1e-9 or np.ptp(b) < 1e-9:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _falls(delay: Floats, interval_s: float) -> tuple[float, Mask]:
    """Which packets came together with the one before, and how many of those that could have."""
    could = delay[:-1] > interval_s + _LATE_S
    held = np.zeros(len(delay), np.bool_)
    with np.errstate(invalid="ignore"):
        held[1:] = could & (np.abs(delay[1:] - (delay[:-1] - interval_s)) < _WITHIN_S)
    known = could & np.isfinite(delay[1:])
    return float(held[1:].sum() / known.sum()) if known.any() else 0.0, held


def _late(logs: Floats, late: Mask) -> list[float]:
    """How many there are of the delays that none before caused, and how high they are."""
    count = int(late.sum())
    heights = np.quantile(logs[late], (0.1, 0.5, 0.9, 1.0)) if count else np.full(4, np.log10(_LATE_S))
    return [np.log10((count + 0.3) / len(logs)), *heights]


def _long(long: Mask) -> list[float]:
    at = np.flatnonzero(long)
    gaps = np.diff(at)
    spread = float(np.std(gaps) / np.mean(gaps)) if len(gaps) > 1 else 0.0
    return [np.log10((len(at) + 0.3) / len(long)), spread]
