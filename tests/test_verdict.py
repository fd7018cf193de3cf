"""Pass criteria and their statistics, on outcomes made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from thalweg.errors import RequestError
from thalweg.outcome import Outcomes
from thalweg.verdict import column_of, judge, percentile, rate_upper_bound

Make = Callable[..., Outcomes]
NAN = math.nan


def test_a_scenario_passes_when_every_trial_is_at_or_under_the_target(outcomes_of: Make) -> None:
    verdict = outcomes_of([4.5, 5.0]).verdict()
    assert verdict.answer == "pass"
    assert verdict.criteria[0].failures == 0


def test_one_trial_over_the_target_fails_the_scenario(outcomes_of: Make) -> None:
    verdict = outcomes_of([4.5, 5.000001, 4.5]).verdict()
    assert verdict.answer == "fail"
    assert verdict.criteria[0].failures == 1
    assert verdict.worst_trial == 1


def test_a_flow_that_did_not_finish_is_worse_than_any_that_did(outcomes_of: Make) -> None:
    verdict = outcomes_of([4.5, NAN, 4.9]).verdict()
    (statistics,) = verdict.criteria
    assert verdict.answer == "fail"
    assert math.isinf(statistics.worst)
    assert statistics.worst_trial == 1
    assert statistics.median == 4.9  # of 4.5, 4.9, infinite
    assert statistics.document()["worst"] is None


def test_a_target_below_the_floor_is_infeasible_whatever_the_trials_say(outcomes_of: Make) -> None:
    assert outcomes_of([3.0], at_most=3.9, floor=4.0).verdict().answer == "infeasible"
    assert outcomes_of([9.0], at_most=3.9, floor=4.0).verdict().answer == "infeasible"
    assert outcomes_of([9.0], at_most=4.0, floor=4.0).verdict().answer == "fail"


def test_a_criterion_for_information_does_not_decide(outcomes_of: Make) -> None:
    strict = {"flow": "main", "metric": "completion", "at_most": 4.1, "unit": "s", "informative": True}
    verdict = outcomes_of([4.5], more_criteria=[strict]).verdict()
    assert [one.answer for one in verdict.criteria] == ["pass", "fail"]
    assert verdict.answer == "pass"


def test_a_failure_outweighs_an_infeasible_criterion(outcomes_of: Make) -> None:
    impossible = {"flow": "main", "metric": "completion", "at_most": 1.0, "unit": "s", "floor": 4.0}
    assert outcomes_of([4.5], more_criteria=[impossible]).verdict().answer == "infeasible"
    assert outcomes_of([5.5], more_criteria=[impossible]).verdict().answer == "fail"


def test_a_scenario_without_criteria_has_no_verdict(outcomes_of: Make) -> None:
    outcomes = outcomes_of([4.5])
    outcomes.scenario.criteria.clear()
    assert outcomes.verdict().answer is None
    assert outcomes.verdict().worst_trial == 0


def test_percentiles_interpolate_between_order_statistics() -> None:
    values = np.array([1.0, 2.0, 3.0, 10.0])
    # Position (4 - 1) * 0.95 = 2.85: 3 + 0.85 * 7.
    assert percentile(values, 0.95) == pytest.approx(8.95)
    assert percentile(values, 0.5) == np.percentile(values, 50)
    assert percentile(values, 1.0) == 10.0


def test_percentiles_between_unfinished_trials_are_infinite_not_undefined() -> None:
    assert math.isinf(percentile(np.array([1.0, np.inf, np.inf]), 0.9))
    assert percentile(np.array([1.0, 1.0, np.inf]), 0.5) == 1.0


@pytest.mark.parametrize(
    ("failures", "n", "bound"),
    [
        (0, 100, 1 - 0.05 ** (1 / 100)),  # (1 - p)^100 = 0.05
        (0, 1, 0.95),
        (99, 100, 0.95 ** (1 / 100)),  # P(X <= 99) = 1 - p^100 = 0.05
        (5, 5, 1.0),
    ],
)
def test_the_failure_rate_bound_solves_its_binomial_equation(failures: int, n: int, bound: float) -> None:
    assert rate_upper_bound(failures, n) == pytest.approx(bound, rel=1e-9)


def test_a_metric_finds_its_column_by_the_unit_or_by_the_stem() -> None:
    columns = ["completion_s", "mean_rtt_s", "bytes_delivered", "mean_rate_bps"]
    assert column_of({"metric": "mean_rtt", "unit": "s"}, columns) == "mean_rtt_s"
    assert column_of({"metric": "mean_rate", "unit": "bits/s"}, columns) == "mean_rate_bps"
    assert column_of({"metric": "anything", "column": "bytes_delivered"}, columns) == "bytes_delivered"
    with pytest.raises(RequestError, match="no outcome measures 'mean_rtx'; did you mean mean_rtt_s"):
        column_of({"metric": "mean_rtx"}, columns)


def test_two_streams_of_one_flow_are_two_subjects() -> None:
    flows = pl.DataFrame({"trial": [0], "flow": "main", "audio_mean_delay_s": 0.03, "video_mean_delay_s": 0.06})
    criteria = [
        {
            "flow": "main",
            "stream": stream,
            "metric": "mean-delay",
            "column": f"{stream}_mean_delay_s",
            "at_most": 0.05,
        }
        for stream in ("audio", "video")
    ]
    audio, video = judge(criteria, flows).criteria
    assert (audio.subject, audio.answer) == ("main audio mean-delay", "pass")
    assert (video.subject, video.answer) == ("main video mean-delay", "fail")
