"""The least difference that so many trials tell in nine of ten cases, and how often they tell it when drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import NormalDist

import numpy as np

from pages.made import row
from thalweg.judging.comparison.planning import POWER
from thalweg.judging.comparison.row import MARGIN
from thalweg.judging.statistics.differences import in_pairs, of_all
from thalweg.judging.statistics.interval import Values

Compare = Callable[[Values, Values, float], bool]
HEAD = ("variation of a trial, %", "compared", "n", "least difference, %", f"told, % (planned: {100 * POWER:.0f})")


@dataclass(frozen=True)
class Detection:
    """Trials of a normal distribution around 1, one comparison alone, beyond the margin of `compare`."""

    spread: float
    n: int
    rho: float
    """The correlation of pairs; 0 without common seeds."""

    @property
    def compared(self) -> str:
        """In words."""
        return f"in pairs, correlation {self.rho:g}" if self.rho else "all with all"

    @property
    def least(self) -> float:
        """The difference whose plan is n trials: the formulas of `comparison/planning.py`, turned around."""
        normal = NormalDist()
        quantiles = normal.inv_cdf(0.975) + normal.inv_cdf(POWER)
        above = 0.5 + math.sqrt(quantiles**2 / ((4 if self.rho else 6) * self.n))
        scatter = self.spread * math.sqrt(2 * (1 - self.rho))
        return MARGIN + scatter * normal.inv_cdf(above) if above < 1 else math.inf

    def told(self, rng: np.random.Generator, draws: int) -> float:
        """In how many of the draws the trials tell it, in per cent."""
        found = 0
        for _ in range(draws):
            path, mine, other = rng.normal(size=(3, self.n))
            shared, own = math.sqrt(self.rho), math.sqrt(1 - self.rho)
            a, b = (1 + self.spread * (shared * path + own * of) for of in (mine, other))
            difference = (in_pairs if self.rho else of_all)(a, b + self.least, MARGIN)
            found += difference.p_differs <= 0.05 and difference.interval.low > MARGIN
        return 100 * found / draws

    def line(self, draws: int) -> str:
        """The line of this rule on the page."""
        rng = np.random.default_rng([20261127, *f"{self}".encode()])
        cells = (f"{100 * self.spread:g}", self.compared, str(self.n), f"{100 * self.least:.1f}")
        return row(*cells, f"{self.told(rng, draws):.1f}")


def detections() -> Iterator[Detection]:
    """The detections of the page."""
    for spread, rho, n in product((0.01, 0.05, 0.2), (0.0, 0.8), (20, 100)):
        yield Detection(spread, n, rho)


def parts(draws: int) -> list[tuple[str, Callable[[], list[str]]]]:
    """The lines that a check measures again."""
    return [(f"{one}", partial(lambda one: [one.line(draws)], one)) for one in detections()]


def table(draws: int) -> list[str]:
    """All lines, with their head."""
    return [row(*HEAD), "|--:|---|--:|--:|--:|", *(one.line(draws) for one in detections())]
