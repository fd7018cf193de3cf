"""The suites of published documents: what their scenarios say, and that any controller plays them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.tables import suites
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.scenario import Scenario

DOCS = Path(__file__).parents[2] / "docs"
ALL = [(name, entry) for name in suites.SUITES for entry in Suite.find(name).entries]


@pytest.mark.parametrize("name", suites.SUITES)
def test_a_suite_names_its_document_its_trials_and_what_they_take(name: str) -> None:
    suite = Suite.find(name)
    assert suite.source
    assert suite.takes
    assert 1 <= suite.trials <= 100
    page = suites.page(name).read_text(encoding="utf-8")
    missing = [entry.name for entry in suite.entries if f"| {entry.name} |" not in page]
    assert not missing, "make pages"
    assert f"](evidence/suites/{name}.md)" in (DOCS / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "entry"), ALL, ids=lambda value: getattr(value, "name", value))
def test_a_scenario_says_where_it_deviates_and_has_criteria(name: str, entry: Entry) -> None:
    scenario = Scenario.load(f"{name}/{entry.name}")
    assert scenario.note
    assert scenario.source
    assert scenario.criteria
    assert any(flow["name"] == "main" for flow in scenario.flows)


@pytest.mark.parametrize("controller", ["c4", "cubic", "gcc"])
@pytest.mark.parametrize("name", suites.SUITES)
def test_any_controller_plays_the_main_flow(name: str, controller: str) -> None:
    entry = Suite.find(name).entries[0]
    outcomes = Scenario.from_entry(entry, controllers=[("main", controller)]).trials(1)
    main = next(flow for flow in outcomes.scenario.flows if flow["name"] == "main")
    assert main["controller"] == controller
    assert outcomes.verdict().answer in ("holds", "fails", "infeasible")


@pytest.mark.soak
def test_our_bbr_holds_what_the_draft_expects_and_cubic_does_not() -> None:
    def answers(controller: str) -> dict[str, str | None]:
        played: dict[str, str | None] = {}
        for entry in Suite.find("bbr-draft").entries:
            outcomes = Scenario.from_entry(entry, controllers=[("main", controller)]).trials(1)
            played[entry.name] = outcomes.verdict().answer
        return played

    assert {name for name, answer in answers("bbr").items() if answer != "holds"} == set()
    # A count of no entries, a rate and a loss hold for any controller.
    passed = {name for name, answer in answers("cubic").items() if answer == "holds"}
    assert passed <= {"07-startup-app-limited"}
