"""What the paper says of `wifi-compete`, beside what the trials say.

Its 100 runs of each case shared one jitter sequence and differed by bytes of the handshake alone, so some of
its conclusions are those of that sequence. They are shown here and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from thalweg.quantity import percent, text
from thalweg.studies.medians import Times, ratio_of_medians
from thalweg.studies.result import Finding
from thalweg.studies.wifi_compete_published import ALONE, HEAD_START_S, PAPER, PEERS, SAME

_ALMOST_FOUR = 3.5
"""From here on, a slowdown reads "almost four times"."""

Cells = Mapping[tuple[str, str], Times]

_ONE_SEQUENCE = "the 100 runs of the paper shared one jitter sequence; here, every trial draws its own"
_STILL_ONE = "one jitter sequence for all trials, as in the paper; another sequence gives other numbers"
_ALL = "not a matter of one jitter sequence"


def findings(closed: Cells, shares: Cells, shared: bool) -> list[Finding]:
    """The statements of the paper, on end times and shares of the link of the main flow in each cell.

    `shared` tells that the trials shared one jitter sequence, as the runs of the paper did.
    """
    found = [*_four_times(closed), _repair(closed), *_twice(closed), _no_exit(closed), _dominates(shares)]
    return [
        Finding(name, PAPER, published, measured, holds, _reason(holds, shared))
        for name, published, measured, holds in found
    ]


_Stated = tuple[str, str, str, bool]


def _reason(holds: bool, shared: bool) -> str:
    if shared:
        return _STILL_ONE
    return _ALL if holds else _ONE_SEQUENCE


def slowdowns(closed: Cells, variant: str, competitor: str) -> Times:
    """How long the main flow of each trial lasted, over the median of the same variant alone.

    >>> cells = {("v1", "alone"): np.array([5.0]), ("v1", "c4"): np.array([11.0, 21.0])}
    >>> slowdowns(cells, "v1", "c4").tolist()
    [2.0, 4.0]
    """
    return np.asarray((closed[variant, competitor] - HEAD_START_S) / np.median(closed[variant, ALONE]))


def _four_times(closed: Cells) -> Iterator[_Stated]:
    times = slowdowns(closed, "v1", SAME)
    median = float(np.median(times))
    often = float(np.mean(times >= _ALMOST_FOUR))
    measured = f"median {median:.2f} times; {percent(often)} of the trials from {_ALMOST_FOUR} times on"
    yield (
        "v1 against itself lasts almost four times as long as alone",
        "almost 4",
        measured,
        median >= _ALMOST_FOUR,
    )


def _repair(closed: Cells) -> _Stated:
    ratio = ratio_of_medians(closed["v2", SAME], closed["v1", SAME])
    measured = f"median v2 / v1 = {ratio}"
    return "v2 repairs C4 against C4", "its figures end at 22.2 s (v1) and 6.8 s (v2)", measured, ratio.less


def _twice(closed: Cells) -> Iterator[_Stated]:
    for peer in PEERS:
        median = float(np.median(slowdowns(closed, "v1", peer)))
        name = f"v1 against {peer} lasts less than twice as long as alone"
        yield name, "less than twice", f"median {median:.2f} times", median < 2


def _no_exit(closed: Cells) -> _Stated:
    old, new = closed["v1", "bbr"], closed["no-exit", "bbr"]
    measured = (
        f"worst of {len(old)}: {text(float(old.max()), 's', 3)}, then {text(float(new.max()), 's', 3)}; "
        f"median no-exit / v1 = {ratio_of_medians(new, old)}"
    )
    name = "no exit on delay makes the worst trial against BBR worse"
    return name, "worst of 100 from 13 s to over 14 s", measured, bool(new.max() > old.max())


def _dominates(shares: Cells) -> _Stated:
    share = float(np.nanmean(shares["v2", "bbr"]))
    return "v2 dominates BBR", "C4 ends up dominating", f"mean share {percent(share)}", share > 0.5
