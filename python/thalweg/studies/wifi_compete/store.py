"""What `wifi-compete` leaves in a folder.

study.json              the document that `--format json` prints
flows.parquet           outcomes of every flow of every trial, with variant and competitor
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any trial again
report.html             the page
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from thalweg.outcome import Outcomes
from thalweg.plots import Chart
from thalweg.progress import Progress, silent
from thalweg.replay import replay_trial
from thalweg.report.study import Section, write_study
from thalweg.studies.runner.folder import PAGE, write_study_files
from thalweg.studies.runner.table import Table
from thalweg.studies.wifi_compete.course import CAPACITY_BPS
from thalweg.studies.wifi_compete.figures import plot_pair
from thalweg.studies.wifi_compete.published import ALONE
from thalweg.studies.wifi_compete.study import Cell, WifiCompete, ends, median_trial, worst_trial
from thalweg.studies.wifi_compete.table import HEADERS, LEGEND, WORDS, table_rows


def save(study: WifiCompete, folder: Path, on_progress: Progress = silent) -> Path:
    """Writes a study; returns where it is. Plays the median and the worst trial of each pair again for figures."""
    scenarios = {outcomes.scenario.name: outcomes.scenario.toml for outcomes in study.cells.values()}
    root = write_study_files(folder, study.result, scenarios, {"flows": _flows(study)}, complete=study.complete)
    sections = [_section(cell, outcomes) for cell, outcomes in study.cells.items()]
    table = table_rows(study.result)
    write_study(study.result, Table(HEADERS, table, WORDS), LEGEND, sections, root / PAGE, on_progress)
    return root


def _flows(study: WifiCompete) -> pl.DataFrame:
    parts = [
        outcomes.flows.select(pl.lit(variant).alias("variant"), pl.lit(competitor).alias("competitor"), pl.all())
        for (variant, competitor), outcomes in study.cells.items()
    ]
    return pl.concat(parts, how="diagonal_relaxed")


def _section(cell: Cell, outcomes: Outcomes) -> Section:
    scenario = outcomes.scenario
    return Section(scenario.name, scenario.title, scenario.toml, partial(_draw, cell, outcomes))


def _draw(cell: Cell, outcomes: Outcomes) -> Sequence[Chart]:
    if cell[1] == ALONE:
        return []
    closed = ends(outcomes)
    chosen = {"median trial": median_trial(closed), "worst trial": worst_trial(closed)}
    return [
        plot_pair(replay_trial(outcomes, trial), f"{title}: {trial}", CAPACITY_BPS)
        for title, trial in chosen.items()
    ]
