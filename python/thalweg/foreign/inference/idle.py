"""When a sender seems to have had nothing to send: where it falls silent and nothing held it back.

A silence is a wait several times as long as those before it, or after a packet that is not full, that no
acknowledgement ends and no loss explains; or one in which everything sent has come back. A steady rate is one that
neither grows nor probes for seconds although the path has no queue: an application that writes so fast.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from thalweg.foreign.inference.flight import SENT, Flight
from thalweg.foreign.reading.view import Floats, View

_LONGER = 3.0
"""A silence is as many times as long as the waits before it."""
_BEFORE = 24
"""Waits before it."""
_AT_ONCE_S = 300e-6
_SHORT = 0.8
"""Share of a full packet: a smaller one is short."""
_LEAST_S = 1e-3
"""A silence is longer."""
_BURST_S = 2e-6
"""Packets that leave sooner after another leave with it."""
_STEADY_S = 2.5
_SAME = 0.03
_NO_QUEUE = 1.1
_BELOW = 0.8
"""Share of the highest rate: a steady rate as high as any may be the capacity of the path..."""
WHOLE = 0.75
"""... unless it lasts for so much of the time: controllers probe."""


def silences(view: View) -> Floats:
    """The times of the last packets before silences."""
    sent = view.sent_s
    if sent.size < 4:
        return np.zeros(0)
    flight = Flight.of(view)
    gaps = np.diff(sent)
    rtt = float(np.median(view.rtt.values)) if view.rtt else 0.1
    came = np.unique(flight.times_s[flight.kinds != SENT])
    place = np.searchsorted(came, sent[1:] + 1e-9) - 1
    released = (
        (place >= 0) & (sent[1:] - came[np.maximum(place, 0)] < _AT_ONCE_S)
        if came.size
        else np.zeros(gaps.size, bool)
    )
    lost = np.sort(view.lost_s[np.isfinite(view.lost_s)])
    near = np.searchsorted(lost, sent[1:]) - np.searchsorted(lost, sent[:-1] - 1.5 * rtt)
    # Flight just before each packet.
    empty = (flight.after_sends() - view.sent_bytes)[1:] <= 0
    # A sender with data fills its packets.
    is_short = view.sent_bytes[:-1] < _SHORT * view.sent_bytes.max()
    is_long = gaps > np.maximum(_LONGER * _usual(gaps), _LEAST_S)
    is_silence = (is_long | (is_short & (gaps > _LEAST_S))) & ~released & (near == 0)
    return np.asarray(sent[:-1][is_silence | (empty & (gaps > _LEAST_S))])


def _usual(gaps: Floats) -> Floats:
    """The median of the waits before each; infinite before there are some."""
    is_wait = gaps > _BURST_S
    waits = np.concatenate([np.full(_BEFORE, np.inf), gaps[is_wait]])
    windows = np.lib.stride_tricks.sliding_window_view(waits, _BEFORE)
    middles = np.partition(windows, _BEFORE // 2, axis=1)[:, _BEFORE // 2]
    before: npt.NDArray[np.int64] = np.cumsum(is_wait) - is_wait
    return np.asarray(middles[before])


def steady(view: View) -> list[tuple[float, float]]:
    """Spans in which the rate is steady without a queue."""
    if not view.rtt or view.sent_s.size < 50:
        return []
    width = max(0.25, 2 * float(np.median(view.rtt.values)))
    edges = np.arange(float(view.sent_s[0]), float(view.sent_s[-1]), width)
    if edges.size < 3:
        return []
    bytes_in, _ = np.histogram(view.sent_s, edges, weights=view.sent_bytes.astype(float))
    base = float(np.min(view.rtt.values))
    place = np.searchsorted(view.rtt.times_s, edges)
    quiet = [
        bool(np.median(view.rtt.values[low:high]) <= _NO_QUEUE * base + 5e-4) if high > low else False
        for low, high in pairwise(place)
    ]
    mtu = float(view.sent_bytes.max())
    spans = []
    begin = 0
    for index in range(1, bytes_in.size + 1):
        group = bytes_in[begin:index]
        is_same = (
            index < bytes_in.size
            and quiet[index]
            and abs(bytes_in[index] - np.mean(group)) <= _SAME * np.mean(group) + 1.5 * mtu
        )
        if is_same:
            continue
        if edges[index] - edges[begin] >= _STEADY_S and quiet[begin]:
            rate = float(np.mean(group)) / width
            spans.append((float(edges[begin]), float(edges[index]), rate))
        begin = index
    most = float(bytes_in.max()) / width
    whole = sum(end - begin for begin, end, _ in spans) > WHOLE * (edges[-1] - edges[0])
    return [(begin, end) for begin, end, rate in spans if whole or rate < _BELOW * most]
