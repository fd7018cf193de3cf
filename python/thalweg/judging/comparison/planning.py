"""How many trials it takes to tell a difference of a given size, by how trials of a result vary.

The normal approximation for the power of the sign test and of the test of Mann and Whitney (Noether, Journal of
the American Statistical Association 82, 1987): with p the chance that a pair, or one trial of each result, differs
by more than the margin, the first needs (z1 + z2)^2 / (4 (p - 1/2)^2) pairs and the second (z1 + z2)^2 / (6 (p -
1/2)^2) trials on each side. z1 is the quantile of what is tested, 5 % of both sides over the number of
comparisons, and z2 the quantile of the power. p is counted in the trials that are there; b is a, shifted.

Limits: it takes p and so the plan from few trials; it is a plan and no promise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.judging.comparison.row import MARGIN, Row
from thalweg.judging.comparison.sample import Compared, undefined
from thalweg.judging.statistics.differences import LEAST_PAIRS, least_of_all, least_pairs
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import Values, finite

POWER = 0.9
"""In how many cases so many trials tell the difference."""


@dataclass(frozen=True)
class Planned:
    """One number: of a suite, a criterion."""

    scenario: str
    a: Compared
    difference: float
    """To be told, in the unit of the criterion; NaN where its median is 0 or infinite."""
    n: int
    """Trials there are."""
    needs: int | None
    """Trials of each result; None where the trials do not say: too few, without a median, or a difference of 0."""
    in_pairs: bool
    """Whether they are compared in pairs of one seed."""

    def document(self) -> dict[str, Any]:
        """This criterion as JSON."""
        return {
            "scenario": self.scenario,
            "criterion": self.a.subject,
            "unit": self.a.unit,
            "a": finite(self.a.median),
            "difference": finite(self.difference),
            "n": self.n,
            "needs_trials": self.needs,
            "of": "pairs" if self.in_pairs else "all with all",
        }


def plan(
    a: Mapping[tuple[str, str], Compared], rows: Sequence[Row] | None, size: float, margin: float = MARGIN
) -> list[Planned]:
    """How many trials each number of a needs to tell that another result differs by a share `size` of its median.

    `a` has the numbers by scenario and subject. With `rows`, a's comparison with another result, the numbers of
    these, in pairs where pairs are sharper. Raises RequestError.
    """
    if size <= margin:
        raise RequestError(
            f"a difference of {100 * size:g} % does not count: accepted: more than {100 * margin:g} %"
        )
    known = [(name, one) for (name, _), one in a.items() if not undefined(one)]
    if not (known if rows is None else rows):
        raise RequestError("--plan requires numbers that all trials define, and none are stored")
    if rows is None:
        return [_planned(name, one, size, margin, RATE / len(known), None) for name, one in known]
    found = []
    for row in rows:
        pairs = row.paired if row.paired and row.pairs_are_sharper else None
        values = pairs.differences if pairs else None
        found.append(_planned(row.scenario, row.a, size, margin, RATE / len(rows), values))
    return found


def _planned(
    scenario: str, a: Compared, size: float, margin: float, chance: float, differences: Values | None
) -> Planned:
    values = a.values["value"].to_numpy()
    median = abs(a.median)
    difference = size * median if math.isfinite(median) and median else math.nan
    beyond = (size - margin) * median
    enough = len(values) >= LEAST_PAIRS and math.isfinite(difference)
    needs = None
    if enough and differences is not None:
        needs = _pairs(differences - np.median(differences), beyond, chance)
    elif enough:
        needs = _of_all(values, beyond, chance)
    return Planned(scenario, a, difference, len(values), needs, differences is not None)


def _pairs(scatter: Values, shift: float, chance: float) -> int | None:
    """Pairs, by how often one with a shift lies above 0; its scatter is taken for alike on both sides."""
    above = 0.5 + float(np.mean(abs(scatter) < shift)) / 2
    return _least(above, 4, least_pairs(chance), chance)


def _of_all(values: Values, shift: float, chance: float) -> int | None:
    """Trials on each side, by how often one trial with a shift is above another one."""
    n = len(values)
    with np.errstate(invalid="ignore"):
        differences = values[:, None] + shift - values[None, :]
    differences = np.where(np.isnan(differences), 0.0, differences)[~np.eye(n, dtype=bool)]
    above = float(np.mean(differences > 0) + np.mean(differences == 0) / 2)
    return _least(above, 6, least_of_all(chance), chance)


def _least(above: float, factor: int, least: int, chance: float) -> int | None:
    if above <= 0.5:
        return None
    normal = NormalDist()
    quantiles = normal.inv_cdf(1 - chance / 2) + normal.inv_cdf(POWER)
    return max(math.ceil(quantiles**2 / (factor * (above - 0.5) ** 2)), least)


def rarely_told(planned: Sequence[Planned]) -> int:
    """How many of these have fewer trials than they need."""
    return sum(one.needs is None or one.n < one.needs for one in planned)
