"""A call that is better because it sends less says so."""

from __future__ import annotations

import pytest

from thalweg import Scenario
from thalweg.results.comparison.suites import compare_results
from thalweg.results.comparison.traded import traded
from thalweg.results.suite_result import SuiteResult

CALL = """
title = "A call over Wi-Fi that loses"
time_limit = "15 s"
[path]
rate = "20 Mbps"
rtt = "30 ms"
buffer = "200 ms"
loss = "0.5 %"
jitter = { model = "two-components", fraction = "1.899 %", short = "2.498 ms", long = "7.538 ms" }
[[flow]]
name = "call"
background = true
controller = "NAME"
[[flow.media]]
name = "video"
carriage = "datagrams"
per_second = 30
duration = "14 s"
rate = { least = "300 kbps", most = "3 Mbps" }
"""


def played(controller: str, seed: int = 1, trials: int = 12) -> SuiteResult:
    result = SuiteResult(None, "by hand", None, seed=seed)
    scenario = Scenario.from_toml(CALL.replace("NAME", controller), "call")
    result.outcomes.append(scenario.trials(trials, seed))
    return result


@pytest.fixture(scope="module")
def sides() -> tuple[SuiteResult, SuiteResult]:
    return played("gcc"), played("c4")


def test_a_call_without_criteria_is_compared_by_its_media_and_not_by_its_end(
    sides: tuple[SuiteResult, SuiteResult],
) -> None:
    subjects = [row.a.subject for row in compare_results(*sides)]
    assert "call video media-rate" in subjects
    assert "call video frozen" in subjects
    assert not any("completion" in subject or subject == "call rate" for subject in subjects)


def test_what_is_bought_with_rate_is_said_from_either_side(sides: tuple[SuiteResult, SuiteResult]) -> None:
    a, b = sides
    (one,) = traded(compare_results(a, b), a, b)
    (other,) = traded(compare_results(b, a), b, a)
    # GCC stays near its least, a tenth of what C4 sends.
    assert (one.better, other.better) == ("A", "B")
    assert 0.08 < one.rate < 0.25
    assert (one.stream, one.metrics, one.rate) == (other.stream, other.metrics, other.rate)
    assert "p95-delay" in one.metrics
    assert one.text("C").endswith("% of the rate of C.")
    assert other.text("C").startswith("C is better for call video (")


def test_nothing_is_bought_where_both_are_the_same_controller(sides: tuple[SuiteResult, SuiteResult]) -> None:
    for other in (sides[0], played("gcc", seed=1001)):
        assert traded(compare_results(sides[0], other), sides[0], other) == []
