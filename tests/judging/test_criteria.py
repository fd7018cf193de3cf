"""Criteria beyond the largest completion: other metrics, least values, and shares of trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from thalweg.cli.tables import criterion_text, failures_text
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.judging.statistics.rates import rate_lower_bound, rate_upper_bound
from thalweg.judging.verdict import Statistics, judge
from thalweg.pages.figures import plot_distribution
from thalweg.pages.report.overview import margin, rows

Make = Callable[..., Outcomes]
NAN = math.nan

CALM = """
title = "Two of a kind"
time_limit = "10 s"

[path]
rate = "10 Mbps"
rtt = "40 ms"

[[flow]]
name = "a"
controller = "cubic"
download = "2 MB"

[[flow]]
name = "b"
controller = "cubic"
download = "100 MB"
background = true
"""


def of(values: list[float], **criterion: Any) -> Statistics:
    """The statistics of a criterion on a rate, of trials with these values, in which the flow finished or not."""
    finished = criterion.pop("finished", True)
    flows = pl.DataFrame(
        {"trial": range(len(values)), "flow": "main", "mean_rate_bps": values, "finished": finished}
    )
    asked = {"flow": "main", "metric": "rate", "column": "mean_rate_bps", "unit": "bps", **criterion}
    (statistics,) = judge([asked], flows).criteria
    return statistics


def test_a_least_value_is_kept_at_it_and_above() -> None:
    assert of([10.0, 11.0], at_least=10.0).answer == "holds"
    low = of([10.0, 9.999, 30.0], at_least=10.0)
    assert (low.answer, low.failures, low.worst, low.worst_trial) == ("fails", 1, 9.999, 1)
    assert (low.at_least, low.at_most) == (10.0, None)
    assert (of([10.0], at_most=10.0).answer, of([10.001], at_most=10.0).answer) == ("holds", "fails")


@pytest.mark.parametrize(("side", "worst"), [("at_least", -math.inf), ("at_most", math.inf)])
def test_a_value_that_is_missing_is_the_worst_on_either_side(side: str, worst: float) -> None:
    statistics = of([5.0, NAN, 5.0], **{side: 5.0})
    assert (statistics.answer, statistics.worst, statistics.worst_trial) == ("fails", worst, 1)
    assert statistics.document()["worst"] is None


def test_a_rate_counts_whether_the_flow_finished_or_not() -> None:
    assert of([5.0], finished=False, at_least=4.0).answer == "holds"
    times = pl.DataFrame({"trial": [0], "flow": "main", "completion_s": [5.0], "finished": False})
    (late,) = judge([{"flow": "main", "metric": "completion", "at_most": 9.0}], times).criteria
    assert late.answer == "fails"


@pytest.mark.parametrize(
    ("n", "within", "allowed"),
    [(100, 0.95, 5), (20, 0.95, 1), (19, 0.95, 0), (10, 0.9, 1), (3, 0.34, 1), (7, 1.0, 0)],
)
def test_a_share_of_the_trials_may_fail_and_no_more(n: int, within: float, allowed: int) -> None:
    def answer(failures: int) -> str:
        values = [*np.linspace(20.0, 30.0, n - failures), *np.linspace(1.0, 2.0, failures)]
        statistics = of(values, at_least=10.0, **{"in": within})
        assert statistics.failures_allowed == allowed
        return statistics.answer

    assert answer(allowed) == "holds"
    assert answer(allowed + 1) == "fails"


def test_what_the_trials_say_of_a_share_is_bounded_on_both_sides() -> None:
    values = [*np.linspace(20.0, 30.0, 97), 1.0, 2.0, 3.0]
    statistics = of(values, at_least=10.0, **{"in": 0.95})
    # Clopper and Pearson, one-sided: of 3 in 100, 0.82 % to 7.57 %.
    assert statistics.failure_rate_lower95 == pytest.approx(0.0082, abs=1e-4)
    assert statistics.failure_rate_upper95 == pytest.approx(0.0757, abs=1e-4)
    assert failures_text(statistics) == "3, 5 allowed (0.8 % to 7.6 %)"
    assert criterion_text(statistics) == "main rate >= 10 bps in 95 %"
    # A hundred trials that are one prove no more than one: a rate from 5 %, if it failed, or up to 95 %.
    alike = of([1.0] * 100, at_least=10.0, **{"in": 0.95})
    assert alike.failure_rate_lower95 == pytest.approx(0.05)
    assert alike.failure_rate_upper95 == 1.0


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_the_bounds_of_a_failure_rate_hold_as_often_as_they_promise(rate: float) -> None:
    """By the distribution itself: the chance of all numbers of failures whose bound lies on the wrong side."""
    from scipy.stats import binom  # noqa: PLC0415 - takes a second to load

    n = 100
    chance = binom.pmf(np.arange(n + 1), n, rate)
    over = sum(chance[k] for k in range(n + 1) if rate_lower_bound(k, n) > rate)
    under = sum(chance[k] for k in range(n + 1) if rate_upper_bound(k, n) < rate)
    assert 0 < over <= 0.05
    assert under <= 0.05


def test_real_trials_are_judged_by_every_metric_of_a_flow() -> None:
    criteria = [
        ("rate", 'at_least = "1 Mbps"', 'at_least = "9.9 Mbps"'),
        ("loss", 'at_most = "20 %"', 'at_most = "0 %"'),
        ("rtt", 'at_most = "1 s"', 'at_most = "41 ms"'),
        ("queue-delay", 'at_most = "1 s"', 'at_least = "1 s"'),
        ("share", 'at_least = "10 %"', 'at_least = "95 %"'),
    ]
    for metric, easy, hard in criteria:
        for bound, answer in ((easy, "holds"), (hard, "fails")):
            text = f'{CALM}\n[[pass]]\nflow = "a"\nmetric = "{metric}"\n{bound}\n'
            verdict = Scenario.from_toml(text, "calm").trials(4).verdict()
            assert verdict.answer == answer, (metric, bound, verdict.criteria[0].document())


def test_the_floor_of_an_rtt_is_that_of_the_path() -> None:
    text = f'{CALM}\n[[pass]]\nflow = "a"\nmetric = "rtt"\nat_most = "39 ms"\n'
    verdict = Scenario.from_toml(text, "calm").trials(2).verdict()
    assert verdict.criteria[0].floor == pytest.approx(0.040)
    assert verdict.answer == "infeasible"


def test_a_share_of_real_trials_decides_as_it_says() -> None:
    """With the median as the bound, half of the trials fail: 40 % of them may not, 60 % may."""
    text = f'{CALM}\n[path.jitter]\nmodel = "uniform"\nmax = "20 ms"\n[[pass]]\nflow = "a"\nmetric = "rate"\n'
    first = Scenario.from_toml(f'{text}at_least = "1 bps"\n', "calm").trials(20).verdict().criteria[0]
    half = f'at_least = "{int(first.median)} bps"\n'
    for share, answer in (("60 %", "fails"), ("40 %", "holds"), ("100 %", "fails")):
        verdict = Scenario.from_toml(f'{text}{half}in = "{share}"\n', "calm").trials(20).verdict()
        assert verdict.answer == answer, share
        assert verdict.criteria[0].document()["in"] == float(share.split()[0]) / 100


def test_a_page_and_a_figure_show_a_least_value(outcomes_of: Make) -> None:
    outcomes = outcomes_of([4.0, 5.0, 6.0], floor=None)
    criterion = {"flow": "main", "metric": "completion", "at_least": 4.5, "unit": "s"}
    outcomes = replace(outcomes, scenario=replace(outcomes.scenario, criteria=[criterion]))
    (row,) = rows([outcomes])
    assert row.criterion == "main completion \N{GREATER-THAN OR EQUAL TO} 4.5 s"
    assert row.answer == "fails"
    (statistics,) = outcomes.verdict().criteria
    assert margin(statistics) == pytest.approx((4.0 - 4.5) / 4.5)
    assert 'class="over"' in row.strip
    assert "1 under 4.5 s" in str(plot_distribution(outcomes).spec)
