"""The figures of the page of `fairness`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from thalweg.experiments.studies.fairness.figures import plot_condition, plot_many, plot_matrix
from thalweg.experiments.studies.fairness.parameters import Cell
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.judging.statistics.interval import Values
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span

_CONDITIONS = {
    "buffer_bdp": "buffer (BDP)",
    "rtt_ratio": "RTT of the second flow over the first",
    "queue": "queue",
}


def sections(result: StudyResult) -> Iterator[Section]:
    """The matrix of the base, shares over each condition that varies, and many flows of one controller."""
    pairs = [row for row in result.rows if row["flows"] == 2]
    base = {name: pairs[0][name] for name in _CONDITIONS} if pairs else {}
    if pairs:
        table = base_rows(result.rows)
        title = f"Who leaves what: {base['buffer_bdp']:g} BDP, {base['queue']}"
        yield Section("matrix", title, "", partial(_draw_matrix, table, title))
    for column, axis in _CONDITIONS.items():
        others = {name: value for name, value in base.items() if name != column}
        table = [row for row in pairs if all(row[name] == value for name, value in others.items())]
        if len({row[column] for row in table}) > 1:
            title = f"Shares over the {axis}"
            yield Section(f"over-{column}", title, "", partial(_draw_condition, table, column, axis, title))
    many = [row for row in result.rows if row["flows"] != 2 or (row["first"] == row["second"] and _is(row, base))]
    if any(row["flows"] != 2 for row in many):
        title = "Many flows of one controller"
        yield Section("many", title, "", partial(_draw_many, many, title))


def base_rows(rows: Sequence[Row]) -> list[Row]:
    """Those of two flows under the first value of each condition."""
    pairs = [row for row in rows if row["flows"] == 2]
    base = {name: pairs[0][name] for name in _CONDITIONS} if pairs else {}
    return [row for row in pairs if _is(row, base)]


def _is(row: Row, base: dict[str, Any]) -> bool:
    return all(row[name] == value for name, value in base.items())


def _draw_matrix(table: Sequence[Row], title: str) -> list[Any]:
    return [plot_matrix(table, title)]


def _draw_condition(table: Sequence[Row], column: str, axis: str, title: str) -> list[Any]:
    return [plot_condition(table, column, axis, title)]


def _draw_many(table: Sequence[Row], title: str) -> list[Any]:
    return [plot_many(sorted(table, key=lambda row: float(row["flows"] or 0)), title)]


def strips(cells: Mapping[Cell, Mapping[str, Values]]) -> Strips:
    """The share of the first flow in each trial; of many flows of one controller, of the one with the least."""
    each = [measured["least" if cell.is_intra else "first"] for cell, measured in cells.items()]
    scale = span(each, 0.0, 1.0)
    return Strips(
        "trials",
        "Trials: each a line, by what the first flow got, of many flows of one controller the one with the least; "
        "the upright mark is the fair share. All rows have one scale, which begins at 0.",
        [[Strip(values, "share", 1.0, called="fair share", scale=scale)] for values in each],
    )
