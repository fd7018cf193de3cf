"""Open-loop replay: what a controller would have allowed the sender of a view, and how far it was from that.

Every controller sees what the sender saw; nothing is assumed of the path. In windows of one and a half round trips
the residual is what the sender exceeded the window and the pacing rate by, plus the slack of the tighter limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg import _native
from thalweg.foreign.reading.view import Floats, Steps, View

SENT, ACKED, LOST, SPURIOUS, MARKED, ACKS_END, IDLE, FORGOTTEN = range(8)
_WINDOWS = 1.5
"""Round trips in a window of comparison."""
_LEAST_WINDOWS = 6


@dataclass(frozen=True)
class Script:
    """A view as the events that are replayed."""

    kinds: npt.NDArray[np.uint8]
    times_s: Floats
    numbers: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    mtu: int
    initial_window: int | None
    rtt_s: float | None

    @staticmethod
    def of(view: View, idle_s: Floats) -> Script:
        """`idle_s`: when the application had nothing to send."""
        number = np.arange(view.sent_s.size)
        acked = np.isfinite(view.acked_s)
        lost = np.isfinite(view.lost_s) & ~(view.lost_s > view.acked_s)
        # TCP answers a lost retransmission within the recovery that sent it (RFC 6675): for it the
        # window is not reduced again. A packet number of QUIC would say that it is.
        repeats = view.repeats if view.repeats.size else np.zeros(number.size, bool)
        late = view.is_spurious & (view.acked_s >= view.lost_s)
        first = acked & ~late
        frames, place = np.unique(view.acked_by[acked], return_index=True)
        ends = view.acked_s[acked][place]
        marks = np.diff(view.marks.values, prepend=0.0) if view.marks else np.zeros(0)
        grown = marks > 0
        parts = [
            # In this order at one instant.
            (SPURIOUS, view.acked_s[late], number[late], view.acked_by[late]),
            (ACKED, view.acked_s[first], number[first], view.acked_by[first]),
            (
                MARKED,
                view.marks.times_s[grown] if view.marks else np.zeros(0),
                marks[grown].astype(np.int64),
                None,
            ),
            (ACKS_END, ends, np.zeros(frames.size, np.int64), frames),
            (LOST, view.lost_s[lost & ~repeats], number[lost & ~repeats], None),
            (FORGOTTEN, view.lost_s[lost & repeats], number[lost & repeats], None),
            (SENT, _before_answers(view), number, None),
            (IDLE, idle_s, np.zeros(idle_s.size, np.int64), None),
        ]
        kinds = np.concatenate([np.full(times.size, kind, np.uint8) for kind, times, _, _ in parts])
        times = np.concatenate([times for _, times, _, _ in parts])
        numbers = np.concatenate([values for _, _, values, _ in parts]).astype(np.int64)
        # What one frame says stays together; marks belong to the first frame of their instant.
        large = np.int64(1) << 40
        frame = np.concatenate(
            [
                by if by is not None else np.full(times.size, 0 if kind == MARKED else large, np.int64)
                for kind, times, _, by in parts
            ]
        )
        rank = np.concatenate([np.full(times.size, place) for place, (_, times, _, _) in enumerate(parts)])
        order = np.lexsort((numbers, rank, frame, times))
        sizes = np.where(kinds == SENT, view.sent_bytes[np.minimum(numbers, number.size - 1)], 0)
        early = view.sent_bytes[: min(10, number.size)]
        rtt = float(view.rtt.values[0]) if view.rtt else None
        logged = view.window.values[0] if view.window else math.nan
        return Script(
            kinds[order],
            np.ascontiguousarray(times[order]),
            numbers[order],
            sizes[order].astype(np.int64),
            int(max(np.median(early), 500)),
            int(logged) if math.isfinite(logged) and logged > 0 else None,
            rtt,
        )


def _before_answers(view: View) -> Floats:
    """When packets left, a little earlier where the clock of the file has an answer at the same time."""
    is_answered = (view.acked_s == view.sent_s) | (view.lost_s == view.sent_s)
    at_once = np.isin(view.sent_s, view.sent_s[is_answered])
    return np.where(at_once, np.nextafter(view.sent_s, -np.inf), view.sent_s)


@dataclass(frozen=True)
class Fit:
    """A controller, and how far the sender was from it."""

    controller: str
    residual: float
    times_s: Floats
    """Middles of the windows."""
    residuals: Floats
    window: Steps
    pacing_bps: Steps
    in_flight: Floats
    """After each packet that was sent."""

    @property
    def is_known(self) -> bool:
        """Whether there were windows enough to compare."""
        return math.isfinite(self.residual)


def fit(view: View, script: Script, controller: str, skipped: npt.NDArray[np.bool_] | None = None) -> Fit:
    """Replays a view through a controller; `skipped`: packets whose time something else limited."""
    allowed = _native.replay(
        controller,
        script.kinds,
        script.times_s,
        script.numbers,
        script.sizes,
        (script.mtu, script.initial_window, script.rtt_s),
    )
    window, pacing, flight = (
        np.asarray(allowed[key]) for key in ("window_bytes", "pacing_bps", "in_flight_bytes")
    )
    times, residuals = _residuals(view, window, pacing, flight, skipped)
    residual = float(residuals.mean()) if residuals.size >= _LEAST_WINDOWS else math.nan
    sent = view.sent_s
    return Fit(controller, residual, times, residuals, Steps(sent, window), Steps(sent, pacing), flight)


def _residuals(
    view: View, window: Floats, pacing: Floats, flight: Floats, skipped: npt.NDArray[np.bool_] | None
) -> tuple[Floats, Floats]:
    sent = view.sent_s
    span = _WINDOWS * float(np.median(view.rtt.values)) if view.rtt else 0.1
    begin, end = float(sent[0]), float(sent[-1])
    edges = np.arange(begin, end, max(span, (end - begin) / 5000, 1e-4))
    if edges.size < 2:
        return np.zeros(0), np.zeros(0)
    place = np.searchsorted(sent, edges)
    used = flight / np.maximum(window, 1.0)
    sizes = view.sent_bytes.astype(float)
    times, found = [], []
    for low, high, left, right in zip(place[:-1], place[1:], edges[:-1], edges[1:], strict=True):
        if high - low < 2 or (skipped is not None and skipped[low:high].mean() > 0.1):
            continue
        own = used[low:high] if skipped is None else used[low:high][~skipped[low:high]]
        peak = float(own.max())
        rates = pacing[low:high]
        rated = np.isfinite(rates)
        rate = 0.0
        if rated.mean() > 0.5:
            # What left between the first packet and the last, against what the rates would have taken.
            needed = float((sizes[low : high - 1][rated[:-1]] * 8 / np.maximum(rates[:-1][rated[:-1]], 1.0)).sum())
            rate = needed / max(float(sent[high - 1] - sent[low]), 1e-9)
            rate = min(rate, needed / (right - left) * (high - low) / (high - low - 1))
        tighter = max(peak, rate)
        over = min(1.0, max(0.0, peak - 1) + max(0.0, rate - 1))
        found.append(min(1.0, over + max(0.0, 1 - tighter)))
        times.append((left + right) / 2)
    return np.asarray(times), np.asarray(found)
