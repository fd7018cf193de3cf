"""The study `hunt`: its cases, and the study from end to end on the cheapest of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from thalweg.base.errors import RequestError
from thalweg.base.executor import unheard
from thalweg.cli import main
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Interrupted
from thalweg.experiments.hunt import Find
from thalweg.experiments.hunt.objective import Objective
from thalweg.experiments.studies.hunt.checks import checks
from thalweg.experiments.studies.hunt.measure import CaseHunts, measure, row, until
from thalweg.experiments.studies.hunt.parameters import CASES, NAMES, SUITE, Parameters
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.trials.threads import Threads

FLOW = {"path": {"rate": "1 Mbps", "rtt": "5 ms"}, "flow": [{"name": "main", "controller": "c4"}]}


def find(*history: float | None) -> Find:
    best = max(value for value in history if value is not None)
    return Find(Objective("loss", "main"), 1, 1, 0.01, FLOW, best, FLOW, best, history=list(history))


def measured(*finds: Find, shipped: float) -> CaseHunts:
    return CaseHunts(list(finds), np.full(20, shipped), "share")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_case_has_a_plan_and_a_scenario(case: object) -> None:
    (cell,) = (one for one in CASES if one is case)
    plan, scenario = Parameters().plan(cell, 3), Parameters().scenario(cell)
    assert plan.search_seed == 3
    flows = {str(flow["name"]): str(flow["controller"]) for flow in scenario.flows}
    assert flows[plan.objective.flow] == plan.base()["flow"][0]["controller"]
    assert scenario.source == cell.source


def test_the_suite_has_the_cases_in_their_order() -> None:
    assert tuple(entry.name for entry in Suite.find(SUITE).entries) == NAMES


def test_scenarios_count_until_the_bound() -> None:
    assert until(find(0.05, None, 0.1, 0.2), 0.1) == 3
    assert until(find(0.05, None, 0.099), 0.1) is None


def test_a_case_is_found_by_more_than_half_of_its_hunts() -> None:
    cell = CASES[0]
    hit, miss = find(0.05, 0.3), find(0.05, 0.06)
    answers = [check.answer for check in checks({cell: measured(*[hit] * 6, shipped=0.2)})]
    assert answers == ["holds", "holds"]
    answers = [check.answer for check in checks({cell: measured(*[miss] * 6, shipped=0.05)})]
    assert answers == ["fails", "fails"]
    # 4 of 6 are between 22 and 96 %, by Clopper and Pearson.
    answers = [check.answer for check in checks({cell: measured(*[hit] * 4, miss, miss, shipped=0.2)})]
    assert answers[0] == "undecided"


def test_a_row_has_medians_over_hunts() -> None:
    found = row(CASES[0], measured(find(0.05, 0.3), find(0.2), find(0.01), shipped=0.15))
    assert (found["found"], found["reached"], found["hunts"], found["scenarios"]) == (0.2, 2, 3, 1.5)
    assert (found["shipped"], found["n"], found["baseline"]) == (0.15, 20, 0.01)


def test_the_study_runs_from_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "hunt", "--case", "c4-low-and-up", "--hunts", "1", "--budget", "8", "-n", "2"]
    assert main([*words, "--format", "json"]) in (0, 1, 2)
    document = json.loads(capsys.readouterr().out)
    (only,) = document["rows"]
    assert only["case"] == "c4-low-and-up"
    assert only["found"] > only["baseline"] > 1
    assert len(document["checks"]) == 2


@pytest.mark.parametrize(
    ("given", "says"), [({"cases": ("c4-stall",)}, "there is no such case"), ({"hunts": 0}, "1 to 100")]
)
def test_what_cannot_be_hunted_is_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises(RequestError, match=says):
        Parameters(**given)  # type: ignore[arg-type]


def test_ctrl_c_during_a_baseline_ends_the_case_and_not_the_study() -> None:
    class Impatient(Threads):
        def play(self, *_: object, **__: object) -> None:
            raise KeyboardInterrupt

    cell = CASES[-1]
    trials = CellTrials(Parameters().scenario(cell), 2, 1, Impatient(1), unheard)
    with pytest.raises(Interrupted):
        measure(Parameters(hunts=1, budget=2), cell, trials)
