"""The published findings that `harm` must reproduce, on the experiment of the published table.

ccafct measured Linux TCP; what has to be found again is the direction of its findings, at all of its five
round-trip times and for all of its three statistics of completion times. A finding holds if the interval of the
mean over replications, paired by seed, lies above zero; one at all round-trip times if five of 99 % do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from thalweg.experiments.studies.harm.measure import COMPLETION, Measure, Trials
from thalweg.experiments.studies.harm.parameters import Cell
from thalweg.experiments.studies.harm.published import CCAFCT, CONTROLLER
from thalweg.experiments.studies.runner.result import Check
from thalweg.judging.statistics.claims import above, each_of, every
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import mean_interval

Measured = Mapping[Cell, Trials]

_CALLED = {"cubic": "CUBIC", "prague": "Prague"}


def checks(measured: Measured) -> list[Check]:
    """All checks, on the trials of all cells of the preset `ccafct`."""
    rtts = sorted({cell.rtt for cell in measured}, key=lambda rtt: Cell(rtt, CONTROLLER, None).rtt_s)
    return [check for measure in COMPLETION for check in _of(measure, rtts, measured)]


def _of(measure: Measure, rtts: list[str], measured: Measured) -> Iterator[Check]:
    def harm(competitor: str, rtt: str) -> Values:
        cell = Cell(rtt, CONTROLLER, competitor)
        solo, competing = (measured[each].values[measure.name] for each in (cell.alone, cell))
        return measure.harm(solo, competing)

    yield _everywhere(
        f"one long CUBIC flow harms short CUBIC flows at every RTT ({measure.title})",
        rtts,
        lambda rtt: harm("cubic", rtt),
    )
    yield _everywhere(
        f"Prague harms them more than CUBIC does at every RTT ({measure.title})",
        rtts,
        lambda rtt: harm("prague", rtt) - harm("cubic", rtt),
        "more by ",
    )
    nearest, farthest = rtts[0], rtts[-1]
    for name in ("cubic", "prague"):
        falls = mean_interval(harm(name, nearest) - harm(name, farthest))
        title = f"{_CALLED[name]} harms less at {farthest} than at {nearest} ({measure.title})"
        yield Check(title, CCAFCT, above(falls, 0), f"less by {shown(falls)}")


def _everywhere(name: str, rtts: list[str], values: Callable[[str], Values], prefix: str = "") -> Check:
    """A check that the values of the replications are above zero at all round-trip times."""
    intervals = {rtt: mean_interval(values(rtt), each_of(len(rtts))) for rtt in rtts}
    told = ", ".join(f"{shown(interval)} at {rtt}" for rtt, interval in intervals.items())
    return Check(name, CCAFCT, every(above(interval, 0) for interval in intervals.values()), prefix + told)


def shown(interval: Interval, digits: int = 3) -> str:
    """A mean with half of its interval."""
    if np.isnan(interval.value):
        return "unknown (infinite alone)"
    half = f" ±{(interval.high - interval.low) / 2:.{digits}f}" if interval.is_bounded else ""
    return f"{interval.value:.{digits}f}{half}"
