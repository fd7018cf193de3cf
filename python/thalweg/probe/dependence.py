"""How delays depend on each other in time: autocorrelation, the length of events, and the growth with spacing.

What is drawn for each packet, and delivered in order, grows with the number of packets; an event of the medium
delays all packets of its time, however many there are (docs/evidence/wifi.md). So two series of a path with other
spacings tell them apart, and the length of an event in probes does within one series.

Limits: an event that is shorter than the interval has no length, and one loss within it does not end it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.probe.series import Floats, Series

LAGS = (1, 5, 25)
"""In probes."""
EVENT_S = 40e-3
"""A probe is of an event if its delay above the least is longer; `mechanism.features` calls such delays long."""
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
    """Between delays so many probes apart; nan if they do not vary, or there are too few."""
    decay_s: float
    """After which time the correlation is below 1/e; nan if it is not within 500 probes."""
    events: tuple[float, ...]
    """The length of each event in seconds: from its first delayed probe to the one after its last."""


def dependence(series: Series) -> Dependence:
    """What a series shows that has at least one answer."""
    rtt, interval = series.rtt, series.interval_s
    delay = rtt - float(np.nanmin(rtt))
    correlation = {lag: correlate(delay, lag) for lag in LAGS}
    decay = next((lag for lag in range(1, _MOST_LAG) if not correlate(delay, lag) >= _DECAYED), None)
    varies = np.isfinite(correlate(delay, 1))
    lengths = tuple(count * interval for count in event_lengths(delay))
    return Dependence(
        interval_s=interval,
        mean_s=float(np.nanmean(delay)),
        correlation=correlation,
        decay_s=decay * interval if decay and varies else float("nan"),
        events=lengths,
    )


def correlate(delay: Floats, lag: int) -> float:
    """Correlates delays with those of `lag` probes later (Pearson); nan if they do not vary, or fewer than 3.

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
    """Probes from the first long delay of each event to its last, with losses between them.

    >>> event_lengths(np.array([0.0, 0.05, np.nan, 0.06, 0.0, 0.05]))
    [3, 1]
    """
    lengths: list[int] = []
    last = None
    for index, value in enumerate(delay.tolist()):
        if value > EVENT_S:
            if last is None:
                lengths.append(0)
                last = index - 1
            lengths[-1] += index - last
            last = index
        elif value <= EVENT_S:
            last = None
    return lengths


def growth(found: Sequence[Dependence]) -> list[float]:
    """The mean delay of each series over that of the one with the widest spacing; nan where that says nothing.

    >>> of = [Dependence(interval, mean, {}, 0.0, ()) for interval, mean in ((0.02, 3e-3), (0.1, 2e-3))]
    >>> growth(of)
    [1.5, nan]
    """
    widest = max(found, key=lambda one: one.interval_s)
    return [
        one.mean_s / widest.mean_s if one.interval_s < widest.interval_s and widest.mean_s > 0 else float("nan")
        for one in found
    ]
