"""In-order delivery: its effect on delays, and how to detect it.

An in-order link holds packets behind a late one and releases them together with it.
Delays then fall by the interval between the probes from one to the next, which is a line in the plot of each
round-trip time against the next, and they carry no information on the random process of the late packet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.probe.series import Floats, Mask

GAP_S = 1e-3
"""Packets that arrive within this time of each other were released together (octoping's analysis)."""
_HALF_WIDTH_S = 1e-3
_SIGNIFICANT = 3.0


def filter_in_order(arrival: Floats, gap_s: float = GAP_S) -> Mask:
    """Which packets were not released together with the one before.

    Those that arrive later than the last such packet by more than `gap_s`; `arrival` is in the order of sending.
    This is the filter of octoping's analysis.

    >>> filter_in_order(np.array([0.0, 0.1, 0.1005, 0.1012, 0.2])).tolist()
    [True, True, False, True, True]
    """
    kept = np.zeros(len(arrival), np.bool_)
    last = -np.inf
    for index, time in enumerate(arrival.tolist()):
        if time > last + gap_s:
            kept[index] = True
            last = time
    return kept


def hold(sent: Floats, delay: Floats) -> Floats:
    """How long each packet would have been held back by those before it without its own delay.

    Their latest arrival minus its time of sending: negative if they had all arrived.

    >>> hold(np.array([0.0, 20.0, 40.0]), np.array([50.0, 30.0, 12.0])).tolist()
    [-inf, 30.0, 10.0]
    """
    latest = np.maximum.accumulate(sent + delay)
    held: Floats = np.concatenate([[-np.inf], latest[:-1]])[: len(sent)] - sent
    return held


@dataclass(frozen=True)
class InOrderLine:
    """The line of in-order delivery in the plot of each round-trip time against the next."""

    found: bool
    """Whether there are more points on it than chance would put there."""
    below_s: float
    """How far it runs below the diagonal; nan if there is no point to look at."""
    on_line: int
    """Points within 1 ms of it."""
    candidates: int
    """Points that could lie on it: the first round-trip time is longer than the interval between probes."""


def find_in_order_line(rtt: Floats, interval_s: float) -> InOrderLine:
    """Looks for the line on which the next round-trip time is shorter by a constant.

    `rtt` holds one entry per request, nan for a lost one. Of the pairs of neighbours whose first round-trip time
    is longer than the interval, the differences are sorted, and the window of 2 ms with the most of them is the
    line. It is found if the window holds more points than the mean of the windows to its left and right,
    by three standard deviations of a Poisson count.
    """
    first, second = rtt[:-1], rtt[1:]
    known = np.isfinite(first) & np.isfinite(second)
    drops = np.sort((first - second)[known & (first > interval_s)])
    if len(drops) == 0:
        return InOrderLine(found=False, below_s=float("nan"), on_line=0, candidates=0)
    width = 2 * _HALF_WIDTH_S
    counts = np.searchsorted(drops, drops + width, side="right") - np.arange(len(drops))
    # A change of less than the window is not a drop: it is two round trips of equal length.
    counts[drops <= width] = 0
    best = int(np.argmax(counts))
    inside = drops[best : best + counts[best]]
    if len(inside) == 0:
        return InOrderLine(found=False, below_s=float("nan"), on_line=0, candidates=len(drops))
    below = float(np.median(inside))
    on_line = _within(drops, below - _HALF_WIDTH_S, below + _HALF_WIDTH_S)
    around = _within(drops, below - 3 * _HALF_WIDTH_S, below + 3 * _HALF_WIDTH_S) - on_line
    by_chance = around / 2
    found = on_line > by_chance + _SIGNIFICANT * np.sqrt(by_chance + 1)
    return InOrderLine(found=bool(found), below_s=below, on_line=on_line, candidates=len(drops))


def _within(ordered: Floats, low: float, high: float) -> int:
    return int(np.searchsorted(ordered, high, side="right") - np.searchsorted(ordered, low, side="left"))
