"""A second generator of series, unlike the one by which mechanisms are named: what it does not have.

Other physical layers and categories, two kinds of neighbours at once, fallback of rates, other paces; parameters
that drift, since a series is made of three pieces with their own draws; and what is not a mechanism of Wi-Fi:
jitter in time, handovers at fixed intervals, losses in bursts, a queue with a sawtooth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.probe.mechanism.families import Pace, between, played
from thalweg.probe.series import Floats

PACES = (Pace(3750, 0.02), Pace(5000, 0.01))
"""The one that the fit was made for, and one twice as fast."""
_PIECES = 3
Draw = Callable[[np.random.Generator, Pace], Floats]


@dataclass(frozen=True)
class Kind:
    """What is drawn, and the answers that are right: none is a series for which to abstain."""

    name: str
    right: str | None
    draw: Draw


def _kind(random: np.random.Generator, heard: str, most: int, load: float) -> str:
    """Neighbours whose frames and bursts are drawn apart from the draws of the first generator."""
    count = int(random.integers(1, most + 1))
    share = min(load * (0.3 + 0.7 * random.random()) / count, 0.8)
    on = between(random, 8, 200)
    access = random.choice(["best-effort", "background", "video"])
    airtime = random.uniform(0.3, 4)
    return (
        f'{{ count = {count}, airtime = "{airtime:.4g} ms", heard = "{heard}", access = "{access}", '
        f'on = "{on:.6g} ms", off = "{on * (1 / share - 1):.6g} ms" }}'
    )


def _medium(random: np.random.Generator, rest: str) -> str:
    phy = random.choice(["g", "n", "ac", "ax"])
    return f'medium = {{ model = "wifi", phy = "{phy}", {rest} }}'


def _in_pieces(element: Callable[[np.random.Generator], str]) -> Draw:
    """Each piece has its own draws."""

    def draw(random: np.random.Generator, pace: Pace) -> Floats:
        each = Pace(pace.count // _PIECES, pace.interval_s)
        pieces = [played(element(random), random, each) for _ in range(_PIECES)]
        # The path is the same: its base does not change with the piece.
        return np.concatenate([piece - np.nanmin(piece) for piece in pieces])

    return draw


def _contention(random: np.random.Generator) -> str:
    kinds = (_kind(random, "both", 8, 0.8), _kind(random, "both", 3, 0.3))
    return _medium(random, f"neighbours = [{', '.join(kinds)}]")


def _behind(attempts: tuple[int, int]) -> Callable[[np.random.Generator], str]:
    def element(random: np.random.Generator) -> str:
        kinds = [_kind(random, str(random.choice(["access-point", "neither"])), 2, 0.3) for _ in range(2)]
        tries = int(random.integers(*attempts))
        fallback = "fallback = 3, " if random.random() < 0.5 else ""
        return _medium(random, f"attempts = {tries}, {fallback}neighbours = [{', '.join(kinds)}]")

    return element


def _scans(random: np.random.Generator) -> str:
    """With a neighbour who is hardly there."""
    every, length = random.uniform(3, 12), random.uniform(0.08, 0.4)
    quiet = '{ airtime = "0.5 ms", on = "5 ms", off = "2 s" }'
    return _medium(
        random, f'scan = {{ every = "{every:.4g} s", length = "{length:.4g} s" }}, neighbours = [{quiet}]'
    )


def _poissons(random: np.random.Generator) -> str:
    fraction = random.uniform(2, 40)
    return (
        f'jitter = {{ model = "two-components", fraction = "{fraction:.4g} %", short = "1 ms", long = "7.5 ms" }}'
    )


def _in_time(random: np.random.Generator, pace: Pace) -> Floats:
    every = between(random, 60, 400)
    mean = random.uniform(2, 9)
    return played(f'jitter = {{ model = "wifi", mean = "{mean:.4g} ms", every = "{every:.4g} ms" }}', random, pace)


def _handovers(random: np.random.Generator, pace: Pace) -> Floats:
    """A constellation: another delay every 15 s, with noise."""
    epoch = (np.arange(pace.count) * pace.interval_s // 15).astype(np.int64)
    steps = random.uniform(0, 25e-3, int(epoch[-1]) + 1)
    return steps[epoch] + random.gamma(2, 2e-3, pace.count)


def _bursts_of_loss(random: np.random.Generator, pace: Pace) -> Floats:
    """Two states, one of which loses half (Gilbert and Elliott); delays hardly vary."""
    bad, state = np.zeros(pace.count, np.bool_), False
    for index, draw in enumerate(random.random(pace.count)):
        state = draw < (0.9 if state else 0.01)
        bad[index] = state
    rtt = random.exponential(3e-4, pace.count)
    return np.where(bad & (random.random(pace.count) < 0.5), np.nan, rtt)


def _sawtooth(random: np.random.Generator, pace: Pace) -> Floats:
    """The queue of one flow with Reno: it fills by a line and halves."""
    period, top = random.uniform(1, 20), random.uniform(0.02, 0.3)
    phase = np.arange(pace.count) * pace.interval_s / period % 1
    return top * (0.3 + 0.7 * phase) + random.exponential(1e-3, pace.count)


KINDS = (
    Kind("contention of two kinds", "contention", _in_pieces(_contention)),
    Kind("two hidden kinds", "hidden", _in_pieces(_behind((5, 8)))),
    Kind("two hidden kinds, repeated", "repeats", _in_pieces(_behind((15, 50)))),
    Kind("scans, and a quiet neighbour", "scans", _in_pieces(_scans)),
    Kind("two Poissons that drift", "two Poissons", _in_pieces(_poissons)),
    Kind("jitter in time", None, _in_time),
    Kind("handovers", None, _handovers),
    Kind("losses in bursts", None, _bursts_of_loss),
    Kind("a sawtooth", None, _sawtooth),
)
