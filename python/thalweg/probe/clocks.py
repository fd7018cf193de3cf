"""One-way delays from two clocks that disagree.

The server's clock is off by an unknown amount, which may grow: θ(t) = a + b t. Then the request seems to take
its delay plus θ, and the reply its delay minus θ. The sum, the round-trip time, knows nothing of θ.

- **Drift**. The least delay of a path does not change for long, so the points of one-way delay over time stand
  on a line with the slope of θ. That line is the one of Moon, Skelly and Towsley (INFOCOM 1999): under all
  points, and as close to them as possible. Both directions are used: b is half the difference of their slopes,
  so that a change of the path, which has the same sign in both, is not taken for drift; if the directions
  disagree by more than what they agree on, there is none.
- **Offset**. Delays by themselves cannot tell a clock that is late from a path that is slower one way. The usual
  assumption: the least delay is the same both ways, half of the least round trip. The error is half of the
  difference of the two, at most half of the least round-trip time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.probe.series import Floats, Series

_FEW = 50
"""Least answers for an estimate of drift."""
_LONGEST_S = 60.0
"""Longer delays mean that a clock was set, or the server was restarted on another host."""


@dataclass(frozen=True)
class OneWay:
    """One-way delays of the answered requests, in the order of sending, and the clock that they imply."""

    up: Floats
    down: Floats
    offset_s: float
    """Server's clock minus client's when the first request was sent."""
    drift: float
    """Drift of the server's clock, in seconds per second."""
    uncertain_s: float
    """The delays may be off by this much, one up and the other down."""


def one_way(series: Series) -> OneWay:
    """Splits round trips into both directions. Raises RequestError if a clock jumped on the way."""
    got = series.answered
    sent, received = series.sent[got], series.received[got]
    up, down = series.arrived[got] - sent, received - series.returned[got]
    if max(np.ptp(up), np.ptp(down)) > _LONGEST_S:
        raise RequestError(f"{series.name}: the delays of one direction differ by over a minute; a clock jumped")
    drift = 0.0
    if len(sent) >= _FEW:
        drift = _agreed(slope_under(sent, up), -slope_under(received, down))
        up, down = up - drift * sent, down + drift * received
    offset = float(up.min() - down.min()) / 2
    up, down = up - offset, down + offset
    return OneWay(up, down, offset, drift, float((up + down).min()) / 2)


def _agreed(a: float, b: float) -> float:
    """The mean of two estimates, 0 if they lie further apart than that."""
    mean = (a + b) / 2
    return mean if abs(a - b) / 2 < abs(mean) else 0.0


def slope_under(time: Floats, delay: Floats) -> float:
    """Slope of the line under all points whose mean distance from them is least; 0 for a single time.

    The distance is least for the edge of the lower convex hull over the mean time: a line through another
    vertex would lie lower there, and the mean distance is the distance at the mean time.

    >>> round(slope_under(np.array([0.0, 1, 2, 3, 4]), np.array([1.0, 9, 3, 2.5, 3])), 9)
    0.5
    """
    hull: list[int] = []
    for point in np.lexsort((delay, time)).tolist():
        if hull and time[hull[-1]] == time[point]:
            continue
        while len(hull) > 1 and _turns_right(time, delay, hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    if len(hull) < 2:
        return 0.0
    right = int(np.searchsorted(time[hull], time.mean()).clip(1, len(hull) - 1))
    a, b = hull[right - 1], hull[right]
    return float((delay[b] - delay[a]) / (time[b] - time[a]))


def _turns_right(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    """Whether b lies on or above the line from a to c."""
    return bool((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]) <= 0)
