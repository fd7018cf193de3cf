"""The figures of the page of `wifi-compete`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thalweg.outcome import Outcomes
from thalweg.plots import Chart
from thalweg.replay import replay_trial
from thalweg.report.study import Section
from thalweg.studies.wifi_compete.course import CAPACITY_BPS
from thalweg.studies.wifi_compete.figures import plot_pair
from thalweg.studies.wifi_compete.measure import ends, median_trial, worst_trial
from thalweg.studies.wifi_compete.parameters import Cell


def section(cell: Cell, outcomes: Outcomes) -> Section:
    """The median and the worst trial of a pair, which are played again."""
    scenario = outcomes.scenario
    return Section(scenario.name, scenario.title, scenario.toml, partial(_draw, cell, outcomes))


def _draw(cell: Cell, outcomes: Outcomes) -> Sequence[Chart]:
    if not cell.is_pair:
        return []
    closed = ends(outcomes)
    chosen = {"median trial": median_trial(closed), "worst trial": worst_trial(closed)}
    return [
        plot_pair(replay_trial(outcomes, trial), f"{title}: {trial}", CAPACITY_BPS)
        for title, trial in chosen.items()
    ]
