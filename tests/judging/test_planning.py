"""How many trials a difference needs: the plan is held against tests of that many trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.comparison.side import Samples
from thalweg.experiments.comparison.suite import StoredSuite
from thalweg.judging.comparison.planning import Planned, plan
from thalweg.judging.statistics.differences import in_pairs, of_all
from thalweg.judging.statistics.interval import Values
from thalweg.results.comparison.suites import compare_results
from thalweg.results.suite_result import SuiteResult

Make = Callable[..., Outcomes]
MARGIN = 0.01


def result(*outcomes: Outcomes, seed: int = 1) -> SuiteResult:
    return SuiteResult(None, "by hand", None, seed=seed, outcomes=list(outcomes))


def samples(*outcomes: Outcomes) -> Samples:
    return StoredSuite.of(result(*outcomes), Path()).samples()


def told(a: Values, b: Values, paired: bool) -> bool:
    """Whether the trials tell that b is larger by more than the margin."""
    found = in_pairs(a, b, MARGIN * 10) if paired else of_all(a, b, MARGIN * 10)
    return found.p_differs <= 0.05 and found.interval.low > MARGIN * 10


@pytest.mark.parametrize("spread", [0.1, 0.3])
@pytest.mark.parametrize("skewed", [False, True])
def test_so_many_trials_tell_the_difference_in_nine_of_ten_cases(
    spread: float, skewed: bool, outcomes_of: Make
) -> None:
    rng = np.random.default_rng([7, int(100 * spread), skewed])

    def draw(n: int) -> Values:
        return 10 + spread * (rng.exponential(1, n) - math.log(2) if skewed else rng.normal(0, 1, n))

    (planned,) = plan(samples(outcomes_of(draw(400).tolist(), at_most=99)), None, 0.02, MARGIN)
    assert planned.needs is not None
    assert planned.needs > 6
    found = [told(draw(planned.needs), draw(planned.needs) + planned.difference, False) for _ in range(400)]
    assert 0.82 < np.mean(found) < 0.985
    half = planned.needs // 2
    assert np.mean([told(draw(half), draw(half) + planned.difference, False) for _ in range(400)]) < 0.8


def test_pairs_are_planned_as_pairs(outcomes_of: Make) -> None:
    rng = np.random.default_rng(3)

    def draw(n: int) -> Sequence[Values]:
        path = 10 + rng.normal(0, 1, n)
        return path, path + rng.normal(0, 0.3, n)

    a, b = draw(400)
    first, second = (result(outcomes_of(of.tolist(), at_most=99)) for of in (a, b))
    (planned,) = plan({}, compare_results(first, second), 0.02, MARGIN)
    assert planned.in_pairs
    assert planned.needs is not None
    of_b = [
        told(ours, theirs + planned.difference, True) for ours, theirs in (draw(planned.needs) for _ in range(400))
    ]
    assert 0.82 < np.mean(of_b) < 0.985
    (alone,) = plan(samples(outcomes_of(a.tolist(), at_most=99)), None, 0.02, MARGIN)
    assert alone.needs is not None
    assert alone.needs > 4 * planned.needs  # ten times the variance, without pairs


def test_a_plan_says_where_trials_do_not_tell(outcomes_of: Make) -> None:
    def needs(times: Sequence[float]) -> Planned:
        (planned,) = plan(samples(outcomes_of(times, at_most=99)), None, 0.02, MARGIN)
        return planned

    assert needs([10.0] * 20).needs == 8  # without variation: (1.96 + 1.28)^2 / (6 / 4) = 7.005
    assert needs([10.0] * 5).needs is None
    assert needs([math.nan] * 20).needs is None
    assert needs([10.0 + trial % 7 for trial in range(20)]).n == 20
    with pytest.raises(RequestError, match="a difference of 1 % does not count: accepted: more than 1 %"):
        plan(samples(outcomes_of([10.0] * 20)), None, 0.01, MARGIN)


def test_more_comparisons_need_more_trials(outcomes_of: Make) -> None:
    rng = np.random.default_rng(5)
    times = (10 + 0.2 * rng.normal(0, 1, 100)).tolist()
    one = samples(outcomes_of(times, at_most=99))
    many = samples(*(outcomes_of(times, at_most=99, name=f"s{number}") for number in range(30)))
    (alone,) = plan(one, None, 0.02, MARGIN)
    among = plan(many, None, 0.02, MARGIN)
    assert len(among) == 30
    # (z of 0.05 / 30 + 1.28)^2 / (z of 0.05 + 1.28)^2 = (3.14 + 1.28)^2 / (1.96 + 1.28)^2 = 1.86
    assert alone.needs is not None
    assert {round((planned.needs or 0) / alone.needs, 1) for planned in among} <= {1.8, 1.9}
