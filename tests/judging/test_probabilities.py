"""Our probabilities are those of scipy, on random input, from single trials to many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from thalweg._native import inverse_regularized_beta, regularized_beta
from thalweg.judging.statistics import probabilities
from thalweg.judging.statistics.discovery import discoveries

RANDOM = np.random.default_rng(8173)


@pytest.mark.parametrize(("most", "error"), [(100, 1e-11), (10_000, 1e-9), (100_000, 1e-7)])
def test_binomial_tails_and_beta_quantiles_are_those_of_scipy(most: int, error: float) -> None:
    for _ in range(200):
        n = int(RANDOM.integers(1, most))
        count, share = int(RANDOM.integers(0, n + 1)), float(RANDOM.uniform(0.001, 0.999))
        above, up_to = probabilities.binomial_above(count, n, share), probabilities.binomial_up_to(count, n, share)
        # A difference of chances beyond any use is none.
        assert above == pytest.approx(special.bdtrc(count, n, share), rel=error, abs=1e-200)
        assert up_to == pytest.approx(special.bdtr(count, n, share), rel=error, abs=1e-200)
        a, b, confidence = (
            count + RANDOM.uniform(0.1, 1),
            n - count + RANDOM.uniform(0.1, 1),
            RANDOM.uniform(0.01, 0.99),
        )
        assert probabilities.beta_quantile(a, b, confidence) == pytest.approx(
            special.betaincinv(a, b, confidence), rel=1e-6
        )


def test_normal_and_student_are_those_of_scipy() -> None:
    for _ in range(500):
        degrees, value = int(RANDOM.integers(1, 200)), float(RANDOM.normal(0, 3))
        confidence = float(RANDOM.uniform(0.001, 0.999))
        assert probabilities.normal_below(value) == pytest.approx(special.ndtr(value), rel=1e-12)
        assert probabilities.student_below(degrees, value) == pytest.approx(
            special.stdtr(degrees, value), rel=1e-9
        )
        assert probabilities.student_quantile(degrees, confidence) == pytest.approx(
            special.stdtrit(degrees, confidence), rel=1e-8, abs=1e-12
        )


def test_ranks_and_discoveries_are_those_of_scipy() -> None:
    for _ in range(200):
        values = RANDOM.integers(0, 20, size=int(RANDOM.integers(1, 40))).astype(float)
        values[RANDOM.uniform(size=len(values)) < 0.1] = np.inf
        assert probabilities.ranks(values).tolist() == stats.rankdata(values).tolist()
        chances = RANDOM.uniform(0, 1, size=len(values)) ** 3
        adjusted = stats.false_discovery_control(chances, method="bh")
        assert discoveries([*chances]) == [bool(chance <= 0.05) for chance in adjusted]


def test_what_has_no_probability_is_refused() -> None:
    for wrong in ((0.0, 1.0, 0.5), (1.0, -1.0, 0.5), (1.0, 1.0, 1.5)):
        for function in (regularized_beta, inverse_regularized_beta):
            with pytest.raises(ValueError, match=r"\w"):
                function(*wrong)
