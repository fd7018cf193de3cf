"""The figures of the page of `stacks`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from thalweg.experiments.studies.stacks.figures import plot_cells
from thalweg.experiments.studies.stacks.measure import Compared
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span


def sections(scenarios: Sequence[Compared]) -> Iterator[Section]:
    """The distributions under each controller."""
    for controller in dict.fromkeys(scenario.controller for scenario in scenarios):
        of = [scenario for scenario in scenarios if scenario.controller == controller]
        draw = partial(_draw, of, f"Both stacks under {controller}")
        yield Section(controller.replace(":", "-"), f"Distributions: {controller}", "", draw)


def _draw(scenarios: Sequence[Compared], title: str) -> list[Any]:
    return [plot_cells(scenarios, title)]


def strips(scenarios: Sequence[Compared]) -> Strips:
    """The trials on all stacks, one below the other on one scale, against floor and target of the scenario."""
    return Strips(
        "model, wide, quic",
        "Strips: each trial a line, from above on model, wide and quic; grey is the floor, the upright mark the "
        "target of the scenario, orange what is over it. Each row has its own scale.",
        [_lanes(of) for of in scenarios],
    )


def _lanes(of: Compared) -> list[Strip]:
    criterion = of.scenario.criteria[0]
    bounds = {side: criterion[side] for side in ("at_least", "at_most")}
    scale = span(
        of.values.values(), *(mark for mark in (*bounds.values(), criterion["floor"]) if mark is not None)
    )
    return [
        Strip(values, criterion["unit"], **bounds, judged=True, floor=criterion["floor"], scale=scale, of=variant)
        for variant, values in of.values.items()
    ]
