"""The states of C4 among rivals, by the rule of the draft, as `thalweg suite c4-05 --against bbr` has it."""

from __future__ import annotations

from pages.c4_05.states import STATES
from pages.c4_05.trials import TRIALS
from pages.made import row
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario
from thalweg.results.against import table
from thalweg.results.against.rivals import with_rivals
from thalweg.results.against.standing import Standing, stand
from thalweg.results.suite_result import SuiteResult

RIVALS = {"ours": ("bbr", "cubic"), "picoquic's": ("bbr:variant=picoquic", "cubic:variant=picoquic")}


def standing(main: str, rivals: tuple[str, ...]) -> Standing:
    """Where a controller stands in the suite."""
    suite = Suite.find("c4-05")
    bound = [("main", main)]
    scenarios = [Scenario.from_entry(entry, (), bound) for entry in suite.entries]
    result = SuiteResult(suite.name, suite.title, suite.source, 1)
    for scenario in with_rivals(suite, suite.entries, scenarios, rivals, [], bound):
        result.add(scenario.trials(TRIALS))
    found = stand(result)
    assert found is not None
    return found


def tables() -> str:
    """How often each state is best and worst; and where the state with published results is worst."""
    lines, worst = [], []
    for state, controller in STATES.items():
        for whose, rivals in RIVALS.items():
            found = standing(controller, rivals)
            lines += [row(state, whose, *cells) for cells in table.count_rows(found)]
            if state == "draft-05":
                worst += [
                    row(place.scenario, place.measure.name, whose, table.gap_text(place)) for place in found.worst
                ]
    head = row("C4", "rivals", *table.COUNT_HEADERS)
    rule = row(*[":--"] * (2 + table.COUNT_LEFT), *["--:"] * (len(table.COUNT_HEADERS) - table.COUNT_LEFT))
    places = [row("test", "metric", "rivals", "gap to the best"), row(":--", ":--", ":--", "--:"), *worst]
    return "\n".join([head, rule, *lines, "", "Where draft-05 is worse than both rivals:", "", *places])
