"""The overview of a report: what fails first, and every trial in its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from thalweg.engine.outcome import Outcomes
from thalweg.pages.report import overview, write_report
from thalweg.results.suite_result import SuiteResult

MakeOutcomes = Callable[..., Outcomes]


def lines(strip: str, kind: str) -> list[int]:
    """Where a strip has lines of a kind."""
    found = re.search(rf'<path class="{kind}" d="([^"]*)"', strip)
    return [int(x) for x in re.findall(r"M(\d+) -?\d+V\d+", found.group(1))] if found else []


def test_failures_come_first_and_else_the_order_of_the_suite(outcomes_of: MakeOutcomes) -> None:
    good, bad, better = outcomes_of([4.0, 4.1]), outcomes_of([4.0, 9.0]), outcomes_of([3.5])
    rows = overview.rows([good, bad, better])
    assert [row.answer for row in rows] == ["fails", "holds", "holds"]
    assert [row.failures for row in rows] == ["1 of 2", "0 of 2", "0 of 1"]


def test_every_trial_is_a_line_between_floor_and_target(outcomes_of: MakeOutcomes) -> None:
    outcomes = outcomes_of([4.0, 4.5, 6.0], at_most=5.0, floor=3.0)
    (row,) = overview.rows([outcomes])
    # From 3 s to 6 s with 2 % of room at both ends: 3.12 s are 1000 units.
    assert lines(row.strip, "floor") == [round(1000 * 0.06 / 3.12)]
    assert lines(row.strip, "held") == [round(1000 * 1.06 / 3.12), round(1000 * 1.56 / 3.12)]
    assert lines(row.strip, "target") == [round(1000 * 2.06 / 3.12)]
    assert lines(row.strip, "over") == [round(1000 * 3.06 / 3.12)]
    assert row.margin == "-20.0 %"
    assert "3 trials, median 4.5 s, worst 6 s, floor 3 s, target 5 s" in row.strip


def test_unfinished_trials_have_no_line_and_are_reported(outcomes_of: MakeOutcomes) -> None:
    (row,) = overview.rows([outcomes_of([4.0, float("nan")])])
    assert (row.answer, row.margin, row.failures) == ("fails", "did not finish", "1 of 2")
    assert not lines(row.strip, "over")
    assert len(lines(row.strip, "held")) == 1


@pytest.mark.parametrize("values", [[4.0, 4.0], [0.0], [float("nan")]])
def test_a_strip_of_one_value_or_none_can_be_drawn(outcomes_of: MakeOutcomes, values: list[float]) -> None:
    (row,) = overview.rows([outcomes_of(values, floor=None)])
    assert "NaN" not in row.strip
    assert len(lines(row.strip, "target")) == 1


def test_the_criterion_with_the_least_margin_is_shown(outcomes_of: MakeOutcomes) -> None:
    first = outcomes_of([4.0, 4.5]).scenario.criteria[0]
    more = [{**first, "at_most": 4.6}, {**first, "at_most": 1.0, "informative": True}]
    outcomes = outcomes_of([4.0, 4.5], more_criteria=more)
    (row,) = overview.rows([outcomes])
    assert row.criterion.endswith("4.6 s")
    assert row.margin == "2.2 %"  # 0.1 of 4.6


def test_a_criterion_of_a_least_value_says_so_on_the_page(outcomes_of: MakeOutcomes, tmp_path: Path) -> None:
    least = {"flow": "main", "metric": "completion", "source": None, "at_least": 1.0, "unit": "s", "in": 0.9}
    outcomes = outcomes_of([2.0 + 0.01 * trial for trial in range(20)], more_criteria=[least])
    write_report(SuiteResult(None, "by hand", None, seed=1, outcomes=[outcomes]), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    row = page[page.index("main completion \N{GREATER-THAN OR EQUAL TO} 1 s in 90 %") :]
    # The 5 smallest of 40 are all among 20 in 20 19 18 17 16 / (40 39 38 37 36) = 2.4 % of cases, 4 in 5.3 %.
    assert "2 s (&le; 2.04 s)" in row[: row.index("</tr>")]
