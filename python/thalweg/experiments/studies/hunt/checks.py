"""What is judged of `hunt`: each worst case is found, published ones again, and its shipped scenario shows it."""

from __future__ import annotations

from collections.abc import Mapping

from thalweg.base.quantity import text
from thalweg.experiments.studies.hunt.measure import CaseHunts, until
from thalweg.experiments.studies.hunt.parameters import Cell
from thalweg.experiments.studies.runner.result import Check
from thalweg.judging.statistics.claims import above
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.statistics.rates import rate_interval


def checks(cells: Mapping[Cell, CaseHunts]) -> list[Check]:
    """Two for each case: more than half of the hunts reach the bound; so does the median of shipped trials."""
    made = []
    for cell, measured in cells.items():
        reached = sum(until(find, cell.bound) is not None for find in measured.finds)
        made.append(
            Check(
                f"{'found again' if cell.is_published else 'found, not published'}: {cell.what}",
                cell.source,
                above(rate_interval(reached, len(measured.finds)), 0.5),
                f"{reached} of {len(measured.finds)} hunts reach {objective_text(cell.bound, measured.unit)}",
            )
        )
        shipped = median_interval(measured.shipped)
        made.append(
            Check(
                f"the scenario worst-cases/{cell.name} shows it",
                cell.source,
                above(shipped, cell.bound),
                f"{objective_text(shipped.value, measured.unit)} ({objective_text(shipped.low, measured.unit)} to "
                f"{objective_text(shipped.high, measured.unit)})",
            )
        )
    return made


def objective_text(value: float, unit: str) -> str:
    """A value of an objective for people; those without a unit are ratios.

    >>> objective_text(0.305, "share"), objective_text(3.331, "")
    ('30.5 %', '3.33')
    """
    return text(value, unit, 3) if unit else f"{value:.3g}"
