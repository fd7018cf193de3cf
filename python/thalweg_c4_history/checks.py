"""The published findings that `wifi-compete` has to repeat.

Each is about the ratio of the medians of two sets of trials with its interval of 95 % (`statistics.ratios`), and
holds if the whole interval lies on the right side of its margin:

- *a* **before** *b*: a/b is below 1;
- *a* **not after** *b*: a/b is below 1 + `NOISE`;
- *a* **not before** *b*: a/b is above 1 - `NOISE`;
- **within noise**: a/b is within 1 +- `NOISE`;
- a median, a mean or a 90th percentile is **reproduced** if it is within 15 % of the one published.

What is published of 199 trials has an error as ours has. For a mean it follows from the published standard
deviation; of a median or percentile it is taken from our distribution (`ratio_to_published`), which is skewed:
some per cent. So *not enough trials* may mean theirs.

`NOISE` is 10 %: the pairs that the re-measurement of 199 trials calls alike have medians that are 6 and 7 %
apart, so its noise is no less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Check
from thalweg.judging.statistics.claims import Answer, above, below, within
from thalweg.judging.statistics.digits import ranged
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import ratio_to_published_mean
from thalweg.judging.statistics.ratios import MEDIAN, OrderStatistic, ratio_of_medians, ratio_to_published
from thalweg_c4_history.published import (
    ACCEPTANCE,
    ALONE,
    PEERS,
    REMEASURED,
    REMEASURED_TRIALS,
    SAME,
)

MEDIAN_TOLERANCE = 0.15
"""The tolerance of medians, and of means and 90th percentiles too."""
NOISE = 0.10

Cells = Mapping[tuple[str, str], Values]
"""End times of the main flow by variant and competitor."""


def before(ratio: Interval) -> Answer:
    """Whether the first is earlier."""
    return below(ratio, 1)


def not_after(ratio: Interval) -> Answer:
    """Whether the first is at most as late, apart from noise."""
    return below(ratio, 1 + NOISE)


def not_before(ratio: Interval) -> Answer:
    """Whether the first is at least as late, apart from noise."""
    return above(ratio, 1 - NOISE)


def within_noise(ratio: Interval) -> Answer:
    """Whether the two differ by no more than noise.

    >>> within_noise(Interval(0.98, 0.93, 1.03, 20)), within_noise(Interval(0.8, 0.7, 0.85, 20))
    ('holds', 'fails')
    """
    return within(ratio, 1 - NOISE, 1 + NOISE)


def checks(cells: Cells, exact: bool = False) -> list[Check]:
    """All checks, on the trials of all cells; `exact` takes what is published for exact."""
    return [*_orderings(cells), *_no_exit(cells), *_reproduced(cells, EXACT if exact else REMEASURED_TRIALS)]


def _orderings(cells: Cells) -> Iterator[Check]:
    for competitor in (ALONE, *PEERS):
        where = "alone" if competitor == ALONE else f"against {competitor}"
        yield _compare(cells, f"{where}, v2 is not slower than v3", "v2", "v3", competitor, not_after)
        yield _compare(cells, f"{where}, v3 is faster than v1", "v3", "v1", competitor, before)
    yield _compare(cells, "C4 against C4, v2 gains nothing over v1", "v2", "v1", SAME, not_before)


def _no_exit(cells: Cells) -> Iterator[Check]:
    yield _compare(cells, "alone, no exit on delay is faster than v1", "no-exit", "v1", ALONE, before)
    for competitor in (*PEERS, SAME):
        name = f"against {competitor}, no exit on delay is within noise of v1"
        yield _compare(cells, name, "no-exit", "v1", competitor, within_noise)


def _compare(
    cells: Cells, name: str, first: str, second: str, competitor: str, rule: Callable[[Interval], Answer]
) -> Check:
    ratio = ratio_of_medians(cells[first, competitor], cells[second, competitor])
    return Check(name, REMEASURED, rule(ratio), f"median {first} / {second} = {ranged(ratio)}")


EXACT = 10**9
"""Trials whose error does not count."""


def _reproduced(cells: Cells, n: int) -> Iterator[Check]:
    for (variant, competitor), published in ACCEPTANCE.items():
        times = cells[variant, competitor]
        yield median_check(variant, competitor, published.median_s, times, n)
        mean = ratio_to_published_mean(times, published.mean_s, published.sd_s, n)
        yield _near(variant, competitor, "mean", published.mean_s, mean)
        p90 = ratio_to_published(P90, times, published.p90_s, n)
        yield _near(variant, competitor, "90th percentile", published.p90_s, p90)


def median_check(
    variant: str, competitor: str, published: float, times: Values, n: int = REMEASURED_TRIALS
) -> Check:
    """Whether the median of a cell is the published one, of n trials."""
    ratio = ratio_to_published(MEDIAN, times, published, n)
    return _near(variant, competitor, "median", published, ratio)


def _near(variant: str, competitor: str, what: str, published: float, ratio: Interval) -> Check:
    where = "alone" if competitor == ALONE else f"against {competitor}"
    found, given = (text(value, "s", 3) for value in (ratio.value * published, published))
    name = f"{what} of {variant} {where} within {percent(MEDIAN_TOLERANCE)}"
    answer = within(ratio, 1 - MEDIAN_TOLERANCE, 1 + MEDIAN_TOLERANCE)
    return Check(name, REMEASURED, answer, f"{found}, published {given}: {ranged(ratio)}")


P90 = OrderStatistic(lambda n: (math.ceil(0.9 * n),), lambda values: values[..., 0])
"""The 90th percentile, a value that was measured."""
