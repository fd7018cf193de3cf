"""The figures of the page of `wifi-compete`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thalweg.plots import Chart
from thalweg.replay import replay_trial
from thalweg.report.study import Section
from thalweg.studies.wifi_compete.course import CAPACITY_BPS
from thalweg.studies.wifi_compete.figures import plot_pair
from thalweg.studies.wifi_compete.measure import Kept, median_trial, worst_trial
from thalweg.studies.wifi_compete.parameters import Cell


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
