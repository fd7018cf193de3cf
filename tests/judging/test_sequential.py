"""The sign test of pairs in real time: its errors and its power, computed exactly and counted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from thalweg.judging.measures import MEASURES
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.sequential import ERROR, SignTest, evidence, fewest
from thalweg.judging.thresholds import Threshold

PAIRS = 40
"""The default of `thalweg gate --live`."""


def shares(p: float, family: int, pairs: int = PAIRS) -> tuple[float, float]:
    """With which probabilities a test says "worse" and "holds", if each pair is worse with probability `p`.

    Exact: the distribution of what is undecided, pair by pair.
    """
    undecided = {0: 1.0}
    worse = not_worse = 0.0
    for n in range(1, pairs + 1):
        reached: dict[int, float] = {}
        for k, probability in undecided.items():
            reached[k] = reached.get(k, 0.0) + probability * (1 - p)
            reached[k + 1] = reached.get(k + 1, 0.0) + probability * p
        undecided = {}
        for k, probability in reached.items():
            if evidence(n, k) * Fraction(ERROR) >= family:
                worse += probability
            elif evidence(n, n - k) * Fraction(ERROR) >= 1:
                not_worse += probability
            else:
                undecided[k] = probability
    return worse, not_worse


def test_under_the_null_the_evidence_is_a_martingale_that_begins_at_one() -> None:
    assert evidence(0, 0) == 1
    for n in range(30):
        for k in range(n + 1):
            assert (evidence(n + 1, k) + evidence(n + 1, k + 1)) / 2 == evidence(n, k)


def test_the_evidence_is_the_mean_of_the_likelihood_ratios() -> None:
    """Robbins 1970: the integral over probabilities above one half, here by the rule of midpoints."""
    p = 0.5 + (np.arange(200_000) + 0.5) / 400_000
    for n, k in ((5, 5), (12, 9), (40, 22)):
        mean = float(np.mean((2 * p) ** k * (2 * (1 - p)) ** (n - k)))
        assert float(evidence(n, k)) == pytest.approx(mean, rel=1e-8)


@pytest.mark.parametrize("n", [*range(40), 1000])
def test_the_evidence_is_a_sum_of_binomial_coefficients_exactly(n: int) -> None:
    for k in range(0, n + 1, 1 if n < 40 else 125):
        coefficients = sum(math.comb(n + 1, j) for j in range(k + 1))
        assert evidence(n, k) == Fraction(coefficients, (n + 1) * math.comb(n, k))


@pytest.mark.parametrize(
    ("family", "pairs", "at_least"), [(1, 40, 0.02), (1, 400, 0.03), (5, 40, 0.004), (5, 400, 0.006)]
)
def test_a_median_at_its_threshold_is_rarely_called_worse(family: int, pairs: int, at_least: float) -> None:
    """The worst case of the null. Ville's inequality allows 5 % of all comparisons together."""
    worse, not_worse = shares(0.5, family, pairs)
    assert at_least <= worse <= ERROR / family
    assert not_worse <= ERROR


@pytest.mark.parametrize(
    ("p", "one", "five", "many"),
    [
        (0.5, 0.024, 0.005, 0.0003),
        (0.75, 0.794, 0.559, 0.275),
        (0.9, 0.9998, 0.997, 0.973),
        (0.95, 1.0, 1.0, 0.9996),
    ],
)
def test_a_change_that_most_pairs_show_is_found_within_forty(
    p: float, one: float, five: float, many: float
) -> None:
    """The table of docs/how-to/gate.md."""
    for family, power in ((1, one), (5, five), (48, many)):
        assert shares(p, family)[0] == pytest.approx(power, abs=6e-4)


@pytest.mark.parametrize(("family", "pairs"), [(1, 7), (5, 9), (48, 13), (100, 14)])
def test_the_fewest_pairs_are_those_that_agree(family: int, pairs: int) -> None:
    # (2^(n + 1) - 1) / (n + 1) >= family / 0.05
    assert fewest(family) == pairs
    test = SignTest(family)
    for _ in range(pairs - 1):
        test.add(is_worse=True)
        assert test.lacks_pairs or test.n >= pairs
        assert test.answer == "undecided"
    test.add(is_worse=True)
    assert test.answer == "worse"


def test_what_is_decided_stays_and_what_cannot_be_told_any_more_is_known() -> None:
    test = SignTest(1)
    for _ in range(7):
        test.add(is_worse=False)
    assert test.answer == "holds"
    for _ in range(30):
        test.add(is_worse=True)
    assert test.answer == "holds"
    half = SignTest(1)
    for number in range(20):
        half.add(is_worse=number % 2 == 0)
    assert half.can_become_worse(20)
    assert not half.can_become_worse(5)
    assert half.can_become_worse(6) == (evidence(26, 16) >= 20)


def comparison(change: float, noise: float, rng: np.random.Generator, family: int = 5) -> Pairs:
    """Completion times of 40 pairs: a machine that drifts, and noise on both sides of each pair."""
    one = Pairs("s", "main", MEASURES["completion"], Threshold(0.01), test=SignTest(family))
    drift = np.exp(np.cumsum(rng.normal(0, 0.05, PAIRS)))
    before, now = drift * np.exp(rng.normal(0, noise, (2, PAIRS)))
    for seed in range(PAIRS):
        one.add(seed, float(before[seed]), float(now[seed] * (1 + change)))
        if one.answer != "undecided":
            break
    return one


@pytest.mark.parametrize(
    ("change", "noise", "worse"),
    [
        (0.0, 0.02, (0.0, 0.001)),
        (0.01, 0.02, (0.002, 0.008)),
        (0.02, 0.01, (0.4, 0.7)),
        (0.05, 0.02, (0.97, 1.0)),
        (0.05, 0.01, (0.999, 1.0)),
    ],
)
def test_of_two_thousand_gates_on_a_machine_that_drifts(
    change: float, noise: float, worse: tuple[float, float]
) -> None:
    """No change, one at the threshold of 1 %, and some above: drawn once, so that nothing is by chance."""
    rng = np.random.default_rng(1)
    share = sum(comparison(change, noise, rng).answer == "worse" for _ in range(2000)) / 2000
    assert worse[0] <= share <= worse[1]


def test_a_test_that_stops_since_it_cannot_become_worse_lacks_no_pairs() -> None:
    # Ten metrics share 5 %: eleven pairs could say so if all were worse, and of 20 pairs at least 18 must be.
    assert fewest(10) == 11
    stopped = SignTest(10, planned=20)
    for is_worse in (False, True, False, False, False):
        stopped.add(is_worse)
    assert not stopped.can_become_worse(20 - 5)
    assert not stopped.lacks_pairs
    # The same pairs, where the other 35 were left out: they could have said so.
    short = SignTest(10, planned=40)
    for is_worse in (False, True, False, False, False):
        short.add(is_worse)
    assert short.can_become_worse(40 - 5)
    assert short.lacks_pairs
    # Without a plan, few pairs are few.
    assert SignTest(10, n=5).lacks_pairs
    assert not SignTest(10, n=11).lacks_pairs


def test_the_width_of_pairs_is_a_share_whether_ratios_differences_or_one_side_is_measured() -> None:
    """Of ten values, half of them 90 and half 110, the interval reaches from the least to the largest."""
    times = [90.0, 110.0] * 5
    alone, ratio, apart = (
        Pairs("s", "main", MEASURES["rate"], Threshold(0.01), is_ratio=r) for r in (True, True, False)
    )
    for seed, (a, other) in enumerate(zip(times, [110.0, 90.0] * 5, strict=True)):
        alone.add(seed, a, None)
        ratio.add(seed, a, other)
        apart.add(seed, 0.0, a)
    assert alone.width == pytest.approx((110 - 90) / 2 / alone.interval.value)
    assert ratio.width == pytest.approx((110 / 90 - 90 / 110) / 2)
    assert apart.width == pytest.approx((110 - 90) / 2 / apart.interval.value)
