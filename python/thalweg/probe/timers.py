"""Retransmission timers along a series of round-trip times: how often each would have fired spuriously.

Before each round-trip time the timer is what the earlier ones make it. If the reply takes longer, the timer has
fired while the reply was on its way: spuriously, since it came.

The estimator is from RFC 9002 section 5.3, and from RFC 6298 section 2 for TCP, which takes the deviation from
the smoothed time of before the sample. A timer starts at the sending of each probe.

# Limits
Each probe counts once, without back-off and repeated firings. Samples are taken in the order of sending and all
before the next probe is sent; with round trips longer than the interval a real sender knows less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.probe.series import Floats, Mask

_GRANULARITY_S = 1e-3
_MAX_ACK_DELAY_S = 25e-3


@dataclass(frozen=True)
class Timer:
    """How a stack computes its timer."""

    name: str
    formula: str
    source: str
    length: Callable[[float, float], float]
    """Out of smoothed round-trip time and variation, all in seconds."""
    new_average_first: bool = True
    """Whether a sample is compared with the smoothed time that already holds it (RFC 9002) or not (RFC 6298)."""


TIMERS = (
    Timer(
        "octoping",
        "srtt + 4 var",
        "RFC 9002 section 5.3 as octoping's analysis has it",
        lambda srtt, var: srtt + 4 * var,
    ),
    Timer(
        "rfc9002",
        "srtt + max(4 var, 1 ms) + 25 ms",
        "RFC 9002 section 6.2.1 with the default max_ack_delay of RFC 9000 section 18.2",
        lambda srtt, var: srtt + max(4 * var, _GRANULARITY_S) + _MAX_ACK_DELAY_S,
    ),
    Timer("picoquic", "srtt + 3 var + 10 ms", "picoquic", lambda srtt, var: srtt + 3 * var + 10e-3),
    Timer(
        "tlp",
        "2 srtt",
        "RFC 8985 section 7.2, the probe of TCP, more than one segment in flight",
        lambda srtt, _: 2 * srtt,
        new_average_first=False,
    ),
    Timer(
        "linux-rto",
        "srtt + max(4 var, 200 ms)",
        "Linux TCP, whose least variation is 200 ms; without its own estimator of the variation",
        lambda srtt, var: srtt + max(4 * var, 0.2),
        new_average_first=False,
    ),
    Timer(
        "rfc6298",
        "max(srtt + 4 var, 1 s)",
        "RFC 6298 section 2",
        lambda srtt, var: max(srtt + 4 * var, 1.0),
        new_average_first=False,
    ),
)


@dataclass(frozen=True)
class Firings:
    """A timer along a series; one entry per request."""

    timer: Timer
    length_s: Floats
    """The timer when the request was sent; nan before the first sample and where there is no round-trip time."""
    fired: Mask

    @property
    def count(self) -> int:
        """How often it fired."""
        return int(self.fired.sum())


def run_timer(timer: Timer, rtt: Floats) -> Firings:
    """Runs a timer along round-trip times, nan for lost requests: those are not spurious firings."""
    length = np.full(len(rtt), np.nan)
    srtt = var = float("nan")
    for index in np.flatnonzero(np.isfinite(rtt)).tolist():
        sample = float(rtt[index])
        if np.isnan(srtt):
            srtt, var = sample, sample / 2
            continue
        length[index] = timer.length(srtt, var)
        smoothed = (7 * srtt + sample) / 8
        var = (3 * var + abs((smoothed if timer.new_average_first else srtt) - sample)) / 4
        srtt = smoothed
    return Firings(timer, length, np.isfinite(length) & (rtt > length))
