"""The published findings that `harm` has to repeat, on the experiment of the published table.

ccafct measured Linux TCP; what has to be found again is the direction of its findings, at all of its five
round-trip times and for all of its three statistics of completion times. A difference counts if the interval of
95 % of its replications, paired by seed, lies above zero; of a single replication, if it is above zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from thalweg.studies.harm_measure import COMPLETION, Measure, Trials
from thalweg.studies.harm_metric import Interval, t_interval
from thalweg.studies.harm_parameters import Cell
from thalweg.studies.harm_published import CCAFCT, CONTROLLER
from thalweg.studies.result import Check

Measured = Mapping[Cell, Trials]

_CALLED = {"cubic": "CUBIC", "prague": "Prague"}


def checks(measured: Measured) -> list[Check]:
    """All checks, on the trials of all cells of the preset `ccafct`."""
    rtts = sorted({cell.rtt for cell in measured}, key=lambda rtt: Cell(rtt, CONTROLLER, None).rtt_s)
    return [check for one in COMPLETION for check in _of(one, rtts, measured)]


def _of(one: Measure, rtts: list[str], measured: Measured) -> Iterator[Check]:
    def harm(competitor: str, rtt: str) -> list[float]:
        cell = Cell(rtt, CONTROLLER, competitor)
        solo, competing = (measured[each].values[one.name] for each in (cell.alone, cell))
        return [float(value) for value in one.harm(solo, competing)]

    def differences(first: list[float], second: list[float]) -> list[float]:
        return [a - b for a, b in zip(first, second, strict=True)]

    yield _everywhere(
        f"one long CUBIC flow harms short CUBIC flows at every RTT ({one.title})",
        rtts,
        lambda rtt: harm("cubic", rtt),
    )
    yield _everywhere(
        f"Prague harms them more than CUBIC does at every RTT ({one.title})",
        rtts,
        lambda rtt: differences(harm("prague", rtt), harm("cubic", rtt)),
        "more by ",
    )
    nearest, farthest = rtts[0], rtts[-1]
    for name in ("cubic", "prague"):
        falls = t_interval(differences(harm(name, nearest), harm(name, farthest)))
        title = f"{_CALLED[name]} harms less at {farthest} than at {nearest} ({one.title})"
        yield Check(title, CCAFCT, falls.above_zero, f"less by {shown(falls)}")


def _everywhere(name: str, rtts: list[str], values: Callable[[str], list[float]], prefix: str = "") -> Check:
    """A check that the values of the replications are above zero at all round-trip times."""
    intervals = {rtt: t_interval(values(rtt)) for rtt in rtts}
    told = ", ".join(f"{shown(interval)} at {rtt}" for rtt, interval in intervals.items())
    return Check(name, CCAFCT, all(interval.above_zero for interval in intervals.values()), prefix + told)


def shown(interval: Interval) -> str:
    """A mean with half of its interval."""
    half = "" if math.isnan(interval.low) else f" ±{(interval.high - interval.low) / 2:.3f}"
    return f"{interval.mean:.3f}{half}"
