"""Findings of the C4 blog over loopback, as checks on order and direction.

Its numbers come from another stack on another machine and operating system. Two variants are compared by the
median over the rounds of the ratio of their goodputs, with its interval of 95 %, which needs six rounds.
Packets are lost in bursts, so that runs count and not packets: losses are compared by the median over the
rounds of their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from thalweg.base.quantity import percent
from thalweg.experiments.studies.runner.result import Check, Finding
from thalweg.judging.statistics.claims import above, below, each_of, every
from thalweg.judging.statistics.interval import CONFIDENCE, Interval
from thalweg.judging.statistics.quantiles import median_interval

SOURCE = "blog of C4, January 2026 (loopback)"
FAR_BELOW = 0.5
"""A goodput of less than half is far below: "very bad"."""
LEVEL = 0.95
"""At least this much is the same level; runs of one variant differ by more."""

Runs = Mapping[str, Sequence[float]]
"""A number of each run, by variant; runs of one round have the same place."""


def checks(goodputs: Runs, losses: Runs) -> list[Check]:
    """The published findings that must be found again. `losses` are shares of the packets of each run."""
    before = {name: _ratio(goodputs, "c4-before", name, each_of(2)) for name in ("cubic", "bbr")}
    floor = _ratio(goodputs, "c4-floor", "bbr")
    gain = _ratio(goodputs, "c4-floor", "c4-before")
    bonus = _ratio(goodputs, "c4-3/64", "c4-floor")
    paced = _ratio(goodputs, "c4-3/64", "cubic")
    more = median_interval(np.subtract(losses["c4-1/16"], losses["c4-3/64"]))
    return [
        Check(
            "before the fix far below the others",
            SOURCE,
            every(below(interval, FAR_BELOW) for interval in before.values()),
            f"{_percent(before['cubic'])} of CUBIC, {_percent(before['bbr'])} of BBR; below {percent(FAR_BELOW)}",
        ),
        Check("the floor helps at once", SOURCE, above(gain, 1 / FAR_BELOW), f"{_percent(gain)} of before"),
        Check("3/64 more than the floor alone", SOURCE, above(bonus, 1), f"{_percent(bonus)} of the floor alone"),
        Check("with the floor above BBR", SOURCE, above(floor, 1), f"{_percent(floor)} of BBR"),
        Check(
            "with 3/64 at least at the level of CUBIC",
            SOURCE,
            above(paced, LEVEL),
            f"{_percent(paced)} of CUBIC; at least {percent(LEVEL)}",
        ),
        Check("more losses at 1/16 than at 3/64", SOURCE, above(more, 0), f"more by {_share(more)}"),
    ]


def findings(goodputs: Runs, losses: Runs) -> list[Finding]:
    """Its numbers and remaining statements, next to ours."""
    floor, least, most = (_ratio(goodputs, name, "cubic") for name in ("c4-floor", "c4-1/32", "c4-3/64"))
    bonus = _ratio(goodputs, "c4-3/64", "c4-1/16")
    lossless = _share(median_interval(np.asarray(losses["c4-3/64"])))
    return [
        Finding(
            "the floor alone",
            SOURCE,
            "within 88 % of CUBIC",
            f"{_percent(floor)} of CUBIC",
            above(floor, 0.88),
            "the stack, the machine and CUBIC differ",
        ),
        Finding(
            "1/32",
            SOURCE,
            "close to CUBIC",
            f"{_percent(least)} of CUBIC",
            above(least, 0.9),
            "at least 90 % counts as close",
        ),
        Finding(
            "3/64",
            SOURCE,
            "better than CUBIC",
            f"{_percent(most)} of CUBIC",
            above(most, 1),
            "the stack, the machine and CUBIC differ",
        ),
        Finding(
            "3/64 against 1/16",
            SOURCE,
            "higher, since 1/16 loses many packets",
            f"{_percent(bonus)} of 1/16; losses at 3/64: {lossless}",
            above(bonus, 1),
            "losses need a queue that overflows: the buffer of the socket",
        ),
    ]


def _ratio(goodputs: Runs, name: str, other: str, confidence: float = CONFIDENCE) -> Interval:
    ratios = np.divide(goodputs[name], goodputs[other])
    return median_interval(ratios, confidence)


def _percent(ratio: Interval) -> str:
    bounds = f" ({percent(ratio.low)} to {percent(ratio.high)})" if ratio.is_bounded else ""
    return percent(ratio.value) + bounds


def _share(share: Interval) -> str:
    bounds = f" ({share.low * 1e6:.0f} to {share.high * 1e6:.0f})" if share.is_bounded else ""
    return f"{share.value * 1e6:.0f}{bounds} of a million packets"
