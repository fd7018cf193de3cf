"""`thalweg.compare`: two results as one table."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import polars as pl

from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.results.comparison.medians import MARGIN, compare_results
from thalweg.results.suite_result import SuiteResult

Comparable: TypeAlias = Outcomes | SuiteResult | str | Path
"""Outcomes, a result, or the folder of one."""


def compare(a: Comparable, b: Comparable, margin: float = MARGIN) -> pl.DataFrame:
    """Each criterion in two results: their medians, by what share b is larger, and what the trials tell.

    `low` and `high` are the interval of the difference b - a, in the unit of the criterion; differences up to the
    `margin`, a share of the smaller median, do not count. Raises RequestError.

    >>> from thalweg import Scenario
    >>> a, b = (Scenario.load("c4/bad-wifi", controllers={"main": name}).trials(20) for name in ("c4", "cubic"))
    >>> compare(a, b).select("scenario", "criterion", "told").rows()
    [('bad-wifi', 'main closed', 'B is larger'), ('bad-wifi', 'main completion', 'B is larger')]
    """
    rows = compare_results(_result(a), _result(b), margin)
    return pl.DataFrame(
        [
            {
                "scenario": row.scenario,
                "criterion": row.a.subject,
                "unit": row.a.unit,
                "a": row.a.median,
                "b": row.b.median,
                "change": row.change,
                "low": row.sharper.interval.low,
                "high": row.sharper.interval.high,
                "told": row.conclusion,
            }
            for row in rows
        ]
    )


def _result(given: Comparable) -> SuiteResult:
    if isinstance(given, SuiteResult):
        return given
    if isinstance(given, Outcomes):
        return SuiteResult(None, given.scenario.title, None, given.seed, outcomes=[given])
    if isinstance(given, (str, Path)):
        return SuiteResult.load(given)
    raise RequestError(f"{given!r:.60}: accepted: outcomes, a result, or the folder of one")
