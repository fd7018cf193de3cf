"""The figures of the page of `laws`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from thalweg.experiments.studies.laws.figures import plot_bounds, plot_use, plot_windows
from thalweg.experiments.studies.laws.quantity import Quantity
from thalweg.experiments.studies.laws.utilisation import LAW as UTILISATION
from thalweg.experiments.studies.laws.window import LAW as WINDOW
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips


def sections(result: StudyResult) -> Iterator[Section]:
    """Windows, utilisation and bounds."""
    rows = result.rows
    windows = [row for row in rows if row["law"] == WINDOW]
    if windows:
        yield Section("windows", "Average window against loss rate", "", partial(_only, plot_windows, windows))
    used = [row for row in rows if row["law"] == UTILISATION]
    if used:
        yield Section("utilisation", "Utilisation alone", "", partial(_only, plot_use, used))
    others = [row for row in rows if row["law"] not in (WINDOW, UTILISATION)]
    if others:
        yield Section("bounds", "All others, between their bounds", "", partial(_only, plot_bounds, others))


def _only(draw: Callable[[Any], Any], rows: Any) -> list[Any]:
    return [draw(rows)]


_UNITS = {"%": "share", "s": "s"}
"""Of quantities, as texts have them; all others are plain numbers."""


def strips(quantities: Sequence[Quantity]) -> Strips:
    """Each number in all trials, between the bounds of its law."""
    return Strips(
        "trials",
        "Trials: each a line; the upright marks are the bounds. Each row has its own scale. Orange: beyond the "
        "bounds of a law about every trial. A law about the mean allows single trials there.",
        [
            [Strip(of.values, _UNITS.get(of.unit, ""), of.low, of.high, "bounds", of.judged and of.always)]
            for of in quantities
        ],
    )
