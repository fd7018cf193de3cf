"""How delays depend on each other in time: autocorrelation, the length of events, and the growth with spacing.

What is drawn for each packet, and delivered in order, grows with the number of packets; an event of the medium
delays all packets of its time, however many there are (docs/evidence/wifi.md). So two series of a path with other
spacings tell them apart, and the length of an event in probes does within one series.

Limits: an event that is shorter than the interval has no length; one loss within it does not end it, two do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.probe.series import Floats, Series

LAGS = (1, 5, 25)
"""Lags of the autocorrelation, in probes."""
LONG_S = 40e-3
"""A longer delay above the least is of an event; `mechanism.features` calls such delays long too."""
_NOTHING_S = 1e-9
"""Delays that differ by less do not vary: they come from differences of times."""
_MOST_LAG = 500
_DECAYED = float(np.exp(-1))


@dataclass(frozen=True)
class Dependence:
    """Delays are round-trip times above the least of the series."""

    interval_s: float
    mean_s: float
    correlation: dict[int, float]
    """Correlation of delays so many probes apart; nan if they do not vary, or there are too few."""
    decay_s: float
    """After which time the correlation is below 1/e; nan if it is not within 500 probes."""
    events: tuple[float, ...]
    """The length of each event in seconds: from its first delayed probe to the one after its last."""


def dependence(series: Series) -> Dependence:
    """What a series with at least one answer says."""
    rtt, interval = series.rtt, series.interval_s
    delay = rtt - float(np.nanmin(rtt))
    correlation = {lag: correlate(delay, lag) for lag in LAGS}
    lengths = tuple(count * interval for count in event_lengths(delay))
    return Dependence(
        interval_s=interval,
        mean_s=float(np.nanmean(delay)),
        correlation=correlation,
        decay_s=_decay_lag(delay) * interval,
        events=lengths,
    )


def _decay_lag(delay: Floats) -> float:
    """The first lag at which the correlation is below 1/e; nan if the series ends before, or 500 probes do."""
    for lag in range(1, _MOST_LAG):
        correlation = correlate(delay, lag)
        if not correlation >= _DECAYED:
            return lag if np.isfinite(correlation) else float("nan")
    return float("nan")


def correlate(delay: Floats, lag: int) -> float:
    """Pearson's correlation of delays at this lag in probes; nan if they do not vary or are fewer than three.

    >>> correlate(np.array([0.0, 1.0] * 20), 1)
    -1.0
    """
    first, second = delay[:-lag], delay[lag:]
    known = np.isfinite(first) & np.isfinite(second)
    a, b = first[known], second[known]
    if len(a) < 3 or np.ptp(a) < _NOTHING_S or np.ptp(b) < _NOTHING_S:
        return float("nan")
    return round(float(np.corrcoef(a, b)[0, 1]), 12)


def event_lengths(delay: Floats) -> list[int]:
    """Probes from the first long delay of each event to its last, with single losses between them.

    >>> event_lengths(np.array([0.0, 0.05, np.nan, 0.06, 0.0, 0.05]))
    [3, 1]
    """
    lengths: list[int] = []
    last = None
    for index, value in enumerate(delay.tolist()):
        if value > LONG_S:
            if last is None or index - last > 2:
                lengths.append(0)
                last = index - 1
            lengths[-1] += index - last
            last = index
        elif value <= LONG_S:
            last = None
    return lengths


def growth(found: Sequence[Dependence]) -> list[float]:
    """The mean delay of each series over the series with the widest spacing; nan where that says nothing.

    >>> of = [Dependence(interval, mean, {}, 0.0, ()) for interval, mean in ((0.02, 3e-3), (0.1, 2e-3))]
    >>> growth(of)
    [1.5, nan]
    """
    widest = max(found, key=lambda one: one.interval_s)
    return [
        one.mean_s / widest.mean_s if one.interval_s < widest.interval_s and widest.mean_s > 0 else float("nan")
        for one in found
    ]
