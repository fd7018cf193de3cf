"""Comparison of two results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.comparison.study import StoredStudy
from thalweg.experiments.comparison.suite import StoredSuite
from thalweg.judging.comparison.row import compare_samples, judge
from thalweg.judging.comparison.sample import Sample
from thalweg.judging.comparison.worse import find_worse
from thalweg.judging.statistics.rates import chance_of_more
from thalweg.judging.verdict import Statistics
from thalweg.results.comparison.suites import compare_failures, compare_results
from thalweg.results.suite_result import SuiteResult

Make = Callable[..., Outcomes]
NAN = float("nan")


def result(*outcomes: Outcomes, seed: int = 1) -> SuiteResult:
    return SuiteResult(None, "by hand", None, seed=seed, outcomes=list(outcomes))


def stored(of: SuiteResult) -> StoredSuite:
    return StoredSuite.of(of, Path())


def test_trials_are_paired_by_seed_not_by_index(outcomes_of: Make) -> None:
    a = result(outcomes_of([1.0, 2.0, 3.0], seed=1))
    b = result(outcomes_of([2.5, 3.5, 9.0], seed=2))
    (row,) = compare_results(a, b)
    # Seeds 2 and 3 are in both: 2.5 - 2.0 and 3.5 - 3.0.
    assert row.paired is not None
    assert (row.paired.n, row.paired.difference.interval.value) == (2, 0.5)
    assert row.paired.difference.interval.low == -math.inf
    assert (row.document()["pairs"]["n"], row.document()["paired"]) == (2, False)


def test_the_interval_of_the_median_difference_follows_the_sign_test(outcomes_of: Make) -> None:
    # Ten differences 1..10: P(Bin(10, 1/2) <= 1) = 11/1024 = 1.1 % and P(<= 2) = 5.5 %: the interval begins
    # between the second and the third, nearer to the second.
    a = result(outcomes_of([0.0] * 10))
    b = result(outcomes_of([float(i) for i in range(1, 11)]))
    (row,) = compare_results(a, b)
    assert row.paired is not None
    interval = row.paired.difference.interval
    assert 2.0 < interval.low < 2.7
    assert interval.high == pytest.approx(11 - interval.low)
    assert row.paired.b_better == 0


def test_a_trial_that_was_cut_off_stays_in_and_is_worse_than_all_that_finished(outcomes_of: Make) -> None:
    # b is slower by 0.8 s in every trial; a limit at 10 s cuts those off that would take longer.
    times = np.linspace(7.0, 10.5, 100)
    a = result(outcomes_of([t if t <= 10 else NAN for t in times], at_most=20))
    b = result(outcomes_of([t + 0.8 if t + 0.8 <= 10 else NAN for t in times], at_most=20))
    (row,) = compare_results(a, b)
    assert isinstance(row.a, Statistics)
    assert isinstance(row.b, Statistics)
    assert row.b.failures > row.a.failures > 0
    assert row.paired is not None
    assert (row.paired.n, row.paired.b_better) == (100, 0)
    assert row.paired.difference.interval.value == pytest.approx(0.8)
    assert row.paired.ties == row.a.failures  # where neither finished nobody knows who is faster
    assert row.answer == "worse"


def test_most_trials_unfinished_make_the_difference_infinite_and_json_keeps_it_apart(outcomes_of: Make) -> None:
    a, b = result(outcomes_of([1.0] * 10)), result(outcomes_of([1.0] * 3 + [NAN] * 7))
    (row,) = compare_results(a, b)
    assert row.paired is not None
    assert math.isinf(row.paired.difference.interval.value)
    assert (row.document()["value"], row.document()["change"]) == (None, None)


def test_a_dead_call_is_worse_than_a_slow_one() -> None:
    scenario = Scenario.load("c4/media-10mbps")
    alive = scenario.trials(2)
    dead = replace(alive, flows=alive.flows.with_columns(finished=pl.lit(value=False)))
    for row in compare_results(result(alive), result(dead)):
        assert math.isinf(row.unpaired.interval.value)


def test_seeds_in_common_between_suites_that_began_from_different_seeds_are_counted(outcomes_of: Make) -> None:
    a, b = result(outcomes_of([1.0] * 100, seed=1), seed=1), result(outcomes_of([1.0] * 100, seed=2), seed=2)
    assert stored(a).shared_seeds(stored(b)) == 99
    assert stored(a).shared_seeds(stored(a)) == 0  # pairs, as asked for
    (row,) = compare_results(a, b)
    assert row.paired is not None
    assert row.paired.ties == 99


def test_trials_without_common_seeds_are_compared_all_with_all(outcomes_of: Make) -> None:
    a = result(outcomes_of([1.0 + 0.01 * i for i in range(30)], seed=1))
    b = result(outcomes_of([2.0 + 0.01 * i for i in range(30)], seed=1001))
    (row,) = compare_results(a, b)
    assert row.paired is None
    assert row.sharper is row.unpaired
    assert row.unpaired.interval.value == pytest.approx(1.0)
    assert 0.9 < row.unpaired.interval.low < 1.0 < row.unpaired.interval.high < 1.1
    assert row.answer == "worse"


def test_pairs_are_used_where_they_are_sharper_and_only_there(outcomes_of: Make) -> None:
    rng = np.random.default_rng(4)
    path, noise, other = rng.normal(5, 1, 100), rng.normal(0, 0.1, 100), rng.normal(5, 1, 100)
    a = result(outcomes_of(path.tolist()))
    (alike,) = compare_results(a, result(outcomes_of((path + 0.2 + noise).tolist())))
    assert alike.pairs_are_sharper
    assert alike.sharper.interval.low > 0.1  # all with all does not find 0.2 in a scatter of 1
    assert alike.unpaired.interval.low < 0 < alike.unpaired.interval.high
    (unrelated,) = compare_results(a, result(outcomes_of(other.tolist())))
    assert unrelated.paired is not None
    assert abs(unrelated.paired.rank_correlation) < 1 / 3
    assert not unrelated.pairs_are_sharper


def test_a_difference_within_the_margin_is_none_however_sure_it_is(outcomes_of: Make) -> None:
    times = [4.0 + 0.01 * i for i in range(100)]
    a, b = result(outcomes_of(times)), result(outcomes_of([t + 11e-6 for t in times]))
    (row,) = compare_results(a, b)
    assert row.sharper.interval.low > 0
    assert row.answer == "alike"
    (strict,) = compare_results(a, b, margin=0.0)
    assert strict.answer == "worse"


@pytest.mark.parametrize(("n", "told"), [(3, "undecided"), (4, "alike")])
def test_to_be_alike_takes_as_many_trials_as_an_interval_does(n: int, told: str, outcomes_of: Make) -> None:
    times = [4.0 + 0.001 * i for i in range(n)]
    (row,) = compare_results(result(outcomes_of(times, seed=1)), result(outcomes_of(times, seed=1001)))
    assert row.answer == told


def test_cubic_against_cubic_on_other_seeds_does_not_differ() -> None:
    overrides = {"main": "cubic"}
    names = ("c4/bad-wifi", "c4/wifi-fade", "c4/media-bad-wifi")
    first, second = (
        [Scenario.load(name, controllers=overrides).trials(30, seed=seed) for name in names]
        for seed in (1, 100_001)
    )
    rows = compare_results(result(*first), result(*second), margin=0.0)
    assert len(rows) >= 3
    assert not [row.scenario for row in rows if row.answer in ("better", "worse")]


def test_results_without_a_common_scenario_cannot_be_compared(outcomes_of: Make) -> None:
    with pytest.raises(RequestError, match="no scenario with the same criterion"):
        compare_results(result(outcomes_of([1.0], name="x")), result(outcomes_of([1.0], name="y")))


def test_the_more_is_compared_the_more_trials_it_takes_to_call_one_worse(outcomes_of: Make) -> None:
    (row,) = compare_results(
        result(outcomes_of([1.0, 1.1, 1.2, 1.3])), result(outcomes_of([1.0, 1.1, 1.2, 1.3], seed=9))
    )
    # Four against four: 0.0152 (normal approximation), enough for three at 0.05 / 3, and not for four at 0.0125.
    assert row.sharper.p_least == pytest.approx(0.0152, abs=1e-4)
    assert [len(find_worse([[row] * n], [[]])[0].undecided) for n in (1, 3, 4)] == [0, 0, 4]


@pytest.mark.parametrize("n", range(2, 12))
def test_so_many_trials_are_untold_where_the_worst_of_them_would_not_be_told(n: int, outcomes_of: Make) -> None:
    times = np.arange(1.0, n + 1)
    (same,) = compare_results(result(outcomes_of(times)), result(outcomes_of(times, seed=100)))
    (worst,) = compare_results(result(outcomes_of(times)), result(outcomes_of(times + 1e3, seed=100)))
    for others in (1, 10, 100, 1000, 10_000):
        (found,) = find_worse([[worst, *[same] * others]], [[]])
        (nothing,) = find_worse([[same] * (others + 1)], [[]])
        assert bool(found.rows) != bool(nothing.undecided), others


def test_the_chance_of_more_failures_is_that_of_all_ways_to_draw_them() -> None:
    # Of 4 failures among 5 and 7 trials, b has at least 3: (C(7,3) C(5,1) + C(7,4)) / C(12,4) = (175 + 35) / 495.
    assert chance_of_more(1, 5, 3, 7) == pytest.approx(210 / 495)
    assert chance_of_more(0, 100, 0, 100) == chance_of_more(2, 2, 3, 3) == 1.0


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3])
def test_two_rates_that_are_equal_are_called_different_no_more_often_than_promised(rate: float) -> None:
    rng = np.random.default_rng(11)
    counts = rng.binomial(100, rate, (2000, 2))
    alarms = sum(chance_of_more(int(a), 100, int(b), 100) <= 0.05 for a, b in counts)
    # 5 % of 2000 and three standard deviations: 100 + 3 sqrt(2000 * 0.05 * 0.95) = 129.
    assert alarms <= 129


@pytest.mark.soak
def test_of_sixteen_sets_of_trials_of_one_controller_hardly_any_is_worse_than_another() -> None:
    # Scenarios that some trials of a hundred fail: by verdicts alone, every second pair had something broken.
    names = ("c4/bad-wifi", "c4/media-bad-wifi", "c4/c4-short", "c4/c4-bad-wifi")
    scenarios = [Scenario.load(name) for name in names]
    results = [
        result(*(one.trials(50, seed=1 + 1000 * k) for one in scenarios), seed=1 + 1000 * k) for k in range(16)
    ]
    pairs = list(permutations(results, 2))
    found = [find_worse([compare_results(a, b, 0.05, of_a=True)], [compare_failures(a, b)])[0] for a, b in pairs]
    changed = sum(bool(one.changed) for one in found) / len(pairs)
    false = sum(bool(one.rows or one.failures) for one in found) / len(pairs)
    assert changed > 0.1  # there is something to be taken for a loss
    assert false <= 0.05


def sample(subject: str, values: list[float]) -> Sample:
    return Sample(subject, pl.DataFrame({"seed": range(1, len(values) + 1), "value": values}))


def test_the_margin_is_a_share_of_the_smaller_median_whatever_its_sign() -> None:
    a, b = sample("gain", [-10.0] * 8), sample("gain", [-1.0] * 8)
    assert compare_samples("cell", a, b, 0.01).margin == pytest.approx(0.01)
    assert compare_samples("cell", a, b, 0.01, of_a=True).margin == pytest.approx(0.1)
    assert compare_samples("cell", sample("gain", [math.inf] * 8), b, 0.01, of_a=True).margin == 0.0


def test_values_that_differ_by_rounding_are_ties() -> None:
    a, b = sample("share", [0.3] * 8), sample("share", [0.1 + 0.2] * 8)
    (row,) = judge([compare_samples("cell", a, b, 0.01)])
    assert row.paired is not None
    assert (row.paired.ties, row.sharper.interval.value, row.answer) == (8, 0.0, "alike")


def test_seeds_are_shared_by_any_number_of_a_cell(tmp_path: Path) -> None:
    def study(seed: int, last: list[float]) -> StoredStudy:
        found = {("c4", "share"): sample("share", [0.5] * 8), ("c4", "stable"): sample("stable", last)}
        of = StoredStudy(tmp_path, "0.1.0", seed, "harm", [], (), 8, None)
        of.__dict__["_samples"] = found
        return of

    assert study(1, [0.5] * 2).shared_seeds(study(2, [0.5] * 3)) == 8
    assert study(1, [0.5]).shared_seeds(study(1, [0.5])) == 0
