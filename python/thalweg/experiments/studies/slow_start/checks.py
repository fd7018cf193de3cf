"""What is judged of `slow-start`: claims of the documents that a faithful implementation repeats.

They are about paths without jitter, on which the sender always has data. A share of trials is judged by its
interval (Clopper and Pearson), a time by the interval of the median of its ratio to the time of classic slow start
in the same trial.

Other published statements are shown next to what was measured. They decide nothing: their paths differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from thalweg.base.quantity import percent
from thalweg.experiments.studies.runner.result import Check, Finding
from thalweg.experiments.studies.slow_start.measure import TrialNumbers, level_column, together
from thalweg.experiments.studies.slow_start.parameters import Cell, Parameters
from thalweg.judging.statistics.claims import above, below, each_of, every, within
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.statistics.rates import rate_interval

LEVEL = 150_000
"""Beyond the first flights, within most paths."""
_WORTH_SAVING = 8 * 14_720
"""Half of what is saved is the window of the jump. Below eight initial windows it is no more than two rounds of
classic slow start."""

LEAST_LATE = 0.95
MOST_EARLY = 0.1
"""Shares of trials."""

Groups = Mapping[Cell, TrialNumbers]


def checks(parameters: Parameters, cells: Mapping[Cell, TrialNumbers]) -> list[Check]:
    """The checks that the cells allow."""
    groups = together(cells)
    quiet = {cell: measured for cell, measured in groups if not cell.jittered and not cell.application}
    long = {cell: measured for cell, measured in quiet.items() if parameters.pipe_bytes(cell) > _WORTH_SAVING}
    made = [
        _classic_is_late(quiet),
        _sooner(quiet, "rapid", "on every path"),
        _sooner(long, "resume", f"on every path of more than {_WORTH_SAVING // 1000} kB"),
        _not_early(quiet),
    ]
    return [check for check in made if check is not None]


def of_start(groups: Groups, start: str) -> dict[Cell, TrialNumbers]:
    """The checks of one start."""
    return {cell: measured for cell, measured in groups.items() if cell.start == start}


def share(groups: Groups, column: str) -> Interval:
    """In how many of all trials something happened."""
    happened = np.concatenate([measured[column] for measured in groups.values()])
    return rate_interval(int(happened.sum()), len(happened))


def share_text(share: Interval) -> str:
    """A share of trials in words.

    >>> share_text(rate_interval(9, 10))
    '9 of 10 trials (55 to 100 %)'
    """
    return (
        f"{round(share.value * share.n)} of {share.n} trials ({100 * share.low:.0f} to {100 * share.high:.0f} %)"
    )


def over_classic(cells: Groups, start: str, level: int) -> dict[Cell, Interval]:
    """The time of a start until so many bytes over classic slow start's, on each path."""
    column = level_column(level)
    classic = {
        (cell.condition, cell.controller): measured[column]
        for cell, measured in of_start(cells, "classic").items()
    }
    mine = {
        cell: measured[column]
        for cell, measured in of_start(cells, start).items()
        if (cell.condition, cell.controller) in classic
    }
    return {
        cell: median_interval(times / classic[cell.condition, cell.controller], each_of(len(mine)))
        for cell, times in mine.items()
    }


def _classic_is_late(groups: Groups) -> Check | None:
    classic = of_start(groups, "classic")
    if not classic:
        return None
    late = share(classic, "late")
    return Check(
        "classic slow start ends when path and buffer are full, with a loss",
        "RFC 5681 section 3.1; RFC 9002 section 7.3.1",
        above(late, LEAST_LATE),
        f"late in {share_text(late)}",
    )


def _sooner(groups: Groups, start: str, where: str) -> Check | None:
    ratios = over_classic(groups, start, LEVEL)
    if not ratios:
        return None
    sources = {
        "rapid": ("Rapid Start", "draft-kazuho-ccwg-rapid-start-02 section 3.2"),
        "resume": ("Careful Resume", "draft-ietf-tsvwg-careful-resume-22 section 3.3"),
    }
    name, source = sources[start]
    worst = max(ratios.values(), key=lambda ratio: ratio.value)
    best = min(ratios.values(), key=lambda ratio: ratio.value)
    return Check(
        f"{name} delivers {LEVEL // 1000} kB sooner than classic slow start, {where}",
        source,
        every(below(ratio, 1) for ratio in ratios.values()),
        f"median over classic: {best.value:.2f} to {worst.value:.2f}",
    )


def _not_early(groups: Groups) -> Check | None:
    search = of_start(groups, "search")
    if not search:
        return None
    early = share(search, "early")
    return Check(
        "SEARCH does not leave slow start before the path is full",
        "draft-chung-ccwg-search-09",
        below(early, MOST_EARLY),
        f"early in {share_text(early)}",
    )


_SATELLITE_S = 0.5
"""RTTs from here on are a geostationary satellite's."""


def findings(cells: Mapping[Cell, TrialNumbers]) -> list[Finding]:
    """The statements that the cells allow."""
    groups = dict(together(cells))
    return [*_search(groups), *_satellite(groups), *_jitter(groups)]


def _search(groups: Mapping[Cell, TrialNumbers]) -> Iterator[Finding]:
    searched = of_start(groups, "search").items()
    quiet = {cell: measured for cell, measured in searched if not cell.jittered and not cell.application}
    if quiet:
        late = share(quiet, "late")
        yield Finding(
            "SEARCH leaves slow start before packets are lost",
            "draft-chung-ccwg-search-09",
            "reliably",
            f"reached more than path and buffer hold in {share_text(late)}",
            below(late, 0.1),
            "Its window of 3.5 RTTs and its threshold of 26 % see that deliveries fall behind after more than an "
            "RTT, in which the window still doubles. It takes a buffer that is deeper than that.",
        )


def _satellite(groups: Mapping[Cell, TrialNumbers]) -> Iterator[Finding]:
    far = {
        cell: measured for cell, measured in groups.items() if cell.rtt_s >= _SATELLITE_S and not cell.application
    }
    for level, what, published, low, high in (
        (5_300_000, "5.3 MB", "4 s instead of 9 s, 44 %", 0.34, 0.54),
        (1_000_000, "1 MB", "38 %, sooner by 62 %", 0.28, 0.48),
    ):
        for cell, ratio in over_classic(far, "resume", level).items():
            yield Finding(
                f"Careful Resume shortens {what} over a satellite, {cell.controller}, {cell.condition}",
                "draft-ietf-tsvwg-careful-resume-22 section 1.4",
                published,
                f"{percent(ratio.value)} of the time of classic slow start",
                within(ratio, low, high),
                "The rate of their path and the start of their standard control are not said. Here time begins "
                "with the first data and ends with the acknowledgement of the last.",
            )


def _jitter(groups: Mapping[Cell, TrialNumbers]) -> Iterator[Finding]:
    delayed = of_start(groups, "hystart").items()
    wifi = {cell: measured for cell, measured in delayed if cell.jittered and not cell.application}
    if wifi:
        early = share(wifi, "early")
        yield Finding(
            "jitter of Wi-Fi ends slow start by delay early",
            "blog of the authors of C4 on the jitter of Wi-Fi",
            "the test of Hystart is misled",
            f"HyStart++ leaves less than the path holds in {share_text(early)}",
            above(early, 0.5),
            "Conservative slow start goes back when the delay proves to have been a spike, which Hystart did not.",
        )
