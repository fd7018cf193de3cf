"""A reference table: series drawn from each family, sent as the one in question was, and distances in it.

Families are told apart by their scores: the regression of the membership of each family on the features, their
squares and products, which estimates its probability (semi-automatic summaries: Fearnhead and Prangle, JRSS B 74,
2012). The nearest draws by these scores are accepted (approximate Bayesian computation: Beaumont, Zhang and
Balding, Genetics 162, 2002). All draws have fixed seeds.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from thalweg.probe.mechanism.families import FAMILIES, Family, Pace, Parameters
from thalweg.probe.mechanism.features import features
from thalweg.probe.series import Counts, Floats

DRAWS = 200
"""Draws of each family; all families have the same probability beforehand."""
ACCEPTED = 15
_NEIGHBOURS = 5
_PENALTY = 10.0
"""The penalty of the regressions (ridge), on standardized features."""
_CLIPPED = 4.0
"""Deviations beyond which a feature has no more to say to a regression."""
LEAST_ANSWERED = 100
_THREADS = 4


@dataclass(frozen=True)
class Drawn:
    """The draws of a family that have enough answers."""

    family: Family
    parameters: list[Parameters]
    values: Floats
    """Features, a line for each draw."""


def draw(family: Family, pace: Pace, count: int, seed: int) -> Drawn:
    """Draws from a family; they depend on its name, the pace and the seed."""

    def one(index: int) -> tuple[Parameters, Floats]:
        random = np.random.default_rng([seed, index, *family.name.encode()])
        return family.draw(random, pace)

    # The simulator works without the lock of the interpreter.
    with ThreadPoolExecutor(_THREADS) as pool:
        drawn = list(pool.map(one, range(count)))
    enough = [(p, rtt) for p, rtt in drawn if np.isfinite(rtt).sum() >= LEAST_ANSWERED]
    values = np.array([features(rtt, pace.interval_s) for _, rtt in enough])
    return Drawn(family, [parameters for parameters, _ in enough], values)


@dataclass(frozen=True)
class Reference:
    """Draws of all families for a pace, and the regression that tells them apart."""

    drawn: list[Drawn]
    centre: Floats
    scale: Floats
    weights: Floats
    scores: Floats
    members: Counts
    """The family of each line of `scores`."""
    spreads: list[Floats]
    """For each family: how far each draw is from the nearest others, in order."""

    def posterior(self, values: Floats) -> Floats:
        """The share of each family in the accepted draws."""
        score = _expanded((values - self.centre) / self.scale) @ self.weights
        nearest = np.argsort(((self.scores - score) ** 2).sum(axis=1), kind="stable")[:ACCEPTED]
        shares: Floats = np.bincount(self.members[nearest], minlength=len(self.drawn)) / len(nearest)
        return shares

    def is_like(self, family: int, values: Floats) -> float:
        """The share of the draws of a family that are further from the nearest others than this series is."""
        distances = np.sqrt((((self.drawn[family].values - values) / self.scale) ** 2).sum(axis=1))
        spreads = self.spreads[family]
        own = float(np.sort(distances)[:_NEIGHBOURS].mean())
        return float(np.sum(spreads >= own) + 1) / (len(spreads) + 1)

    def parameter(self, family: int, name: str, values: Floats) -> Floats:
        """Samples of a parameter given the series: values of the draws for which a regression expects the same.

        What the regression expects of a draw is what it would without that draw (the leverage of its line).
        """
        drawn = self.drawn[family]
        true = np.array([parameters[name] for parameters in drawn.parameters])
        wanted = np.log(true)
        mean = wanted.mean()
        design, here = (_curved((of - self.centre) / self.scale) for of in (drawn.values, values))
        slopes = _regressed(design, wanted - mean)
        leverage = np.einsum("ij,ji->i", design, _regressed(design, np.eye(len(design))))
        expected = wanted - mean - (wanted - mean - design @ slopes) / (1 - leverage)
        nearest = np.argsort(np.abs(expected - here @ slopes), kind="stable")[: 2 * ACCEPTED]
        samples: Floats = true[nearest]
        return samples


@lru_cache(maxsize=4)
def reference(pace: Pace, count: int = DRAWS, seed: int = 1) -> Reference:
    """The reference table of a pace."""
    drawn = [draw(family, pace, count, seed) for family in FAMILIES]
    values = np.vstack([one.values for one in drawn])
    members = np.repeat(np.arange(len(drawn)), [len(one.values) for one in drawn])
    centre, scale = values.mean(axis=0), values.std(axis=0) + 1e-6
    expanded = _expanded((values - centre) / scale)
    weights = _regressed(expanded, np.eye(len(drawn))[members])
    spreads = [_spreads(one.values / scale) for one in drawn]
    return Reference(drawn, centre, scale, weights, expanded @ weights, members, spreads)


def _expanded(standard: Floats) -> Floats:
    """One, the features, their squares and products."""
    clipped = np.clip(np.atleast_2d(standard), -_CLIPPED, _CLIPPED)
    first, second = np.triu_indices(clipped.shape[1])
    return np.hstack([np.ones((len(clipped), 1)), clipped, clipped[:, first] * clipped[:, second]])


def _curved(standard: Floats) -> Floats:
    """One, the features and their squares: a family has too few draws for products."""
    clipped = np.clip(np.atleast_2d(standard), -_CLIPPED, _CLIPPED)
    return np.hstack([np.ones((len(clipped), 1)), clipped, clipped**2])


def _regressed(design: Floats, wanted: Floats) -> Floats:
    slopes: Floats = np.linalg.solve(design.T @ design + _PENALTY * np.eye(design.shape[1]), design.T @ wanted)
    return slopes


def _spreads(values: Floats) -> Floats:
    distances = np.sqrt(((values[:, None] - values[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    return np.sort(np.sort(distances, axis=1)[:, :_NEIGHBOURS].mean(axis=1))
