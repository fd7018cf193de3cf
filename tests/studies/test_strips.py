"""Tables of study pages show the trials of each row as a strip, and say where no trial opens in the lab."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from thalweg import Scenario
from thalweg.base.executor import unheard
from thalweg.experiments.hunt import Find
from thalweg.experiments.hunt.objective import Objective
from thalweg.experiments.studies.fairness.parameters import Parameters as Fairness
from thalweg.experiments.studies.fairness.study import STUDY
from thalweg.experiments.studies.hunt.figures import strips
from thalweg.experiments.studies.hunt.measure import CaseHunts, measure
from thalweg.experiments.studies.hunt.parameters import CASES, Parameters
from thalweg.experiments.studies.runner.page import write_study
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.pages.report.strip import Strip, Strips, span
from thalweg.trials.machine import ThisMachine


def places(markup: str, kind: str) -> list[int]:
    """Where the lines of a kind stand, of a thousand."""
    (path,) = re.findall(f'<path class="{kind}" d="([^"]*)"', markup) or [""]
    return [int(place) for place in re.findall(r"M(\d+) ", path)]


def test_each_trial_is_a_line_on_its_side_of_the_bounds() -> None:
    values = np.array([0.0, 40.0, 60.0, 100.0, np.nan])
    # From 0 to 100 with 2 % of room on both sides: 0 stands at 2 / 104 of 1000, 40 at 42 / 104, and so on.
    at = {value: round(1000 * (value + 2) / 104) for value in (0, 40, 50, 60, 70, 100)}
    most = Strip(values, "", at_most=50.0, judged=True).markup
    least = Strip(values, "", at_least=50.0, judged=True).markup
    between = Strip(values, "", 50.0, 70.0, judged=True).markup
    none = Strip(values, "", 50.0).markup
    assert (places(most, "held"), places(most, "over")) == ([at[0], at[40]], [at[60], at[100]])
    assert (places(least, "held"), places(least, "over")) == ([at[60], at[100]], [at[0], at[40]])
    assert (places(between, "held"), places(between, "over")) == ([at[60]], [at[0], at[40], at[100]])
    assert (places(none, "held"), places(none, "over")) == ([at[0], at[40], at[60], at[100]], [])
    assert (places(none, "target"), places(between, "target")) == ([at[50]], [at[50], at[70]])
    assert "5 trials, median 50, 0 to 100, target 50, 1 without a line" in none
    assert "5 trials, median 50, 0 to 100, target 50 to 70, 1 without a line" in between


def test_a_strip_without_a_number_shows_its_bound_alone() -> None:
    markup = Strip(np.array([np.nan, np.inf]), "s", at_most=1.0).markup
    assert places(markup, "held") == places(markup, "over") == []
    assert "2 trials, target 1 s" in markup


def test_strips_stand_behind_the_words_of_a_row_whatever_their_number(tmp_path: Path) -> None:
    strips = Strips(
        "trials", "Each a line.", [[Strip(np.array([1.0]), "s", of="a"), Strip(np.array([2.0]), "s", of="b")], []]
    )
    table = Table(["name", "kind", "n"], [["one", "x", "1"], ["two", "y", "2"]], 2)
    result = StudyResult("any", "t", "s", "default", 1, 1)
    write_study(result, table, "Seconds.", [], [], tmp_path / "page.html", strips=strips)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r'<th scope="col"[^>]*>(\w+)<', page) == ["name", "kind", "trials", "n"]
    one, two = re.findall(r"<tr><th scope=.row.>.*?</tr>", page)
    assert re.findall(r'aria-label="([^"]*)"', one) == [
        "a: 1 trial, median 1 s, 1 s to 1 s",
        "b: 1 trial, median 2 s, 2 s to 2 s",
    ]
    assert '<td data-label="trials">-</td>' in two
    # What a strip shows is read before the rows, what the columns are after them.
    assert page.index("Each a line.") < page.index("<table") < page.index("Seconds.")


def test_several_strips_can_have_one_scale() -> None:
    least, largest = span([np.array([3.0, np.inf]), np.array([-1.0, np.nan])], 0.0)
    assert (least, largest) == (-1.0, 3.0)
    one, other = (Strip(np.array([value]), "", scale=(least, largest)).markup for value in (3.0, -1.0))
    # From -1 to 3 with 2 % of room on both sides.
    assert (places(one, "held"), places(other, "held")) == (
        [round(1000 * 4.08 / 4.16)],
        [round(1000 * 0.08 / 4.16)],
    )


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
    ((strip,),) = strips({cell: CaseHunts([find], np.array([0.0, 2 * cell.bound]), "share")}).rows
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
