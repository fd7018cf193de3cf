"""The published findings that `wifi-compete` has to repeat.

The rules, for two sets of trials and the ratio of their medians with its interval of 95 % (`medians.py`):

- *a* **before** *b*: the whole interval of a/b is below 1;
- *a* **not after** *b*: the interval does not lie above 1. The two may be alike;
- **within noise**: the interval reaches into 1 +- 3 %: the medians that were published have two digits;
- a median is **reproduced** if it is within 15 % of the one published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from thalweg.quantity import percent, text
from thalweg.studies.medians import Ratio, Times, ratio_of_medians
from thalweg.studies.result import Check
from thalweg.studies.wifi_compete_published import ACCEPTANCE_S, ALONE, PEERS, REMEASURED, SAME

MEDIAN_TOLERANCE = 0.15
NOISE = 0.03

Cells = Mapping[tuple[str, str], Times]
"""End times of the main flow by variant and competitor."""


def before(ratio: Ratio) -> bool:
    """Whether the first is earlier beyond chance."""
    return ratio.less


def not_after(ratio: Ratio) -> bool:
    """Whether the trials allow that the first is at most as late."""
    return not ratio.more


def not_before(ratio: Ratio) -> bool:
    """Whether the trials allow that the first is at least as late."""
    return not ratio.less


def within_noise(ratio: Ratio) -> bool:
    """Whether the trials allow that the two differ by no more than the published digits tell.

    >>> within_noise(Ratio(0.93, 0.88, 0.98)), within_noise(Ratio(0.8, 0.7, 0.9))
    (True, False)
    """
    return ratio.low <= 1 + NOISE and ratio.high >= 1 - NOISE


def checks(cells: Cells) -> list[Check]:
    """All checks, on the trials of all cells."""
    return [*_orderings(cells), *_no_exit(cells), *_medians(cells)]


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
    cells: Cells, name: str, first: str, second: str, competitor: str, rule: Callable[[Ratio], bool]
) -> Check:
    ratio = ratio_of_medians(cells[first, competitor], cells[second, competitor])
    return Check(name, REMEASURED, rule(ratio), f"median {first} / {second} = {ratio}")


def _medians(cells: Cells) -> Iterator[Check]:
    for (variant, competitor), published in ACCEPTANCE_S.items():
        where = "alone" if competitor == ALONE else f"against {competitor}"
        ratio = ratio_of_medians(cells[variant, competitor], np.array([published]))
        measured = f"{text(ratio.value * published, 's', 3)}, published {text(published, 's', 3)}: {ratio}"
        name = f"median of {variant} {where} within {percent(MEDIAN_TOLERANCE)}"
        yield Check(name, REMEASURED, abs(ratio.value - 1) <= MEDIAN_TOLERANCE, measured)
