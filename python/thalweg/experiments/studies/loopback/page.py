"""The figure of the page of `loopback`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from thalweg.experiments.studies.loopback.figures import plot_runs
from thalweg.experiments.studies.loopback.measure import Measured
from thalweg.experiments.studies.loopback.parameters import Cell
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.pages.figures import Chart
from thalweg.pages.report.section import Section


def picture(result: StudyResult, cells: Mapping[Cell, Measured]) -> Chart:
    """All runs."""
    return plot_runs({cell.name: measured.runs for cell, measured in cells.items()}, result.title)


def sections(result: StudyResult, cells: Mapping[Cell, Measured]) -> Iterator[Section]:
    """The same."""
    yield Section("runs", "Goodput and losses", "", lambda: [picture(result, cells)])
