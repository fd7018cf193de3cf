"""The falls of a congestion window, each with its cause as far as the view of a sender tells it.

A fall is one by a twentieth or more; falls within a round trip are one (as in `experiments/explain/cuts.py`, which
knows the truth). Its cause is what the sender saw since two round trips before: marks, a wait for a probe timeout,
losses that were all spurious, losses over a time that establishes persistent congestion (RFC 9002 section 7.6),
losses; or nothing: the choice of the controller.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from thalweg.foreign.inference.limits import STALLED, Limits
from thalweg.foreign.reading.view import Steps, View

LEAST = 0.05
MARKS = "marks"
TIMEOUT = "a probe timeout"
SPURIOUS = "packets wrongly taken for lost"
PERSISTENT = "persistent congestion"
LOSS = "losses"
NO_LOSS = "no loss"
_LOOK_BACK = 2
_LEAST_WINDOW = 2.5
"""Packets: persistent congestion leaves two."""


def cuts(view: View, held: Limits, window: Steps) -> list[tuple[float, str]]:
    """When the window fell, and why."""
    found = []
    before, last = 0.0, -math.inf
    mtu = float(view.sent_bytes.max()) if view.sent_bytes.size else 1200.0
    for time, size in zip(window.times_s, window.values, strict=True):
        rtt = _rtt_at(view, float(time))
        if before and size < (1 - LEAST) * before and time - last > rtt:
            begin = max(last, float(time) - _LOOK_BACK * rtt)
            found.append((float(time), _cause(view, held, begin, float(time), size <= _LEAST_WINDOW * mtu)))
            last = float(time)
        before = float(size)
    return found


def counted(found: list[tuple[float, str]]) -> Counter[str]:
    """How many falls each cause had."""
    return Counter(cause for _, cause in found)


def _rtt_at(view: View, time: float) -> float:
    if not view.rtt:
        return 0.1
    place = max(0, int(np.searchsorted(view.rtt.times_s, time, side="right")) - 1)
    return float(view.rtt.values[place])


def _cause(view: View, held: Limits, begin: float, end: float, is_least: bool) -> str:
    lost = (view.lost_s > begin) & (view.lost_s <= end + 1e-6)
    if view.marks and view.marks.at(np.asarray([end]))[0] > np.nan_to_num(view.marks.at(np.asarray([begin]))[0]):
        return MARKS
    if lost.any():
        if (view.is_spurious & lost).sum() == lost.sum():
            return SPURIOUS
        return PERSISTENT if is_least else LOSS
    stalled = (held.causes == STALLED) & (held.begins_s < end) & (held.ends_s > begin)
    return TIMEOUT if stalled.any() else NO_LOSS
