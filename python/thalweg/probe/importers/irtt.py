"""The JSON of `irtt client -o FILE` (heistp/irtt, result.go and time.go) as a series.

Used of each entry of `round_trips`: `seqno`, and of `timestamps` the times at which `client` and `server` sent and
received, in nanoseconds, each by a `monotonic` and a `wall` clock. 0, or no entry, stands for an unknown time.
The monotonic clock is taken where all packets have it, since the other one may be set meanwhile. A server with one
timestamp (`--tstamp=midpoint`, `send` or `receive`) has spent no time on a request.

What is left out: irtt counts copies only for the whole session, and what its server received comes in other
units, so that `replies` is 1 or 0 and `counted` is 0: losses have no direction.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.probe.importers.netem_trace import is_bandwidth
from thalweg.probe.series import READ, Series

_CLOCKS = ("monotonic", "wall")
_BEYOND = 2**63
"""Go's times are whole numbers of 64 bits."""


def is_json(text: str) -> bool:
    """Whether a file is JSON rather than a table."""
    return text.lstrip().startswith("{")


def read_json(file: Path, text: str) -> dict[str, Any]:
    """The object of a file. Raises RequestError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{file}: this is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RequestError(f"{file}: expected a JSON object")
    return found


def irtt_series(name: str, file: Path, text: str) -> Series:
    """The series of a file of irtt. Raises RequestError."""
    found = read_json(file, text)
    trips = found.get("round_trips")
    if is_bandwidth(found):
        model = next(iter(found))[:60]
        raise RequestError(f"{file}: this is a model of netem-trace, {model}, not a measurement; accepted: {READ}")
    if not isinstance(trips, list):
        raise RequestError(f"{file}: there is no list round_trips; accepted: {READ}")
    numbered = sorted(
        ((_number(file, at, trip), at, trip) for at, trip in enumerate(trips)), key=lambda one: one[0]
    )
    for (number, _, _), (following, at, _) in pairwise(numbered):
        if number == following:
            raise RequestError(f"{file}: round_trips[{at}]: seqno {number} appears twice")
    stamps = [_Stamps(file, at, trip) for _, at, trip in numbered]
    answered = [stamp for stamp in stamps if stamp.is_answered]
    clock = _common_clock(
        [stamp.client for stamp in answered] + [{"send": stamp.client["send"]} for stamp in stamps]
    )
    server_clock = _common_clock([stamp.server for stamp in answered])
    if clock is None:
        raise RequestError(f"{file}: not all round trips have times of the client by the same clock")
    if server_clock is None:
        raise RequestError(
            f"{file}: not all answers have times of the server by the same clock; "
            "run `irtt client` with --tstamp=both, its default"
        )
    sent = [stamp.client["send"][clock] for stamp in stamps]
    received = [stamp.client["receive"][clock] if stamp.is_answered else None for stamp in stamps]
    arrived = [stamp.server["receive"][server_clock] if stamp.is_answered else None for stamp in stamps]
    returned = [stamp.server["send"][server_clock] if stamp.is_answered else None for stamp in stamps]
    first = sent[0] if sent else 0
    began = next((time for time in arrived if time is not None), 0)
    replies = np.array([int(stamp.is_answered) for stamp in stamps], np.int64)
    return Series(
        name,
        _seconds(sent, first),
        _seconds(arrived, began),
        _seconds(returned, began),
        _seconds(received, first),
        replies,
        np.zeros(len(stamps), np.int64),
    )


class _Stamps:
    """The times of a round trip that are known: of an end, of an action, by a clock."""

    def __init__(self, file: Path, at: int, trip: dict[str, Any]) -> None:
        where = f"{file}: round_trips[{at}].timestamps"
        stamps = trip.get("timestamps")
        if not isinstance(stamps, dict):
            raise RequestError(f"{where}: expected an object with client and server")
        self.client = _times(f"{where}.client", stamps.get("client"))
        self.server = _times(f"{where}.server", stamps.get("server"))
        self.is_answered = bool(self.client["receive"])
        for action, other in (("send", "receive"), ("receive", "send")):
            self.server[action] = self.server[action] or self.server[other]


def _number(file: Path, at: int, trip: Any) -> int:
    number = trip.get("seqno") if isinstance(trip, dict) else None
    if not isinstance(number, int) or not _is_whole(number):
        raise RequestError(f"{file}: round_trips[{at}]: expected an object with the whole number seqno")
    return number


def _times(where: str, stamp: Any) -> dict[str, dict[str, int]]:
    """What is known of when an end sent and received."""
    found: dict[str, dict[str, int]] = {"send": {}, "receive": {}}
    for action, known in found.items():
        times = _part(where, stamp, action)
        for clock in _CLOCKS:
            time = _part(f"{where}.{action}", times, clock) or 0
            if not _is_whole(time):
                raise RequestError(f"{where}.{action}.{clock} = {str(time)[:40]}: expected whole nanoseconds")
            if time:
                known[clock] = time
    return found


def _part(where: str, value: Any, key: str) -> Any:
    """A value of an object; nothing of nothing."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise RequestError(f"{where} = {str(value)[:40]}: expected an object")
    return value.get(key)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _BEYOND


def _common_clock(stamps: list[dict[str, dict[str, int]]]) -> str | None:
    """The first clock by which all these times are known."""
    return next(
        (clock for clock in _CLOCKS if all(clock in times for stamp in stamps for times in stamp.values())), None
    )


def _seconds(times: list[int | None] | list[int], origin: int) -> np.typing.NDArray[np.float64]:
    """From an origin on, so that a wall clock loses no nanoseconds."""
    return np.array([np.nan if time is None else (time - origin) * 1e-9 for time in times], np.float64)
