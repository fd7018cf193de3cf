"""Events whose probability is known exactly: a number of each block, and a statistic of them.

A number needs the seed of its block only, as the random numbers of a trial do. The statistics are what trials
have: a sum (bytes of cross traffic, delay that adds up), a count (losses), the highest that a walk comes to (a
queue whose arrivals and departures are equally likely), the longest run (losses in a row), and the largest (a
spike).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from thalweg.experiments.tails.subset import Repeat, Seeds, Values, simulate
from thalweg.judging.statistics.probabilities import binomial_above, normal_below

_CHANCE = 0.1
"""The chance of a loss in a block."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_Draw = Callable[[npt.NDArray[np.float64]], Values]
"""The statistic of each row of uniform numbers between 0 and 1."""


@dataclass(frozen=True)
class Family:
    """A statistic whose distribution is known."""

    name: str
    statistic: _Draw
    above: Callable[[int, float], float]
    """The probability that the statistic of so many blocks is above a value."""
    source: str
    whole: bool = False
    """Whether the statistic is a whole number."""


@dataclass(frozen=True)
class Cell:
    """An event: a statistic of so many blocks above a threshold."""

    family: Family
    blocks: int
    threshold: float

    @property
    def known(self) -> float:
        """How likely it is."""
        return self.family.above(self.blocks, self.threshold)

    def runs(self, particles: int, seeds: Sequence[int], to: float = 1e-6) -> list[Repeat]:
        """Independent runs of subset simulation."""
        return [self._run(particles, seed, to) for seed in seeds]

    def _run(self, particles: int, seed: int, to: float) -> Repeat:
        going = simulate(self.blocks, particles, self.threshold, to, np.random.default_rng(seed))
        tapes = next(going)
        while True:
            try:
                tapes = going.send((self.family.statistic(uniform(tapes)), self.blocks))
            except StopIteration as end:
                found: Repeat = end.value
                return found


def uniform(tapes: Sequence[Seeds]) -> npt.NDArray[np.float64]:
    """A number between 0 and 1 of each block: splitmix64 of its seed and its place.

    G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    seeds: npt.NDArray[np.uint64] = np.array(tapes, dtype=np.uint64)
    places: npt.NDArray[np.uint64] = np.arange(1, seeds.shape[1] + 1, dtype=np.uint64) * _ODD
    numbers = _mixed(_mixed(seeds) + places) >> np.uint64(11)
    return numbers.astype(np.float64) / 2**53


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        bits = (bits ^ (bits >> np.uint64(shift))) * factor
    return bits ^ (bits >> np.uint64(31))


def _exponentials(numbers: npt.NDArray[np.float64]) -> Values:
    """By inversion."""
    return -np.log1p(-numbers)


def _erlang_above(blocks: int, value: float) -> float:
    if value <= 0:
        return 1.0
    return math.fsum(math.exp(i * math.log(value) - value - math.lgamma(i + 1)) for i in range(blocks))


def _normals(numbers: npt.NDArray[np.float64]) -> Values:
    """The transform of Box and Muller needs two numbers: the second is made of the digits of the first."""
    scaled = numbers * 2**20
    angle = scaled - np.floor(scaled)
    normals: Values = np.sqrt(-2 * np.log1p(-np.floor(scaled) / 2**20)) * np.cos(2 * np.pi * angle)
    return normals


def _walk(numbers: npt.NDArray[np.float64]) -> Values:
    """The highest that a walk of equally likely steps up and down comes to."""
    highest: Values = np.cumsum(np.where(numbers < 0.5, 1.0, -1.0), axis=1).max(axis=1)
    return highest


def _walk_above(blocks: int, value: float) -> float:
    """By reflection: P(highest >= a) = P(end >= a) + P(end > a)."""
    least = math.floor(value) + 1

    def end_above(at: int) -> float:
        """The end is 2 ups - blocks."""
        return binomial_above(math.floor((at + blocks) / 2), blocks, 0.5)

    return end_above(least - 1) + end_above(least)


def longest_run(numbers: npt.NDArray[np.float64]) -> Values:
    """How many blocks in a row have a loss at most."""
    longest = run = np.zeros(len(numbers))
    for lost in (numbers < _CHANCE).T:
        run = np.where(lost, run + 1, 0)
        longest = np.maximum(longest, run)
    return longest


@cache
def longest_run_above(blocks: int, value: float) -> float:
    """By the length of the run that has just ended: a chain whose last state, a longer run, is kept."""
    least = math.floor(value) + 1
    states = [1.0, *[0.0] * least]
    for _ in range(blocks):
        ended = (1 - _CHANCE) * math.fsum(states[:least])
        longer = [_CHANCE * chance for chance in states[:least]]
        states = [ended, *longer[:-1], states[least] + longer[-1]]
    return states[least]


SUMS = (
    Family("sum of exponentials", lambda u: _exponentials(u).sum(axis=1), _erlang_above, "Erlang"),
    Family(
        "sum of normals", lambda u: _normals(u).sum(axis=1), lambda n, x: normal_below(-x / math.sqrt(n)), "normal"
    ),
    Family(
        "losses of 10 %",
        lambda u: (u < _CHANCE).sum(axis=1).astype(float),
        lambda n, x: binomial_above(math.floor(x), n, _CHANCE),
        "binomial",
        whole=True,
    ),
    Family("highest of a walk", _walk, _walk_above, "reflection", whole=True),
)
"""Events to which many blocks add up."""
RUN = Family("losses in a row, of 10 %", longest_run, longest_run_above, "a Markov chain", whole=True)
LARGEST = Family(
    "largest of exponentials",
    lambda u: _exponentials(u).max(axis=1),
    lambda n, x: -math.expm1(n * math.log1p(-math.exp(-x))),
    "the power of one",
)
_BLOCKS = (20, 200)
"""Trials of 2 to 20 seconds."""
_RARE = (1e-6, 3e-2)


def draw(n: int, families: Sequence[Family] = SUMS) -> Iterator[Cell]:
    """So many cells, of each family in turn; blocks and probabilities are drawn, by their logarithms."""
    rng = np.random.default_rng(48)
    for number in range(n):
        family = families[number % len(families)]
        blocks = round(math.exp(rng.uniform(*np.log(_BLOCKS))))
        rare = math.exp(rng.uniform(*np.log(_RARE)))
        yield Cell(family, blocks, threshold(family, blocks, rare))


def threshold(family: Family, blocks: int, rare: float) -> float:
    """The value above which the statistic is that likely; of whole numbers the last that is at least as likely."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if family.above(blocks, middle) >= rare else (low, middle)
    return float(math.floor(low + 1e-6) - 1) if family.whole else low
