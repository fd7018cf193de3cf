"""What one end knows of one connection, whatever the file that it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from thalweg.base.errors import printable

Floats: TypeAlias = "npt.NDArray[np.float64]"
Counts: TypeAlias = "npt.NDArray[np.int64]"


@dataclass(frozen=True)
class Steps:
    """A value that holds from each time to the next."""

    times_s: Floats
    values: Floats

    def at(self, times_s: Floats) -> Floats:
        """The values at times; NaN before the first."""
        if self.times_s.size == 0:
            return np.full(times_s.shape, np.nan)
        place = np.searchsorted(self.times_s, times_s, side="right") - 1
        return np.where(place < 0, np.nan, self.values[np.maximum(place, 0)])

    def __bool__(self) -> bool:
        return self.times_s.size > 0


NONE = Steps(np.zeros(0), np.zeros(0))


def steps(times_s: list[float], values: list[float]) -> Steps:
    """Steps in the order of time; those at one time keep their order."""
    if not times_s:
        return NONE
    times, numbers = np.asarray(times_s, float), np.asarray(values, float)
    order = np.argsort(times, kind="stable")
    return Steps(times[order], numbers[order])


@dataclass(frozen=True)
class View:
    """One end's view of one connection. Times are seconds since its first event.

    The arrays of packets have one entry for each packet of data, in the order in which they were sent.
    """

    name: str
    """The connection, as the file names it."""
    vantage: str
    """`sender` or `receiver` of the data."""
    source: str
    """The kind of file, in words."""
    duration_s: float
    protocol: str = "QUIC"
    end: str = ""
    """`client` or `server`, if the file says so."""
    sent_s: Floats = field(default_factory=lambda: np.zeros(0))
    sent_bytes: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    acked_s: Floats = field(default_factory=lambda: np.zeros(0))
    """When each packet was acknowledged; NaN if it never was."""
    acked_by: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    """Which acknowledgement did so, counted in their order; -1 for none."""
    lost_s: Floats = field(default_factory=lambda: np.zeros(0))
    """When each packet was declared lost; NaN if it never was."""
    repeats: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """Which packets repeat others of TCP, by their place in its sequence; empty where a file does not tell."""
    arrived_s: Floats = field(default_factory=lambda: np.zeros(0))
    """Packets that came in, at a receiver."""
    arrived_bytes: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    marks: Steps = NONE
    """CE marks in all, as acknowledgements count them."""
    is_ect: bool | None = None
    """Whether the network could mark its packets (RFC 3168); None where the file does not tell."""
    rtt: Steps = NONE
    """Samples of the round-trip time."""
    window: Steps = NONE
    in_flight: Steps = NONE
    pacing_bps: Steps = NONE
    allowed: Steps = NONE
    """Bytes that flow control allows in all."""
    offered: Steps = NONE
    """Bytes of data that have been sent for the first time in all, to be held against `allowed`."""
    blocked_s: Floats = field(default_factory=lambda: np.zeros(0))
    """When the sender said that flow control blocks it."""
    idle: Steps = NONE
    """1 while the sender says that the application has nothing to send, else 0."""
    limits: tuple[tuple[float, str], ...] = ()
    """What limited the sender from each time on, where the file says so."""
    states: tuple[tuple[float, str], ...] = ()
    """States of the congestion controller."""
    handshake_s: float = float("nan")
    """When the first packet of data could leave."""
    spin_rtt: Steps = NONE
    """Round trips between changes of the spin bit."""
    missing: tuple[str, ...] = ()
    """What the file does not say, in words."""
    said: dict[str, float] = field(default_factory=dict)
    """Numbers that a program measured by itself, of which the file says no more: rates, bytes, retransmissions."""
    rates_bps: Steps = NONE
    """Rates over intervals that a program measured by itself, from the begin of each."""

    damage: str = ""
    """Why this connection cannot be read; the file may have others."""

    @property
    def is_sender(self) -> bool:
        """Whether packets that were sent are known."""
        return self.sent_s.size > 0

    @property
    def has_acks(self) -> bool:
        """Whether it is known when packets were acknowledged."""
        return bool(np.isfinite(self.acked_s).any())

    @property
    def is_whole(self) -> bool:
        """Whether packets that were sent are known with their sizes and acknowledgements."""
        return self.has_acks and bool(self.sent_bytes.any())

    @property
    def is_spurious(self) -> npt.NDArray[np.bool_]:
        """Which packets were declared lost and have arrived."""
        return np.isfinite(self.lost_s) & np.isfinite(self.acked_s)

    @property
    def bytes(self) -> int:
        """Bytes of data packets, at the end that the file is of."""
        known = int(self.sent_bytes.sum() if self.is_sender else self.arrived_bytes.sum())
        return known or int(self.said.get("bytes", 0))


def unread(name: str, source: str, damage: Exception) -> View:
    """A connection that cannot be read, and why."""
    return View(name, "sender", source, 0.0, damage=printable(str(damage)))
