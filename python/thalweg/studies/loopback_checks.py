"""What the blog of C4 found over loopback, as checks on order and direction.

Its numbers are those of another stack on another machine and operating system. Two variants are compared by the
median over the rounds of the ratio of their goodputs; losses are those of all runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from thalweg.quantity import percent
from thalweg.studies.result import Check, Finding

SOURCE = "blog of C4, January 2026 (loopback)"
FAR_BELOW = 0.5
"""A goodput of less than half is far below: "very bad"."""
LEVEL = 0.95
"""At least this much is the same level; runs of one variant differ by more."""

Goodputs = Mapping[str, Sequence[float]]


def checks(goodputs: Goodputs, losses: Mapping[str, float]) -> list[Check]:
    """The published findings that must be found again. `losses` are shares of all packets."""
    before = {name: _ratio(goodputs, "c4-before", name) for name in ("cubic", "bbr")}
    floor = _ratio(goodputs, "c4-floor", "bbr")
    gain = _ratio(goodputs, "c4-floor", "c4-before")
    bonus = _ratio(goodputs, "c4-3/64", "c4-floor")
    paced = _ratio(goodputs, "c4-3/64", "cubic")
    more, less = losses["c4-1/16"], losses["c4-3/64"]
    return [
        Check(
            "before the fix far below the others",
            SOURCE,
            max(before.values()) < FAR_BELOW,
            f"{percent(before['cubic'])} of CUBIC, {percent(before['bbr'])} of BBR; below {percent(FAR_BELOW)}",
        ),
        Check("the floor helps at once", SOURCE, gain > 1 / FAR_BELOW, f"{gain:.3g} times as fast as before"),
        Check("3/64 more than the floor alone", SOURCE, bonus > 1, f"{percent(bonus)} of the floor alone"),
        Check("with the floor above BBR", SOURCE, floor > 1, f"{percent(floor)} of BBR"),
        Check(
            "with 3/64 at least at the level of CUBIC",
            SOURCE,
            paced >= LEVEL,
            f"{percent(paced)} of CUBIC; at least {percent(LEVEL)}",
        ),
        Check("more losses at 1/16 than at 3/64", SOURCE, more > less, f"{_share(more)} against {_share(less)}"),
    ]


def findings(goodputs: Goodputs, losses: Mapping[str, float]) -> list[Finding]:
    """Its numbers and remaining statements, beside ours."""
    floor, least, most = (_ratio(goodputs, name, "cubic") for name in ("c4-floor", "c4-1/32", "c4-3/64"))
    bonus = _ratio(goodputs, "c4-3/64", "c4-1/16")
    lossless = _share(losses["c4-3/64"])
    return [
        Finding(
            "the floor alone",
            SOURCE,
            "within 88 % of CUBIC",
            f"{percent(floor)} of CUBIC",
            floor >= 0.88,
            "the stack, the machine and CUBIC are others",
        ),
        Finding(
            "1/32",
            SOURCE,
            "close to CUBIC",
            f"{percent(least)} of CUBIC",
            least >= 0.9,
            "at least 90 % counts as close",
        ),
        Finding(
            "3/64",
            SOURCE,
            "better than CUBIC",
            f"{percent(most)} of CUBIC",
            most > 1,
            "the stack, the machine and CUBIC are others",
        ),
        Finding(
            "3/64 against 1/16",
            SOURCE,
            "higher, since 1/16 loses many packets",
            f"{percent(bonus)} of 1/16; losses at 3/64: {lossless}",
            bonus > 1,
            "losses need a queue that overflows: the buffer of the socket",
        ),
    ]


def _ratio(goodputs: Goodputs, name: str, other: str) -> float:
    pairs = zip(goodputs[name], goodputs[other], strict=True)
    return median(one / another for one, another in pairs)


def _share(share: float) -> str:
    return f"{share * 1e6:.0f} of a million packets"
