"""What the paper says about `wifi-compete`, and what the trials say.

Its 100 runs of each case shared one jitter sequence and differed only by bytes of the handshake, so some of
its conclusions hold for that sequence. They are shown here and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Finding
from thalweg.judging.statistics.claims import FAILS, HOLDS, LEAST_TRIALS_OF_SHARES, UNDECIDED, Answer, above, below
from thalweg.judging.statistics.digits import percent_of, ranged
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.interval import Values as Times
from thalweg.judging.statistics.means import mean_interval
from thalweg.judging.statistics.quantiles import least_worst, median
from thalweg.judging.statistics.rates import rate_interval
from thalweg.judging.statistics.ratios import ratio_of_medians
from thalweg_c4_history.published import ALONE, HEAD_START_S, PAPER, PEERS, SAME

_ALMOST_FOUR = 3.5
"""From here on, a slowdown reads "almost four times"."""

_DOMINATES = 2 / 3
"""Share of the link: twice the other flow's. Slightly more than half does not dominate."""

Cells = Mapping[tuple[str, str], Times]

_ONE_SEQUENCE = "the 100 runs of the paper shared one jitter sequence; here, every trial draws its own"
_STILL_ONE = "one jitter sequence for all trials, as in the paper; another sequence gives other numbers"
_TOO_FEW = "the trials do not tell"
_ALL = "not a matter of one jitter sequence"


def findings(closed: Cells, shares: Cells, shared: bool) -> list[Finding]:
    """The statements of the paper, on end times and shares of the link of the main flow in each cell.

    `shared` tells that the trials shared one jitter sequence, as the runs of the paper did.
    """
    found = [*_four_times(closed), _repair(closed), *_twice(closed), _no_exit(closed), _dominates(shares)]
    return [
        Finding(name, PAPER, published, measured, answer, reason(answer, shared))
        for name, published, measured, answer in found
    ]


_Statement = tuple[str, str, str, Answer]


def reason(answer: Answer, shared: bool) -> str:
    """Why a statement of the paper does, or does not, hold here."""
    if shared:
        return _STILL_ONE
    return {HOLDS: _ALL, FAILS: _ONE_SEQUENCE, UNDECIDED: _TOO_FEW}[answer]


def slowdowns(closed: Cells, variant: str, competitor: str) -> Times:
    """How long the main flow of each trial lasted, over the median of the same variant alone.

    >>> cells = {("v1", "alone"): np.array([5.0]), ("v1", "c4"): np.array([11.0, 21.0])}
    >>> slowdowns(cells, "v1", "c4").tolist()
    [2.0, 4.0]
    """
    return np.asarray((closed[variant, competitor] - HEAD_START_S) / median(closed[variant, ALONE]))


def slowdown(closed: Cells, variant: str, competitor: str) -> Interval:
    """The median duration of the main flow over the same variant's alone."""
    return ratio_of_medians(closed[variant, competitor] - HEAD_START_S, closed[variant, ALONE])


def _four_times(closed: Cells) -> Iterator[_Statement]:
    times = slowdowns(closed, "v1", SAME)
    often = rate_interval(int(np.count_nonzero(times >= _ALMOST_FOUR)), len(times))
    ratio = slowdown(closed, "v1", SAME)
    measured = (
        f"median {ranged(ratio)} times; {percent(often.low)} to {percent(often.high)} of the trials from "
        f"{_ALMOST_FOUR} times on"
    )
    name = "v1 against itself lasts almost four times as long as alone"
    yield name, "almost 4", measured, above(ratio, _ALMOST_FOUR)


def _repair(closed: Cells) -> _Statement:
    ratio = ratio_of_medians(closed["v2", SAME], closed["v1", SAME])
    measured = f"median v2 / v1 = {ranged(ratio)}"
    published = "its figures end at 22.2 s (v1) and 6.8 s (v2)"
    return "v2 repairs C4 against C4", published, measured, below(ratio, 1)


def _twice(closed: Cells) -> Iterator[_Statement]:
    for peer in PEERS:
        ratio = slowdown(closed, "v1", peer)
        name = f"v1 against {peer} lasts less than twice as long as alone"
        yield name, "less than twice", f"median {ranged(ratio)} times", below(ratio, 2)


def _no_exit(closed: Cells) -> _Statement:
    old, new = closed["v1", "bbr"], closed["no-exit", "bbr"]
    # The worst of further trials has only a bound from below: one is worse if that is above the other's worst.
    answer = HOLDS if least_worst(new) > old.max() else FAILS if least_worst(old) > new.max() else UNDECIDED
    measured = (
        f"worst of {len(old)}: {text(float(old.max()), 's', 3)}, then {text(float(new.max()), 's', 3)}, again at "
        f"least {text(least_worst(old), 's', 3)} and {text(least_worst(new), 's', 3)}; median no-exit / v1 = "
        f"{ranged(ratio_of_medians(new, old))}"
    )
    name = "no exit on delay makes the worst trial against BBR worse"
    return name, "worst of 100 from 13 s to over 14 s", measured, answer


def _dominates(shares: Cells) -> _Statement:
    share = mean_interval(shares["v2", "bbr"])
    measured = f"mean share {percent_of(share)}"
    return "v2 dominates BBR", "C4 ends up dominating", measured, above(share, _DOMINATES, LEAST_TRIALS_OF_SHARES)
