"""What flow control allows a sender in all, and what it has used of that (RFC 9000 section 4.1).

Data counts where it is sent for the first time. The peer allows so much on the connection, and so much on each
stream: a sender with one stream is held by the tighter of both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from thalweg.foreign.reading.view import Steps, steps

_BY_CLIENT, _BY_SERVER = 0, 1
"""The lowest bit of the number of a stream; the next one is set if it has one direction (RFC 9000 section 2.1)."""
_UNI = 2
_OF_CONNECTION = "initial_max_data"
PARAMETERS = (
    _OF_CONNECTION,
    "initial_max_stream_data_uni",
    "initial_max_stream_data_bidi_local",
    "initial_max_stream_data_bidi_remote",
)
"""What the peer allows at first (RFC 9000 section 18.2)."""


@dataclass
class _Stream:
    end: float = 0.0
    limit: float = math.nan
    is_finished: bool = False


@dataclass
class Credit:
    """The credit of one sender, event by event."""

    end: str
    """`client` or `server`, where the log says which it is of."""
    _first: dict[str, float] = field(default_factory=dict)
    _connection: float = math.nan
    _streams: dict[str, _Stream] = field(default_factory=dict)
    _offered: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    _allowed: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    _total: float = 0.0
    _limited: float = 0.0
    """The sum of the limits of streams that go on, and of the ends of those that are over."""
    _unlimited: int = 0
    """Streams that go on and whose limit is not known."""
    _open: int = 0

    def first(self, time_s: float, name: str, most: float) -> None:
        """One of `PARAMETERS` of the peer."""
        if name == _OF_CONNECTION:
            self.connection(time_s, most)
        elif most >= 0:
            is_new = name not in self._first
            self._first[name] = most
            # Data may have left before the parameters came, as with 0-RTT.
            for stream, found in self._streams.items() if is_new else ():
                if math.isnan(found.limit):
                    self.stream(time_s, stream, self._first_of(stream))

    def connection(self, time_s: float, most: float) -> None:
        """The peer allows so much on the connection."""
        if most > 0 and not self._connection >= most:
            self._connection = most
            self._allow(time_s)

    def stream(self, time_s: float, name: str, most: float) -> None:
        """The peer allows so much on a stream."""
        if most > 0:
            found = self._of(name)
            if not found.is_finished and not found.limit >= most:
                self._limited += most - (0.0 if math.isnan(found.limit) else found.limit)
                self._unlimited -= math.isnan(found.limit)
                found.limit = most
                self._allow(time_s)

    def sent(self, time_s: float, name: str, end: float, is_last: bool) -> None:
        """Data of a stream has left, up to an offset."""
        is_new = name not in self._streams
        found = self._of(name)
        if end > found.end and not found.is_finished:
            self._total += end - found.end
            found.end = end
            self._offered[0].append(time_s)
            self._offered[1].append(self._total)
        if is_last and not found.is_finished:
            found.is_finished = True
            self._open -= 1
            self._unlimited -= math.isnan(found.limit)
            self._limited += found.end - (0.0 if math.isnan(found.limit) else found.limit)
        if is_new or is_last:
            self._allow(time_s)

    def _of(self, name: str) -> _Stream:
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = _Stream(limit=self._first_of(name))
            self._open += 1
            self._unlimited += math.isnan(found.limit)
            self._limited += 0.0 if math.isnan(found.limit) else found.limit
        return found

    def _first_of(self, name: str) -> float:
        """What the peer allows at first on a stream: its own streams and streams of this end have other sizes."""
        if not name.isdecimal() or len(name) > 20:
            return math.nan
        number = int(name)
        if number & _UNI:
            kind = "uni"
        elif self.end in ("client", "server"):
            is_own = (number & 1) == (_BY_CLIENT if self.end == "client" else _BY_SERVER)
            kind = "bidi_remote" if is_own else "bidi_local"
        else:
            return math.nan
        return self._first.get(f"initial_max_stream_data_{kind}", math.nan)

    def _allow(self, time_s: float) -> None:
        """Notes what the tighter of both allows; streams that are over, or without a known limit, hold nothing."""
        most = self._connection
        if self._open and not self._unlimited:
            most = self._limited if math.isnan(most) else min(most, self._limited)
        times, values = self._allowed
        if math.isnan(most) and not values:
            return
        most = math.inf if math.isnan(most) else most
        if not values or values[-1] != most:
            times.append(time_s)
            values.append(most)

    def steps(self, begin_s: float) -> tuple[Steps, Steps]:
        """What is allowed and what is offered, since a time."""
        return _since(self._allowed, begin_s), _since(self._offered, begin_s)


def _since(values: tuple[list[float], list[float]], begin_s: float) -> Steps:
    return steps([time - begin_s for time in values[0]], values[1])
