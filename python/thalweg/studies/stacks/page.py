"""The figures of the page of `stacks`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from thalweg.report.study import Section
from thalweg.studies.stacks.figures import plot_cells
from thalweg.studies.stacks.measure import Compared


def sections(scenarios: Sequence[Compared]) -> Iterator[Section]:
    """The distributions under each controller."""
    for controller in dict.fromkeys(scenario.controller for scenario in scenarios):
        of = [scenario for scenario in scenarios if scenario.controller == controller]
        draw = partial(_draw, of, f"Both stacks under {controller}")
        yield Section(controller.replace(":", "-"), f"Distributions: {controller}", "", draw)


def _draw(scenarios: Sequence[Compared], title: str) -> list[Any]:
    return [plot_cells(scenarios, title)]
