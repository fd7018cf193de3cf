"""The figures of the page of `slow-start`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from thalweg.report.study import Section
from thalweg.studies.runner.result import Row, StudyResult
from thalweg.studies.slow_start.figures import plot_arrival, plot_exits


def sections(result: StudyResult) -> Iterator[Section]:
    """For each controller, where starts end on all paths, and how soon bytes arrive on each."""
    for controller in dict.fromkeys(str(row["controller"]) for row in result.rows):
        table = [row for row in result.rows if row["controller"] == controller]
        title = f"Where slow start ends, {controller}"
        yield Section(f"exits-{_anchor(controller)}", title, "", partial(_exits, table, title))
        for number, path in enumerate(dict.fromkeys(str(row["condition"]) for row in table)):
            on_path = [row for row in table if row["condition"] == path]
            what = f"How soon bytes arrive, {controller}: {path}"
            yield Section(f"arrival-{_anchor(controller)}-{number}", what, "", partial(_arrival, on_path, what))


def _anchor(controller: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in controller)


def _exits(table: Sequence[Row], title: str) -> list[Any]:
    return [plot_exits(table, title)]


def _arrival(table: Sequence[Row], title: str) -> list[Any]:
    return [plot_arrival(table, title)]
