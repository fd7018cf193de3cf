"""What limited a sender, in each interval between two instants at which anything happened, and by seconds.

With a logged window, a sender with no room for a packet is limited by it. With room, flow control limits it where
no credit is left; else it is paced until the last packet has taken its time at the pacing rate, and after that
waits for the application. Without a logged rate a silence is of the application, and any other wait is paced. A
wait as long as a probe timeout with packets in flight and nothing that came back is a stall, until something
comes. Without a window what ends a wait tells: an acknowledgement or a timer.

The words are the engine's (`transport/src/limits.rs`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from thalweg.foreign.inference.flight import SENT, Flight
from thalweg.foreign.inference.idle import silences, steady
from thalweg.foreign.reading.view import Floats, Steps, View

CAUSES = ("handshake", "application", "flow-control", "pacing", "window", "stalled")
HANDSHAKE, APPLICATION, FLOW_CONTROL, PACING, WINDOW, STALLED = range(6)
_AT_ONCE_S = 100e-6
"""What leaves so soon after something came was released by it."""
_GRANULARITY_S = 1e-3
_ACK_DELAY_S = 25e-3
_AROUND, _UNEVEN = 200, 0.5
"""Waits around an instant, and their least deviation over their mean, for a limit that is renewed in steps."""
_SOON = 0.05
"""Share of a wait: what leaves so soon after something came, after so long, was released by it."""
_RENEWED = 0.06
"""Share of what is in flight: receivers renew what they allow in steps."""
_CAPPED_RTTS = 6
"""Round trips in which the peak of the bytes in flight stays: without a log of credit, the receiver's limit."""
_SAME_PEAK = 0.1
_PATIENCE = 0.8
"""Share of a probe timeout: a wait that long is one."""


@dataclass(frozen=True)
class Limits:
    """Spans of time, and what limited the sender in each."""

    begins_s: Floats
    ends_s: Floats
    causes: npt.NDArray[np.int64]
    evidence: str
    """Where the words come from."""

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the time, by name."""
        spans = self.ends_s - self.begins_s
        total = float(spans.sum()) or 1.0
        return {name: float(spans[self.causes == place].sum()) / total for place, name in enumerate(CAUSES)}

    def by_seconds(self, length_s: float = 1.0) -> list[str]:
        """The cause that held longest in each second; empty where nothing is known."""
        if self.begins_s.size == 0:
            return []
        count = math.ceil(float(self.ends_s[-1]) / length_s - 1e-9)
        held = np.zeros((max(count, 0), len(CAUSES)))
        for begin, end, cause in zip(self.begins_s, self.ends_s, self.causes, strict=True):
            for second in range(int(begin / length_s), min(count, int(end / length_s) + 1)):
                held[second, cause] += max(0.0, min(end, (second + 1) * length_s) - max(begin, second * length_s))
        return [CAUSES[int(row.argmax())] if row.any() else "" for row in held]


def logged(view: View) -> Limits:
    """The limits that the file says."""
    places = [CAUSES.index(by) for _, by in view.limits if by in CAUSES]
    times = [time for time, by in view.limits if by in CAUSES] + [view.duration_s]
    spans = np.asarray(list(pairwise(times)), float).reshape(-1, 2)
    return Limits(spans[:, 0], spans[:, 1], np.asarray(places, np.int64), "the file")


def limits(view: View, is_explained: bool = False) -> Limits:
    """Infers the limits of a sender; `is_explained`: a controller fits, so its rate may be steady by itself."""
    return _Inference(view, is_explained).result()


class _Inference:
    def __init__(self, view: View, is_explained: bool) -> None:
        self.view = view
        window, pacing = view.window, view.pacing_bps
        flight = Flight.of(view)
        self.resolution = _resolution(view.sent_s)
        self.mtu = float(np.max(view.sent_bytes)) or 1200.0
        # Instants: what happened at one time is one event.
        times, first = np.unique(flight.times_s, return_index=True)
        last = np.append(first[1:], flight.times_s.size) - 1
        self.times = times
        self.flights = flight.bytes[last]
        sends = flight.kinds == SENT
        sizes = np.where(sends, view.sent_bytes[flight.packets], 0).astype(float)
        self.sent = np.add.reduceat(sizes, first)
        self.has_sent = self.sent > 0
        self.has_come = np.add.reduceat((~sends).astype(float), first) > 0
        self.ends = np.append(times[1:], max(view.duration_s, float(times[-1])))
        self.window = window.at(times) if window else np.full(times.size, np.nan)
        self.pacing = pacing.at(times) if pacing else np.full(times.size, np.nan)
        self.timeout = self._timeouts()
        since = self._since_last()
        self.is_ack_clocked = since <= _AT_ONCE_S
        # What renews a limit need not be an acknowledgement, but comes among them.
        waits = np.append(0.0, times[1:] - times[self._last_sends()[:-1]])
        self.is_renewed = self.is_ack_clocked | (since <= np.minimum(_SOON * waits, 2e-3))
        self.is_capped = self._capped()
        silent = np.searchsorted(times, silences(view)) if not pacing else np.zeros(0, np.int64)
        self.before = self._last_sends()
        self.is_silent = np.isin(self.before, silent)
        self.is_steady = np.zeros(times.size, bool)
        for begin, end in () if pacing or is_explained else steady(view):
            self.is_steady |= (times >= begin) & (times < end)

    def _capped(self) -> npt.NDArray[np.bool_]:
        """Whether the peak of the bytes in flight has not changed for some round trips, or the sender said it."""
        rtt = float(np.median(self.view.rtt.values)) if self.view.rtt else 0.1
        span = max(_CAPPED_RTTS * rtt, (self.times[-1] - self.times[0]) / 2000)
        turn = np.floor((self.times - self.times[0]) / max(rtt, span / _CAPPED_RTTS)).astype(np.int64)
        turns, first = np.unique(turn, return_index=True)
        peaks = np.maximum.reduceat(self.flights, first)
        found = np.zeros(turns.size, bool)
        for place in range(_CAPPED_RTTS, turns.size + 1):
            around = peaks[place - _CAPPED_RTTS : place]
            if around.max() - around.min() <= max(2 * self.mtu, _SAME_PEAK * around.max()):
                found[place - _CAPPED_RTTS : place] = True
        capped = found[np.searchsorted(turns, turn)] & self._is_uneven()
        near = np.searchsorted(self.view.blocked_s, self.times - rtt)
        said = np.searchsorted(self.view.blocked_s, self.times + rtt, side="right") > near
        return np.asarray(capped | said)

    def _is_uneven(self) -> npt.NDArray[np.bool_]:
        """Whether waits around each instant differ: an application of constant rate has equal ones."""
        gaps = np.diff(self.view.sent_s)
        if gaps.size < _AROUND:
            return np.zeros(self.times.size, bool)
        count = np.full(_AROUND, 1 / _AROUND)
        mean, square = np.convolve(gaps, count, "same"), np.convolve(gaps**2, count, "same")
        uneven = square > (1 + _UNEVEN**2) * mean**2
        place = np.searchsorted(self.view.sent_s, self.times, side="right") - 1
        return np.asarray(uneven[np.clip(place, 0, gaps.size - 1)])

    def _timeouts(self) -> Floats:
        """The probe timeout at each instant (RFC 9002 sections 5.3 and 6.2.1)."""
        rtt = self.view.rtt
        if not rtt:
            return np.full(self.times.size, np.inf)
        smoothed, deviation = float(rtt.values[0]), float(rtt.values[0]) / 2
        periods = np.empty(rtt.values.size)
        for place, sample in enumerate(rtt.values):
            if place:
                deviation += (abs(smoothed - sample) - deviation) / 4
                smoothed += (sample - smoothed) / 8
            periods[place] = smoothed + max(4 * deviation, _GRANULARITY_S) + _ACK_DELAY_S
        found = Steps(rtt.times_s, periods).at(self.times)
        return np.where(np.isnan(found), periods[0], found)

    def _since_last(self) -> Floats:
        """How long before each instant something came."""
        came = self.times[self.has_come]
        if came.size == 0:
            return np.full(self.times.size, np.inf)
        place = np.searchsorted(came, self.times + 1e-9) - 1
        return np.where(place >= 0, self.times - came[np.maximum(place, 0)], np.inf)

    def result(self) -> Limits:
        """All spans, the handshake first."""
        view = self.view
        begins, ends, causes = [0.0], [float(self.times[0])], [HANDSHAKE]
        if math.isfinite(view.handshake_s) and view.handshake_s < ends[0]:
            ends = [view.handshake_s]
        following = self._next_sends()
        stalls = self._stalls(following)
        credit = self._credit()
        idle = view.idle.at(self.times) if view.idle else np.zeros(self.times.size)
        ready = self._ready()
        for place in range(self.times.size):
            begin, end = float(self.times[place]), float(self.ends[place])
            if end <= begin:
                continue
            cause = STALLED
            if not stalls[place]:
                cause = self._wait(place, following[place], credit[place], idle[place] > 0, ready[place])
            begins.append(begin)
            ends.append(end)
            causes.append(cause)
        evidence = "the logged window and the times of packets" if view.window else "the times of packets"
        return Limits(np.asarray(begins), np.asarray(ends), np.asarray(causes, np.int64), evidence)

    def _last_sends(self) -> npt.NDArray[np.int64]:
        """The last instant with packets until each."""
        return np.asarray(np.maximum.accumulate(np.where(self.has_sent, np.arange(self.times.size), 0)))

    def _next_sends(self) -> npt.NDArray[np.int64]:
        """The next instant with packets after each; the number of instants for none."""
        places = np.where(self.has_sent, np.arange(self.times.size), self.times.size)
        after = np.minimum.accumulate(places[::-1])[::-1]
        return np.append(after[1:], self.times.size)

    def _stalls(self, following: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Waits for probe timeouts, each from the last packet to what comes back after the probe."""
        found = np.zeros(self.times.size, bool)
        sends = np.flatnonzero(self.has_sent)
        comes = np.flatnonzero(self.has_come)
        for before, after in zip(sends, np.append(sends[1:], self.times.size), strict=True):
            end = self.times[after] if after < self.times.size else self.ends[-1]
            wait = end - self.times[before]
            if self.flights[before] <= 0 or wait < _PATIENCE * self.timeout[before]:
                continue
            if after < self.times.size and self.is_ack_clocked[after] and self.has_come[before + 1 : after].any():
                continue
            left = self.flights[after - 1] if after <= self.times.size else 0.0
            back = int(np.searchsorted(comes, after))
            newest = max(before, comes[back - 1]) if back else before
            quiet = end - self.times[newest]
            if left <= 0 or quiet < 0.5 * self.timeout[before]:
                continue
            until = comes[back] if back < comes.size else self.times.size
            found[before:until] = True
        return found

    def _credit(self) -> npt.NDArray[np.float64]:
        """Bytes that flow control still allows at each instant; infinite where it is not known."""
        allowed, offered = self.view.allowed, self.view.offered
        if not allowed or not offered:
            return np.full(self.times.size, np.inf)
        left = allowed.at(self.times) - offered.at(self.times)
        return np.where(np.isnan(left), np.inf, left)

    def _ready(self) -> Floats:
        """When the pacer would let the next packet go, after each instant."""
        rate = np.where(np.isfinite(self.pacing) & (self.pacing > 0), self.pacing, np.inf)
        ready = np.empty(self.times.size)
        due = -math.inf
        for place in range(self.times.size):
            if self.has_sent[place]:
                now = self.times[place]
                took = self.sent[place] * 8 / rate[place]
                due = now + took if due < now or due > now + 0.01 else due + took
            ready[place] = due
        return ready

    def _wait(self, place: int, after: int, credit: float, is_idle: bool, ready: float) -> int:
        """What limited the sender from an instant to the next one."""
        window = self.window[place]
        if math.isnan(window):
            return self._by_release(place, after, credit, is_idle)
        if self.flights[place] + self.mtu > window:
            return WINDOW
        rest = APPLICATION
        if credit < max(2 * self.mtu, _RENEWED * self.flights[place]) or (
            math.isinf(credit) and not is_idle and self._is_held(place, after)
        ):
            rest = FLOW_CONTROL
        if rest == FLOW_CONTROL or is_idle:
            return rest
        if math.isnan(self.pacing[place]):
            is_free = self.is_silent[place] or self.is_steady[place] or self.flights[place] <= 0
            return APPLICATION if is_free else PACING
        # What leaves when the pacer is ready was held by it; what leaves later was not there before either.
        left = self.times[after] if after < self.times.size else math.inf
        slack = self.resolution + 0.1 * (ready - self.times[self.before[place]])
        return PACING if left <= ready + slack else rest

    def _is_held(self, place: int, after: int) -> bool:
        """Whether acknowledgements release each packet, as many in flight as before, with room in the window."""
        is_released = after < self.times.size and bool(self.is_renewed[after]) and self.flights[place] > 0
        return is_released and bool(self.is_capped[place])

    def _by_release(self, place: int, after: int, credit: float, is_idle: bool) -> int:
        """Without a window: what ended the wait."""
        if is_idle or self.flights[place] <= 0:
            return APPLICATION
        if credit < max(2 * self.mtu, _RENEWED * self.flights[place]):
            return FLOW_CONTROL
        if self.is_silent[place] or self.is_steady[place]:
            return APPLICATION
        if after >= self.times.size or self.is_ack_clocked[after]:
            return WINDOW
        return PACING


def _resolution(times_s: Floats) -> float:
    """How exact times are: to milliseconds, or as well as the clocks of stacks wake up."""
    thousands = times_s[:1000] * 1e3
    return 1e-3 if thousands.size > 8 and bool((np.abs(thousands - np.round(thousands)) < 1e-4).all()) else 60e-6
