"""A flow of UDP in a capture: sizes and times of packets, and the spin bit of QUIC; the rest is encrypted."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from thalweg.foreign.reading.segments import Flow, Segment
from thalweg.foreign.reading.view import NONE, Steps, View, steps

_LONG, _FIXED, _SPIN = 0x80, 0x40, 0x20
_LEAST_SPINS = 8


def view(flow: Flow) -> View | None:
    """What a capture says about it."""
    data, others = flow.largest.segments, flow.other.segments
    begin = min(data[0].time_s, others[0].time_s if others else math.inf)
    end = max(data[-1].time_s, others[-1].time_s if others else 0.0)
    is_quic = any(one.first >= 0 and one.first & _LONG and one.first & _FIXED for one in (*data[:4], *others[:4]))
    is_quic = is_quic or all(one.first >= 0 and one.first & _FIXED for one in data[:20])
    short = [one for one in data if not is_quic or (one.first >= 0 and not one.first & _LONG)]
    if not short:
        return None
    spin = _spins(others, begin) if is_quic else NONE
    at_sender = _is_at_sender(data, others)
    times = np.asarray([one.time_s - begin for one in short], float)
    sizes = np.asarray([one.size for one in short], np.int64)
    missing = [
        "acknowledgements, losses and windows: QUIC encrypts them" if is_quic else "anything but sizes and times"
    ]
    if spin is NONE and is_quic:
        missing.append("round-trip times: the spin bit does not turn")
    where = "at the sender" if at_sender else "at the receiver"
    nothing = np.full(times.size, math.nan)
    told = (
        {
            "sent_s": times,
            "sent_bytes": sizes,
            "acked_s": nothing,
            "acked_by": np.full(times.size, -1, np.int64),
            "lost_s": nothing,
        }
        if at_sender
        else {"arrived_s": times, "arrived_bytes": sizes}
    )
    return View(
        name=flow.name,
        vantage="sender" if at_sender else "receiver",
        source=f"a capture of {'QUIC' if is_quic else 'UDP'}, taken {where}",
        duration_s=end - begin,
        protocol="QUIC" if is_quic else "UDP",
        spin_rtt=spin,
        rtt=spin,
        handshake_s=float(times[0]),
        missing=tuple(missing),
        **told,  # type: ignore[arg-type]
    )


def _is_at_sender(data: list[Segment], others: list[Segment]) -> bool:
    """By the first answers: an end that answers at once is where the capture was taken."""
    if not others or not data:
        return True
    first, second = (data, others) if data[0].time_s < others[0].time_s else (others, data)
    third = next((one for one in first if one.time_s > second[0].time_s), None)
    if third is None:
        return True
    to_second, to_first = second[0].time_s - first[0].time_s, third.time_s - second[0].time_s
    near_first = to_first < to_second
    return near_first == (first is data)


def _spins(segments: list[Segment], begin: float) -> Steps:
    """A round trip lies between changes of the bit."""
    changes: list[float] = []
    before = -1
    for one in segments:
        if one.first < 0 or one.first & _LONG:
            continue
        bit = one.first & _SPIN
        if before not in (-1, bit):
            changes.append(one.time_s - begin)
        before = bit
    if len(changes) < _LEAST_SPINS:
        return NONE
    # Without the bit in use, its value is drawn for each packet, or stays.
    if len(changes) > len(segments) / 3:
        return NONE
    return steps(changes[1:], [later - earlier for earlier, later in pairwise(changes)])
