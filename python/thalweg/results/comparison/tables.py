"""`thalweg.compare`: results next to each other, as a table and as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.judging.comparison.row import MARGIN
from thalweg.results.comparison.suites import compare_results
from thalweg.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from thalweg.pages.figures import Figure

Comparable: TypeAlias = Outcomes | SuiteResult | str | Path
"""Outcomes, a result, or the folder of one."""
_TEXTS = ("result", "scenario", "criterion", "unit", "answer")
_COLUMNS = (*_TEXTS[:4], "a", "b", "difference", "low", "high", "change_share", *_TEXTS[4:])


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Results, each set against the first."""

    results: Mapping[str, SuiteResult]
    """By their labels, the base first."""
    table: pl.DataFrame
    """A row for each other result and criterion, in the unit of the row: the medians `a` and `b`, the `difference`
    of trials, b - a, with its interval `low` to `high`, what share of `a` it is, and the answer."""

    def plot(self, only: Sequence[str] | None = None, metrics: Sequence[str] | None = None) -> Figure:
        """Draws every trial, the median and its interval of each result, criterion by criterion.

        `only` are patterns of scenarios, `metrics` such as `completion`. Raises RequestError.

        >>> from thalweg import Scenario, compare
        >>> a, b = (Scenario.load("c4/bad-wifi", controllers={"main": name}).trials(6) for name in ("c4", "cubic"))
        >>> compare(a, b).plot().description.startswith("Bad Wi-Fi: c4, cubic. bad-wifi, main closed: c4 ")
        True
        """
        import thalweg  # noqa: PLC0415 - figures stand on results

        figure: Figure = getattr(thalweg, "plot_comparison")(self.results, only, metrics)  # noqa: B009 - has no type
        return figure

    def __repr__(self) -> str:
        """The table."""
        return repr(self.table)

    def _repr_html_(self) -> str:
        """The table, in notebooks."""
        html: str = self.table._repr_html_()
        return html


def compare(
    a: Comparable, *others: Comparable, margin: float = MARGIN, labels: Sequence[str] | None = None
) -> Comparisons:
    """Each criterion of some results against the first: their medians, by how much they differ, what trials tell.

    Differences up to the `margin`, a share of the smaller median, do not count. `labels` name the results;
    otherwise their main controllers do, or their folders. Raises RequestError.

    >>> from thalweg import Scenario
    >>> a, b = (Scenario.load("c4/bad-wifi", controllers={"main": name}).trials(20) for name in ("c4", "cubic"))
    >>> compare(a, b).table.select("result", "criterion", "answer").rows()
    [('cubic', 'main closed', 'undecided'), ('cubic', 'main completion', 'undecided')]
    """
    if not others:
        raise RequestError("only one result; accepted: two or more, the base first")
    results = [_result(given) for given in (a, *others)]
    named = labelled(results, labels)
    base, *rest = named.items()
    rows = [(label, row) for label, other in rest for row in compare_results(base[1], other, margin)]
    cells: list[dict[str, Any]] = [
        {
            "result": label,
            "scenario": row.scenario,
            "criterion": row.a.subject,
            "unit": row.a.unit,
            "a": row.a.median,
            "b": row.b.median,
            "difference": row.sharper.interval.value,
            "low": row.sharper.interval.low,
            "high": row.sharper.interval.high,
            "change_share": row.change,
            "answer": row.answer,
        }
        for label, row in rows
    ]
    schema = {name: pl.String if name in _TEXTS else pl.Float64 for name in _COLUMNS}
    return Comparisons(named, pl.DataFrame(cells, schema=schema))


def labelled(results: Sequence[SuiteResult], labels: Sequence[str] | None = None) -> dict[str, SuiteResult]:
    """Results by labels: those given, else what tells them apart. Raises RequestError if two have one label."""
    if labels is not None:
        if len(labels) != len(results) or len({*labels}) < len(labels):
            raise RequestError(f"labels = {list(labels)!r}: accepted: {len(results)} different names")
        return dict(zip(labels, results, strict=True))
    letters = [chr(ord("A") + number) for number in range(len(results))]
    by_folder = [result.folder.name if result.folder else "" for result in results]
    for names in ([_controller(result) for result in results], by_folder):
        if len({*names}) == len(names) and all(names):
            return dict(zip(names, results, strict=True))
    both = [f"{letter}: {name}" if name else letter for letter, name in zip(letters, by_folder, strict=True)]
    return dict(zip(both, results, strict=True))


def _controller(result: SuiteResult) -> str:
    """The controller of the main flow, if all scenarios have the same."""
    found = {
        str(next((flow for flow in flows if flow["name"] == "main"), flows[0])["controller"])
        for outcomes in result.outcomes
        if (flows := outcomes.scenario.flows)
    }
    return found.pop() if len(found) == 1 else ""


def _result(given: Comparable) -> SuiteResult:
    if isinstance(given, SuiteResult):
        return given
    if isinstance(given, Outcomes):
        return SuiteResult(None, given.scenario.title, None, given.seed, outcomes=[given])
    if isinstance(given, (str, Path)):
        return SuiteResult.load(given)
    raise RequestError(f"{given!r:.60}: accepted: outcomes, a result, or the folder of one")
