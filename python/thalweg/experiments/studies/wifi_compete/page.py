"""The figures of the page of `wifi-compete`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from thalweg.experiments.studies.wifi_compete.course import CAPACITY_BPS
from thalweg.experiments.studies.wifi_compete.figures import plot_pair
from thalweg.experiments.studies.wifi_compete.measure import Kept, median_trial, worst_trial
from thalweg.experiments.studies.wifi_compete.parameters import Cell, Parameters
from thalweg.pages.figures import Chart
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span
from thalweg.results.replay import replay_trial


def section(cell: Cell, kept: Kept) -> Section:
    """The median and the worst trial of a pair, which are played again."""
    scenario = kept.outcomes.scenario
    return Section(scenario.name, scenario.title, scenario.toml, partial(_draw, cell, kept))


def _draw(cell: Cell, kept: Kept) -> Sequence[Chart]:
    if not cell.is_pair:
        return []
    chosen = {"median trial": median_trial(kept.closed), "worst trial": worst_trial(kept.closed)}
    return [
        plot_pair(replay_trial(kept.outcomes, trial), f"{title}: {trial}", CAPACITY_BPS)
        for title, trial in chosen.items()
    ]


def strips(parameters: Parameters, cells: Mapping[Cell, Kept]) -> Strips:
    """When the main flow closed in each trial, against the published median."""
    scale = span((kept.closed for kept in cells.values()), 0.0)
    return Strips(
        "trials",
        "Trials: each a line, by when the main flow had closed; grey is the floor, the least that the path "
        "allows, the upright mark the published median. All rows have one scale, which begins at 0.",
        [
            [
                Strip(
                    kept.closed,
                    "s",
                    at_most=parameters.published_s.get(cell),
                    called="published median",
                    floor=kept.outcomes.scenario.criteria[0]["floor"],
                    scale=scale,
                )
            ]
            for cell, kept in cells.items()
        ],
    )
