"""The figures of the page of `slow-start`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.slow_start.figures import plot_arrival, plot_exits
from thalweg.experiments.studies.slow_start.measure import Measured, together
from thalweg.experiments.studies.slow_start.parameters import Cell
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span


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


def strips(cells: Mapping[Cell, Measured]) -> Strips:
    """The windows that each trial reached and left; those of all starts on a path have one scale."""
    rows = list(together(cells))
    scales = {
        path: span(
            (of[column] for cell, of in rows if cell.condition == path for column in _WINDOWS),
            *(0.0, 1.0 + next(cell.buffer_bdp for cell, _ in rows if cell.condition == path)),
        )
        for path in dict.fromkeys(cell.condition for cell, _ in rows)
    }
    return Strips(
        "reached, left",
        "Strips: each trial a line. Above: the largest window; its mark is what path and buffer hold, orange is "
        "late. Below: the window that was left; its mark is what the path holds, orange is early. All rows of a "
        "path have one scale, which begins at 0.",
        [_lanes(cell, of, scales[cell.condition]) for cell, of in rows],
    )


_WINDOWS = ("reached_of_pipe", "left_of_pipe")


def _lanes(cell: Cell, of: Measured, scale: tuple[float, float]) -> list[Strip]:
    reached, left = (of[column] for column in _WINDOWS)
    full = 1 + cell.buffer_bdp
    return [
        Strip(reached, "BDP", at_most=full, called="path and buffer hold", judged=True, scale=scale, of="reached"),
        Strip(left, "BDP", at_least=1.0, called="path holds", judged=True, scale=scale, of="left"),
    ]
