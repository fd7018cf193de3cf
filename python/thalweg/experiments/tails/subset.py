"""Subset simulation: the probability of a rare event as a product of probabilities that are not small.

S.-K. Au and J. L. Beck, "Estimation of small failure probabilities in high dimensions by subset simulation",
Probabilistic Engineering Mechanics 16 (2001). Each level is passed by about a tenth of those that passed the level
before. Of those, Markov chains make as many as there were at first: a step redraws some blocks of a tape, and
is taken if the trial still passes. Blocks are independent and drawn as they were at first, so that every step
leaves the distribution of what passes as it is.

A step draws 1, 2 to 3, 4 to 7, ... blocks again, neighbours or anywhere. The kind is drawn: a
kind is the more likely the further its steps have moved the value so far (C. Pasarica and A. Gelman, "Adaptively
scaling the Metropolis algorithm using expected squared jumped distance", Statistica Sinica 20, 2010). An event of
a few blocks needs other steps than one to which all blocks add up.

A level is a value that a trial has had. Where many have the same, the share that passes it is what it is, and the
level nearest to a tenth is taken. It must leave somebody behind: if all have the same value, nothing says which of
them is nearer to the event, and the run is stuck.

Values are larger towards the event; they may be infinite.

Limits: within a block nothing is drawn in part. An event that one block makes by itself is found no faster than
by counting.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Values: TypeAlias = "npt.NDArray[np.float64]"
Seeds: TypeAlias = "npt.NDArray[np.uint64]"
"""For each block of a tape, what its seed is made from."""
Run: TypeAlias = "Generator[Sequence[Seeds], tuple[Values, int], Repeat]"
"""Asks for trials, and is told their values, and in how many blocks something was drawn in the longest of them."""

SHARE = 0.1
"""The share of those that pass a level that pass the next one: p0 of Au and Beck."""
_EVEN = 0.2
"""The share of steps that are of any kind."""
_FORGOTTEN = 0.5
"""How much less counts after a level what was learned of kinds before."""
_LARGEST_SEED = 2**63


@dataclass
class Level:
    """The trials that have passed a level."""

    at: float
    """The least value that passes; the first has none."""
    probability: float
    """The estimate of how likely that is."""
    values: Values
    steps: int = 0
    """Steps of its chains, and how many were taken."""
    taken: int = 0


@dataclass
class Repeat:
    """One run, independent of others."""

    levels: list[Level] = field(default_factory=list)
    stuck: bool = False
    """Whether all had the same value at last, below the threshold."""
    trials: int = 0
    best: Seeds | None = None
    """The tape with the largest value, and that value."""
    best_value: float = -np.inf
    blocks: int = 1
    """How many blocks the longest trial has used."""

    def probability(self, threshold: float, at_it: bool = False) -> float:
        """The estimate of how likely values above a threshold are, or at it and above; 0 if none was seen."""
        last = self._passed(threshold)[-1]
        beyond = last.values >= threshold if at_it else last.values > threshold
        return last.probability * float(np.mean(beyond))

    def least_variance(self, threshold: float, at_it: bool = False) -> float:
        """The least variance of the logarithm of that estimate: the one of chains whose trials are independent.

        It is the sum of (1 - p) / (n p) over the shares p of n trials whose product the estimate is.
        """
        passed = self._passed(threshold)
        shares = [later.probability / earlier.probability for earlier, later in pairwise(passed)]
        shares.append(self.probability(threshold, at_it) / passed[-1].probability)
        return sum((1 - share) / (len(passed[0].values) * share) for share in shares)

    def _passed(self, threshold: float) -> list[Level]:
        """The levels up to a threshold: the first has no bound."""
        return [level for level in self.levels if level.at <= threshold]


def fresh(rng: np.random.Generator, blocks: int) -> Seeds:
    """A tape that nothing is known of: one number, from which all of its seeds are made."""
    return np.full(blocks, rng.integers(_LARGEST_SEED, dtype=np.uint64))


def simulate(blocks: int, particles: int, threshold: float, to: float, rng: np.random.Generator) -> Run:
    """One run: ends above the threshold, or where what passes is less likely than a tenth of `to`."""
    found = Repeat()
    tapes = [fresh(rng, blocks) for _ in range(particles)]
    values = yield from _play(found, tapes)
    found.levels.append(Level(-np.inf, 1.0, values))
    moves = _Moves(rng)
    while True:
        moves.next_level(min(found.blocks, blocks))
        present = found.levels[-1]
        if np.mean(values > threshold) >= SHARE or present.probability < to * SHARE:
            return found
        level = next_level(values)
        if level is None:
            found.stuck = True
            return found
        passed = np.flatnonzero(values >= level)
        following = Level(level, present.probability * len(passed) / particles, values)
        if level > threshold:
            return found
        chains = [tapes[number] for number in passed]
        at = values[passed]
        made, worth = list(chains), list(at)
        while len(made) < particles:
            missing = particles - len(made)
            going = np.arange(len(chains)) if missing >= len(chains) else rng.permutation(len(chains))[:missing]
            kinds, proposed = zip(*(moves.redraw(chains[chain]) for chain in going), strict=True)
            reached = yield from _play(found, proposed)
            accepted = reached >= level
            moved = _moved(at[going], reached, values)
            moves.learn(list(kinds), np.where(accepted, moved, 0.0))
            for place, chain in enumerate(going):
                if accepted[place]:
                    chains[chain], at[chain] = proposed[place], reached[place]
                made.append(chains[chain])
                worth.append(at[chain])
            following.steps += len(going)
            following.taken += int(np.count_nonzero(accepted))
        tapes, values = made, np.asarray(worth)
        following.values = values
        found.levels.append(following)


def next_level(values: Values) -> float | None:
    """The value that about a tenth reach, and not all; None if all are equal.

    >>> next_level(np.arange(100.0)), next_level(np.array([0.0, 0.0, 0.0, 1.0])), next_level(np.zeros(9))
    (90.0, 1.0, None)
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return None
    reached = np.cumsum(counts[::-1])[::-1][1:] / len(values)
    return float(distinct[1:][np.argmin(np.abs(np.log(reached / SHARE)))])


class _Moves:
    """The steps of Markov chains: which blocks are redrawn."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._blocks, self._rng = 0, rng
        self._moved, self._tried = np.zeros((2, 0)), np.ones((2, 0))
        self._chances = np.zeros(0)

    def next_level(self, blocks: int) -> None:
        """What was learned counts from now on, and less later.

        Steps draw from so many blocks: trials near the event may be longer than those before.
        """
        more = ((0, 0), (0, blocks.bit_length() - self._blocks.bit_length()))
        self._blocks = blocks
        self._moved = np.pad(self._moved, more)
        self._tried = np.pad(self._tried, more, constant_values=1.0)
        mean = (self._moved / self._tried).ravel()
        even = 1 / len(mean)
        self._chances = np.full(len(mean), even)
        if mean.sum() > 0:
            self._chances = _EVEN * even + (1 - _EVEN) * mean / mean.sum()
        self._moved *= _FORGOTTEN
        self._tried = 1 + (self._tried - 1) * _FORGOTTEN

    def redraw(self, tape: Seeds) -> tuple[int, Seeds]:
        """The tape with some blocks of other seeds, chosen without a look at it: the step back is as likely.

        The number belongs to the kind of the step.
        """
        rng, sizes = self._rng, self._blocks.bit_length()
        kind = int(rng.choice(2 * sizes, p=self._chances))
        size = 1 << kind % sizes
        count = min(int(rng.integers(size, 2 * size)), self._blocks)
        if kind < sizes:
            first = int(rng.integers(1 - count, self._blocks))
            drawn = np.arange(max(first, 0), min(first + count, self._blocks))
        else:
            drawn = rng.choice(self._blocks, count, replace=False)
        other = tape.copy()
        other[drawn] = rng.integers(_LARGEST_SEED, dtype=np.uint64)
        return kind, other

    def learn(self, kinds: Sequence[int], distances: Values) -> None:
        """How far steps of kinds have moved the value; not at all if they were not taken."""
        np.add.at(self._moved.reshape(-1), kinds, distances**2)
        np.add.at(self._tried.reshape(-1), kinds, 1.0)


def _moved(before: Values, after: Values, all_: Values) -> Values:
    """How far values have moved; one that is infinite is where the last of all finite ones is."""
    finite = all_[np.isfinite(all_)]
    low, high = (float(np.min(finite)), float(np.max(finite))) if len(finite) else (0.0, 0.0)
    return np.clip(after, low, high) - np.clip(before, low, high)


def _play(found: Repeat, tapes: Sequence[Seeds]) -> Generator[Sequence[Seeds], tuple[Values, int], Values]:
    values, blocks = yield tapes
    found.blocks = max(found.blocks, blocks)
    found.trials += len(tapes)
    best = int(np.argmax(values))
    if found.best is None or values[best] > found.best_value:
        found.best, found.best_value = tapes[best], float(values[best])
    return values
