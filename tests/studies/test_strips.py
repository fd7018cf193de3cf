"""Tables of study pages show the trials of each row as a strip, and say where no trial opens in the lab."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from thalweg import Scenario
from thalweg.executor import unheard
from thalweg.executor.machine import ThisMachine
from thalweg.hunt import Find
from thalweg.hunt.objective import Objective
from thalweg.report.strip import Strip
from thalweg.report.study import write_study
from thalweg.studies.fairness.parameters import Parameters as Fairness
from thalweg.studies.fairness.study import STUDY
from thalweg.studies.hunt.measure import Measured, measure
from thalweg.studies.hunt.page import strips
from thalweg.studies.hunt.parameters import CASES, Parameters
from thalweg.studies.runner.result import StudyResult
from thalweg.studies.runner.table import Table
from thalweg.studies.runner.trials import CellTrials


def places(markup: str, kind: str) -> list[int]:
    """Where the lines of a kind stand, of a thousand."""
    (path,) = re.findall(f'<path class="{kind}" d="([^"]*)"', markup) or [""]
    return [int(place) for place in re.findall(r"M(\d+) ", path)]


def test_each_trial_is_a_line_on_its_side_of_the_bound() -> None:
    values = np.array([0.0, 40.0, 60.0, 100.0, np.nan])
    # From 0 to 100 with 2 % of room on both sides: 0 stands at 2 / 104 of 1000, 40 at 42 / 104, and so on.
    at = {value: round(1000 * (value + 2) / 104) for value in (0, 40, 50, 60, 100)}
    most, least, none = (Strip(values, "", 50.0, side=side).markup for side in ("at_most", "at_least", None))
    assert (places(most, "held"), places(most, "over")) == ([at[0], at[40]], [at[60], at[100]])
    assert (places(least, "held"), places(least, "over")) == ([at[60], at[100]], [at[0], at[40]])
    assert (places(none, "held"), places(none, "over")) == ([at[0], at[40], at[60], at[100]], [])
    assert places(none, "target") == [at[50]]
    assert "5 trials, median 50, 0 to 100, target 50" in none


def test_a_strip_without_a_number_shows_its_bound_alone() -> None:
    markup = Strip(np.array([np.nan, np.inf]), "s", 1.0).markup
    assert places(markup, "held") == places(markup, "over") == []
    assert "2 trials, target 1 s" in markup


def test_the_table_of_fairness_shows_the_shares_of_each_row(tmp_path: Path) -> None:
    quick = Fairness(("cubic", "c4"), (1.0,), (1.0,), ("drop-tail",), flows=(3,), duration="20 s")
    finished = STUDY.run(quick, trials=3)
    finished.save(tmp_path / "study")
    page = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    shown = re.findall(r'<svg class="strip".*?</svg>', page)
    assert len(shown) == len(finished.result.rows) > 3
    kept = [measured["least" if cell.is_intra else "first"] for cell, measured in finished.cells.items()]
    most = max(share for shares in kept for share in shares)
    assert most > 1
    for markup, shares in zip(shown, kept, strict=True):
        # One scale for all rows: from 0 to the largest share, with 2 % of room on both sides.
        expected = sorted({round(1000 * (share / most + 0.02) / 1.04) for share in shares})
        assert places(markup, "held") == expected
        assert "fair share 100 %" in markup
    assert "the upright mark is the fair share" in page


def test_strips_of_a_hunt_set_its_trials_against_the_bound() -> None:
    find = Find(Objective("loss", "main"), 1, 1, 0.01, {}, 0.3, {}, 0.3, history=[0.3])
    cell = CASES[0]
    (strip,) = strips({cell: Measured([find], np.array([0.0, 2 * cell.bound]), "share")}).rows
    assert len(places(strip.markup, "held")) == len(places(strip.markup, "over")) == 1


def test_a_hunt_says_the_hash_of_the_first_trial_of_its_scenario() -> None:
    cell = CASES[-1]
    scenario = Parameters().scenario(cell)
    assert isinstance(scenario, Scenario)
    trials = CellTrials(scenario, 2, 5, ThisMachine(jobs=1), unheard)
    measure(Parameters(hunts=1, budget=2), cell, trials)
    assert trials.first_hash == Scenario.from_toml(scenario.toml, "t").run(seed=5).trace_hash


@pytest.mark.parametrize("is_live", [True, False])
def test_a_page_of_trials_in_real_time_says_why_none_opens_in_the_lab(tmp_path: Path, is_live: bool) -> None:
    result = StudyResult("loopback", "t", "s", "default", 1, 1)
    if is_live:
        result.live = [{"cell": "a", "seed": 1, "unfaithful": []}]
    write_study(result, Table(["a"], [["b"]], 1), "", [], [], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("No trial opens in the lab" in text) == is_live
