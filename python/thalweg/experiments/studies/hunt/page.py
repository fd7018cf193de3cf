"""The figures of the page of `hunt`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from thalweg.experiments.studies.hunt.figures import plot_search
from thalweg.experiments.studies.hunt.measure import Measured
from thalweg.experiments.studies.hunt.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.study import Finished
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips


def sections(finished: Finished[Parameters, Cell, Measured]) -> Iterator[Section]:
    """The search of each case."""
    for cell, measured in finished.cells.items():
        yield Section(cell.name, cell.what, cell.source, partial(_search, cell, measured))


def _search(cell: Cell, measured: Measured) -> list[Any]:
    return [plot_search(measured.finds, cell.bound, cell.name)]


def strips(cells: Mapping[Cell, Measured]) -> Strips:
    """The objective in each trial of the shipped scenario, and from where on the case counts as found."""
    return Strips(
        "trials of shipped",
        "Trials of shipped: each a line, by the objective; the upright mark is the bound.",
        [[Strip(of.shipped, of.unit, cell.bound, called="bound", judged=True)] for cell, of in cells.items()],
    )
