"""Writes one direction of a measured series as a trace of jitter that a scenario replays.

A line for each request: its time in whole microseconds from the first one, and its delay above the least of its
direction. For a lost request there is none: the replay interpolates. The last line closes the period, one
interval after the last request, with the delay of the first, so that a repetition does not jump and both
directions repeat together; replies that the server sent later than that are left out.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.probe.clocks import one_way
from thalweg.probe.series import Floats, Series


class Direction(StrEnum):
    """Which delays."""

    UP = "up"
    """From the client to the server."""
    DOWN = "down"
    """From the server to the client."""
    HALF = "half"
    """Half of each round trip, where the server's clock cannot be trusted."""


def jitter_trace(series: Series, direction: Direction) -> str:
    """The lines of the file. Raises RequestError for a series that is too short for one.

    >>> sent = np.array([0.0, 0.02, 0.04])
    >>> arrived = sent + np.array([0.001, 0.004, 0.001])
    >>> ones = np.ones(3, np.int64)
    >>> series = Series("t", sent, arrived, arrived, arrived + 0.001, ones, ones)
    >>> jitter_trace(series, Direction.UP).splitlines()
    ['0 0', '20000 3000', '40000 0', '60000 0']
    """
    got = series.answered
    ways = one_way(series)
    if direction is Direction.UP:
        time, delay = series.sent[got], ways.up
    elif direction is Direction.DOWN:
        time, delay = series.returned[got] - ways.offset_s, ways.down
    else:
        time, delay = series.sent[got], series.rtt[got] / 2
    order = np.lexsort((delay, time))
    interval = series.interval_s if len(series.sent) > 1 else 1.0
    period = round((series.duration_s + interval) * 1e6)
    times = _micros(time[order] - series.sent[0]).clip(0)
    delays = _micros(delay[order] - delay.min())
    # Among packets sent within a microsecond, the latest arrival counts.
    last = np.concatenate([np.diff(times) > 0, [True]]) & (times < period)
    times, delays = times[last], delays[last]
    if not len(times):
        raise RequestError(f"{series.name}: no delay lies within its {period} us; a trace counts microseconds")
    lines = [f"{at} {extra}" for at, extra in zip(times.tolist(), delays.tolist(), strict=True)]
    return "\n".join([*lines, f"{period} {int(delays[0])}"]) + "\n"


def _micros(times: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.round(times * 1e6).astype(np.int64)
