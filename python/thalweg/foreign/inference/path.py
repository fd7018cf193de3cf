"""The path of a sender, from what it saw: capacity, base RTT, buffer, random loss, policer.

While packets wait in a queue, the bottleneck is busy, and acknowledgements come at its capacity. A loss whose
neighbours waited as long as any is an overflow, any other is random; the deepest wait at overflows is the buffer.
A policer drops what exceeds its rate without a queue. Sizes are with the headers of IPv4 and UDP or TCP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.foreign.inference.sharing import Sharing, is_exceeded
from thalweg.foreign.reading.view import Floats, View

HEADERS = {"QUIC": 28, "UDP": 28, "TCP": 52}
"""Bytes on the path that the sizes of a view do not have: IPv4 and UDP, or TCP with timestamps."""
_PACKETS = 48
"""Packets of one measurement of the capacity."""
_LEAST_MEASUREMENTS = 5
_MOMENTS = 8
"""Acknowledgements of one measurement, at the rate at which they come half of the time."""
_FULL = 0.75
"""Share of the deepest wait: a loss amid such waits is an overflow."""
_LEAST_LOSSES = 2
_LEAST_BURST = 3


@dataclass(frozen=True)
class Path:
    """What is known of a path; None for what was not seen."""

    capacity_bps: float | None
    is_capacity_seen: bool
    """Whether a queue showed the capacity; else it is at least that."""
    base_rtt_s: float | None
    buffer_bytes: float | None
    is_buffer_seen: bool
    """Whether it overflowed; else it is at least that."""
    overflows: int
    random_loss: float | None
    """Share of packets that were lost without a queue."""
    policer_bps: float | None
    others_bps: float | None = None
    """What other flows took of the capacity while packets waited, if it is known and they took much."""
    others_from_s: float | None = None
    is_exceeded: bool = False
    """Whether packets come closer together than the capacity says, as amid jitter: it may be said too low."""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return dict(self.__dict__)


def path(view: View) -> Path:
    """Infers the path of a sender; of a receiver, the rate that came is all."""
    if not view.is_whole or not view.rtt:
        return _of_arrivals(view)
    base = float(view.rtt.values.min())
    sizes = view.sent_bytes + HEADERS.get(view.protocol, 28)
    waits = np.maximum(0.0, view.acked_s - view.sent_s - base)
    lost = np.isfinite(view.lost_s) & ~view.is_spurious
    waited = _waits_of_lost(view.sent_s, waits, lost)
    floor = max(2e-3, 0.05 * base)
    policer = _policer(view, sizes, waited, lost, base)
    capacity, is_seen = _capacity(view, sizes, waits, floor)
    shared = Sharing.of(view, sizes, base) if policer is None else None
    beyond = False
    if shared is not None:
        capacity, is_seen = shared.capacity_bps, True
    elif capacity is not None and is_seen:
        beyond = is_exceeded(view, sizes, base, capacity)
    if policer is not None:
        capacity, is_seen = None, False
    deep = float(np.nanpercentile(waits, 99.5)) if np.isfinite(waits).any() else 0.0
    is_overflow = (waited >= _FULL * deep) & (waited > floor)
    if policer is not None or not _is_burst(view.sent_s[lost][is_overflow], is_overflow, base):
        is_overflow[:] = False
    overflows, rest = int(is_overflow.sum()), int((~is_overflow).sum())
    buffer = None
    if capacity is not None and is_seen and policer is None:
        depth = float(np.median(waited[is_overflow])) if overflows else deep
        buffer = depth * capacity / 8 if depth > floor else None
    if capacity is not None and is_seen:
        # The packet itself took its time.
        base -= min(0.5 * base, float(np.max(sizes)) * 8 / capacity)
    share = rest / view.sent_s.size if rest >= _LEAST_LOSSES and policer is None else None
    taken, since = (shared.others_bps, shared.from_s) if shared is not None else (None, None)
    return Path(capacity, is_seen, base, buffer, overflows > 0, overflows, share, policer, taken, since, beyond)


def _is_burst(sent: Floats, is_overflow: Any, rtt: float) -> bool:
    """Whether losses amid deep waits are overflows: most of all losses, or several within a round trip."""
    if sent.size < _LEAST_BURST:
        return False
    in_one = np.searchsorted(sent, sent + rtt, side="right") - np.arange(sent.size)
    return bool(is_overflow.mean() > 0.6) or int(in_one.max()) >= _LEAST_BURST


def _of_arrivals(view: View) -> Path:
    base = float(view.rtt.values.min()) if view.rtt else None
    times = view.arrived_s if view.arrived_s.size else view.sent_s
    sizes = (view.arrived_bytes if view.arrived_s.size else view.sent_bytes) + HEADERS.get(view.protocol, 28)
    rates = _rates(times, sizes) if view.bytes else np.zeros(0)
    if view.rates_bps:
        rates = view.rates_bps.values
    capacity = float(np.percentile(rates, 99)) if rates.size else None
    return Path(capacity, False, base, None, False, 0, None, None)


def _rates(times: Floats, sizes: Any) -> Floats:
    """Rates of as many packets as one measurement has, without its first."""
    if times.size <= _PACKETS:
        return np.zeros(0)
    total = np.cumsum(sizes)
    spans = times[_PACKETS:] - times[:-_PACKETS]
    carried = (total[_PACKETS:] - total[:-_PACKETS]) * 8.0
    return np.asarray(carried[spans > 1e-6] / spans[spans > 1e-6])


def _capacity(view: View, sizes: Any, waits: Floats, floor: float) -> tuple[float | None, bool]:
    """The rate of acknowledgements while all packets of a measurement waited."""
    known = np.flatnonzero(np.isfinite(view.acked_s))
    order = known[np.argsort(view.acked_s[known], kind="stable")]
    times = view.acked_s[order]
    # One acknowledgement is one moment: what it names came before it.
    moments, first = np.unique(times, return_index=True)
    carried = np.add.reduceat(sizes[order].astype(float), first)
    least = np.minimum.reduceat(waits[order], first)
    total = np.cumsum(carried)
    if moments.size < 4:
        return None, False
    most = max(float(np.median(np.diff(moments))) * _MOMENTS, 0.02)
    ends = np.searchsorted(moments, moments + most)
    inside = ends < moments.size
    begins = np.flatnonzero(inside)
    ends = ends[inside]
    spans = moments[ends] - moments[begins]
    rates = (total[ends] - total[begins]) * 8 / np.maximum(spans, 1e-9)
    idle = np.append(0, np.cumsum(least <= floor))
    # Where fewer come than half of the time, what waits is a delayed acknowledgement.
    is_busy = (idle[ends + 1] - idle[begins] == 0) & (2 * (ends - begins) >= _MOMENTS)
    # Losses are holes in what comes.
    lost = np.sort(view.lost_s[np.isfinite(view.lost_s)])
    rtt = float(np.median(view.rtt.values))
    holes = np.searchsorted(lost, moments[ends] + rtt) - np.searchsorted(lost, moments[begins] - rtt)
    clean = is_busy & (holes == 0)
    for chosen in (clean, is_busy):
        if chosen.sum() >= _LEAST_MEASUREMENTS:
            return _mode(rates[chosen]), True
    return (float(np.percentile(rates, 98)), False) if rates.size else (None, False)


def _mode(rates: Floats) -> float:
    """The middle of the shortest span with half of the values: others come and go, the capacity stays."""
    ordered = np.sort(rates)
    half = max(1, ordered.size // 2)
    spans = ordered[half:] - ordered[: ordered.size - half]
    low = int(spans.argmin()) if spans.size else 0
    return float(np.median(ordered[low : low + half + 1]))


def _waits_of_lost(sent: Floats, waits: Floats, lost: Any) -> Floats:
    """How long packets that were sent just before and after each lost one waited."""
    known = np.flatnonzero(np.isfinite(waits))
    places = np.flatnonzero(lost)
    if known.size == 0 or places.size == 0:
        return np.zeros(0)
    after = np.searchsorted(known, places)
    left = waits[known[np.maximum(after - 1, 0)]]
    right = waits[known[np.minimum(after, known.size - 1)]]
    return np.asarray(np.maximum(left, right))


def _policer(view: View, sizes: Any, waited: Floats, lost: Any, base: float) -> float | None:
    """The rate that comes through wherever something is lost, if no queue grew there."""
    if waited.size < 10 or float(np.median(waited)) > max(0.15 * base, 3e-3):
        return None
    width = max(0.25, 4 * base)
    edges = np.arange(0.0, float(view.sent_s[-1]) + width, width)
    if edges.size < 6:
        return None
    sent, _ = np.histogram(view.sent_s, edges, weights=sizes.astype(float))
    gone, _ = np.histogram(view.sent_s[lost], edges, weights=sizes[lost].astype(float))
    passed = (sent - gone) * 8 / width
    has_loss = gone > 0
    if has_loss.sum() < 3:
        return None
    rate = float(np.median(passed[has_loss]))
    spread = float(np.percentile(passed[has_loss], 75) - np.percentile(passed[has_loss], 25))
    exceeds = float((sent[has_loss] * 8 / width > 0.98 * rate).mean())
    share = float(gone[has_loss].sum() / sent[has_loss].sum())
    if spread < 0.25 * rate and exceeds > 0.6 and share > 0.01 and math.isfinite(rate):
        return rate
    return None
