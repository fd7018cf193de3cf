"""How often intervals cover what is known, over cells of statistics of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pages.experiments.experiment import Part
from pages.made import row
from pages.tails.cells import LARGEST, RUN, SUMS, Cell, Family, draw
from thalweg.experiments.tails.tails import How, judge
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.rates import rate_interval

CELLS = 200
RUNS = 10
"""What `thalweg tails` has by default, as the last of the particles."""
PARTICLES = (20, 50, 100, 200, 1000)
_CHEAP = 100
"""Particles up to which a check measures again."""
HEAD = (
    "particles",
    "event",
    "cells",
    "intervals that cover",
    "too high",
    "too low",
    "bounds only",
    "mean of estimate / known",
    "error",
)


@dataclass(frozen=True)
class Answer:
    """What was said of a cell."""

    how: How
    found: Interval
    known: float

    @property
    def side(self) -> int:
        """0 if the interval covers what is known; on which side of it the interval is otherwise."""
        return int(self.found.low > self.known) - int(self.found.high < self.known)


def answer(number: int, cell: Cell, particles: int) -> Answer:
    """The answer of ten runs, whose seeds are of this cell only."""
    runs = cell.runs(particles, [1000 * number + run for run in range(RUNS)])
    how, found = judge(runs, cell.threshold)
    return Answer(how, found, cell.known)


def answers(particles: int, families: Sequence[Family], family: Family, n: int) -> list[Answer]:
    """The answers to the cells of one family, of n cells that are drawn."""
    drawn = enumerate(draw(n, families))
    return [answer(number, cell, particles) for number, cell in drawn if cell.family is family]


def line(particles: int, families: Sequence[Family], family: Family, n: int) -> str:
    """A line of the table."""
    return _line(particles, family.name, answers(particles, families, family, n))


def _line(particles: int, name: str, given: Sequence[Answer]) -> str:
    sides = np.array([one.side for one in given])
    covers = rate_interval(int(np.sum(sides == 0)), len(sides))
    ratios = np.array([one.found.value / one.known for one in given if one.how != "bounded"])
    errors = ("-", "-")
    if len(ratios):
        errors = f"{ratios.mean():.2f}", f"{100 * np.sqrt(np.mean((ratios - 1) ** 2)):.0f} %"
    covered = f"{100 * covers.value:.1f} % ({100 * covers.low:.1f} to {100 * covers.high:.1f})"
    counts = (f"{np.sum(sides > 0)}", f"{np.sum(sides < 0)}", f"{sum(one.how == 'bounded' for one in given)}")
    return row(f"{particles}", name, f"{len(given)}", covered, *counts, *errors)


def all_lines(particles: int) -> Iterator[str]:
    """The lines of the families to whose events many blocks add up, and the line of all of them."""
    by_family = {family: answers(particles, SUMS, family, CELLS) for family in SUMS}
    for family, given in by_family.items():
        yield _line(particles, family.name, given)
    yield _line(particles, "**all**", [one for given in by_family.values() for one in given])


def few_lines(particles: int) -> Iterator[str]:
    """The lines of events that a few blocks make, or one."""
    for family in (RUN, LARGEST):
        yield line(particles, (family,), family, CELLS // len(SUMS))


def parts() -> list[Part]:
    """Lines that are cheap to measure again."""
    cheap = [particles for particles in PARTICLES if particles <= _CHEAP]
    sums = [
        (f"{particles} particles, {family.name}", partial(line, particles, SUMS, family, CELLS))
        for particles in cheap
        for family in SUMS
    ]
    few = [
        (f"{particles} particles, {family.name}", partial(line, particles, (family,), family, CELLS // len(SUMS)))
        for particles in cheap
        for family in (RUN, LARGEST)
    ]
    return [*sums, *few]
