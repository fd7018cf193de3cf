"""The capacity of a bottleneck and what others take of it, from packets that waited behind each other.

A packet that was in the queue when the one before it left it keeps the bottleneck busy from one to the other.
With nothing in between, both are as far apart as the capacity says; a packet of another flow in between makes
it more. So the rates between such packets have an edge, which is the capacity, and what is below it is of
others. Jitter has no such edge: what it holds back arrives closer together than the capacity says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.foreign.reading.view import Floats, View

_LEAST = 48
_EDGE, _SAME, _LEAST_AT, _MOST_ABOVE = 0.95, 0.01, 0.1, 0.02
"""The edge is at this quantile; so many of the rates are within so much of it, and so few above."""
_OTHERS = 0.1
"""Others that take less of the time are not told from losses and from what acknowledgements meet."""
_LEAST_OFTEN = 0.05
"""Others come between so many of the packets; an outage is one gap."""
_WINDOW_S, _BEGUN = 0.5, 0.05


@dataclass(frozen=True)
class Sharing:
    """A bottleneck with such an edge."""

    capacity_bps: float
    others_bps: float | None
    """None if they took little."""
    from_s: float | None
    """Since when."""

    @staticmethod
    def of(view: View, sizes: Any, base_s: float) -> Sharing | None:
        """What the packets of a sender show, with their sizes on the path; None where the rates have no edge."""
        bits, spans, begins = _gaps(view, sizes, base_s)
        if bits.size < _LEAST:
            return None
        rates = bits / spans
        edge = float(np.quantile(rates, _EDGE))
        is_at = np.abs(rates - edge) <= _SAME * edge
        if is_at.mean() < _LEAST_AT or _above(rates, edge) > _MOST_ABOVE:
            return None
        capacity = float(np.median(rates[is_at]))
        taken = np.maximum(0.0, spans - bits / capacity)
        share = float(taken.sum() / spans.sum())
        if share < _OTHERS or float((bits / spans < (1 - _OTHERS) * capacity).mean()) < _LEAST_OFTEN:
            return Sharing(capacity, None, None)
        place = np.floor(begins / _WINDOW_S).astype(np.int64)
        windows, at_window = np.unique(place, return_index=True)
        shares = np.add.reduceat(taken, at_window) / np.add.reduceat(spans, at_window)
        begun = windows[np.flatnonzero(shares > _BEGUN)[0]] * _WINDOW_S
        return Sharing(capacity, share * capacity, float(begun))


def is_exceeded(view: View, sizes: Any, base_s: float, capacity_bps: float) -> bool:
    """Whether packets that waited behind each other come closer together than a capacity says."""
    bits, spans, _ = _gaps(view, sizes, base_s)
    return bits.size >= _LEAST and _above(bits / spans, capacity_bps) > _OTHERS


def _above(rates: Floats, capacity_bps: float) -> float:
    return float((rates > (1 + 2 * _SAME) * capacity_bps).mean())


def _gaps(view: View, sizes: Any, base_s: float) -> tuple[Floats, Floats, Floats]:
    """Bits, lengths and begins of the times between acknowledgements in which the bottleneck was busy."""
    known = np.flatnonzero(np.isfinite(view.acked_s))
    order = known[np.argsort(view.acked_s[known], kind="stable")]
    moments, first = np.unique(view.acked_s[order], return_index=True)
    if moments.size <= _LEAST:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    bits = np.add.reduceat(sizes[order].astype(float), first) * 8
    newest = np.maximum.reduceat(view.sent_s[order], first)
    # An acknowledgement of fewer packets than usual waited for a timer (RFC 9000 section 13.2.1).
    counts = np.diff(np.append(first, order.size))
    is_usual = counts >= np.median(counts)
    is_busy = (newest[1:] <= moments[:-1] - base_s) & is_usual[1:] & is_usual[:-1]
    return bits[1:][is_busy], np.diff(moments)[is_busy], moments[:-1][is_busy]
