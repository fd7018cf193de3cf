"""Multiple comparisons: which differences to accept when some occur by chance.

Of a hundred comparisons without a difference, five show one at 5 %. The false discovery rate is the share of
such among all that are called different; the procedure of Benjamini and Hochberg (Journal of the Royal Statistical
Society B 57, 1995) keeps it at or below what is asked for, if the comparisons are independent or agree in sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RATE = 0.05
"""Share of false ones that is allowed among the discoveries."""


def discoveries(chances: Sequence[float], rate: float = RATE) -> list[bool]:
    """Which of the comparisons differ, given the chance (p-value) of each if it did not.

    >>> discoveries([0.001, 0.04, 0.9, 0.6]), discoveries([0.04])
    ([True, False, False, False], [True])
    """
    if not chances:
        return []
    # The k smallest, for the largest k of which the k-th is at or below k / m times the rate.
    ordered = np.sort(chances)
    allowed = rate * np.arange(1, len(ordered) + 1) / len(ordered)
    accepted = ordered[ordered <= allowed]
    return [bool(len(accepted) and chance <= accepted[-1]) for chance in chances]


def summary(what: str, chances: Sequence[float], rate: float = RATE) -> str:
    """The number of cells of a matrix that differ, in words.

    >>> summary("something differs", [0.001] * 9 + [0.04] + [0.5] * 30)
    'something differs in 9 of 40, at most 5 % of them by chance; one by one it would in 10'
    """
    found, alone = sum(discoveries(chances, rate)), sum(chance <= rate for chance in chances)
    return (
        f"{what} in {found} of {len(chances)}, at most {100 * rate:g} % of them by chance; "
        f"one by one it would in {alone}"
    )
