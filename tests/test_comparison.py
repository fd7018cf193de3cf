"""Two results side by side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thalweg.comparison import compare_results
from thalweg.errors import RequestError
from thalweg.outcome import Outcomes
from thalweg.results import SuiteResult

Make = Callable[..., Outcomes]


def result(outcomes: Outcomes) -> SuiteResult:
    return SuiteResult(None, "by hand", None, seed=1, outcomes=[outcomes])


def test_trials_are_paired_by_seed_not_by_index(outcomes_of: Make) -> None:
    a = result(outcomes_of([1.0, 2.0, 3.0], seed=1))
    b = result(outcomes_of([2.5, 3.5, 9.0], seed=2))
    (row,) = compare_results(a, b)
    # Seeds 2 and 3 are in both: 2.5 - 2.0 and 3.5 - 3.0.
    assert row.paired is not None
    assert (row.paired.n, row.paired.median_difference) == (2, 0.5)
    assert row.paired.low95 is None


def test_the_interval_of_the_median_difference_follows_the_sign_test(outcomes_of: Make) -> None:
    # Ten differences 1..10: P(Bin(10, 1/2) <= 1) = 11/1024 = 1.1 % but P(<= 2) = 5.5 %, so the interval
    # goes from the second smallest to the second largest.
    a = result(outcomes_of([0.0] * 10))
    b = result(outcomes_of([float(i) for i in range(1, 11)]))
    (row,) = compare_results(a, b)
    assert row.paired is not None
    assert (row.paired.low95, row.paired.high95) == (2.0, 9.0)
    assert row.paired.b_better == 0


def test_pairs_in_which_one_did_not_finish_are_left_out(outcomes_of: Make) -> None:
    a = result(outcomes_of([1.0, 1.0]))
    b = result(outcomes_of([0.5, float("nan")]))
    (row,) = compare_results(a, b)
    assert row.paired is not None
    assert (row.paired.n, row.paired.b_better) == (1, 1)
    assert row.b.failures == 1


def test_results_without_a_common_scenario_cannot_be_compared(outcomes_of: Make) -> None:
    with pytest.raises(RequestError, match="no scenario with the same criterion"):
        compare_results(result(outcomes_of([1.0], name="x")), result(outcomes_of([1.0], name="y")))
