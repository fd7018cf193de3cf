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
from thalweg.experiments.studies.harm.published import CCAFCT, CONTROLLER, LINES
from thalweg.experiments.studies.runner.result import Check, Finding
from thalweg.judging.statistics.claims import above, each_of, every, within
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import mean_interval

TrialsByCell = Mapping[Cell, Trials]

_CALLED = {"cubic": "CUBIC", "prague": "Prague"}


def checks(measured: TrialsByCell) -> list[Check]:
    """All checks, on the trials of all cells of the preset `ccafct`."""
    rtts = sorted({cell.rtt for cell in measured}, key=lambda rtt: Cell(rtt, CONTROLLER, None).rtt_s)
    return [check for measure in COMPLETION for check in _of(measure, rtts, measured)]


def _of(measure: Measure, rtts: list[str], measured: TrialsByCell) -> Iterator[Check]:
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
        yield Check(title, CCAFCT, above(falls, 0), f"less by {mean_text(falls)}")


def _everywhere(name: str, rtts: list[str], values: Callable[[str], Values], prefix: str = "") -> Check:
    """A check that the values of the replications are above zero at all round-trip times."""
    intervals = {rtt: mean_interval(values(rtt), each_of(len(rtts))) for rtt in rtts}
    measured = ", ".join(f"{mean_text(interval)} at {rtt}" for rtt, interval in intervals.items())
    return Check(name, CCAFCT, every(above(interval, 0) for interval in intervals.values()), prefix + measured)


def mean_text(interval: Interval, digits: int = 3) -> str:
    """A mean with half of its interval."""
    if np.isnan(interval.value):
        return "unknown (infinite alone)"
    half = f" ±{(interval.high - interval.low) / 2:.{digits}f}" if interval.is_bounded else ""
    return f"{interval.value:.{digits}f}{half}"


HALF = 0.5
"""Harm of flows that take twice as long as alone."""
NEAR = 1.5
"""Times within this factor are of one magnitude."""
_TRANSPORT = "Linux TCP there, a modelled QUIC endpoint here"


def findings(measured: TrialsByCell) -> list[Finding]:
    """All findings, on the trials of all cells of the preset `ccafct`."""
    return [finding for measure in COMPLETION for finding in _findings_on(measure, measured)]


def _findings_on(measure: Measure, measured: TrialsByCell) -> Iterator[Finding]:
    for competitor, who in ((None, "alone"), ("cubic", "next to CUBIC"), ("prague", "next to Prague")):
        cells = [cell for cell in measured if cell.competitor == competitor]
        published = [getattr(LINES[cell.rtt_s, competitor], measure.column) for cell in cells]
        found = [
            mean_interval(measured[cell].values[measure.name] / stated, each_of(len(cells)))
            for cell, stated in zip(cells, published, strict=True)
        ]
        yield Finding(
            f"completion times {who} ({measure.title}), to a factor of {NEAR:g}",
            CCAFCT,
            f"{min(published):.3g} to {max(published):.3g} s",
            "ours over theirs: "
            + ", ".join(f"{mean_text(value, 2)} at {cell.rtt}" for cell, value in zip(cells, found, strict=True)),
            every(within(value, 1 / NEAR, NEAR) for value in found),
            _TRANSPORT,
        )
    with_prague = [cell for cell in measured if cell.competitor == "prague"]
    harms = {
        cell.rtt: mean_interval(
            measure.harm(measured[cell.alone].values[measure.name], measured[cell].values[measure.name]),
            each_of(len(with_prague)),
        )
        for cell in with_prague
    }
    stated = [getattr(LINES[cell.rtt_s, cell.competitor], f"{measure.name}_harm") for cell in with_prague]
    yield Finding(
        f"next to Prague, {CONTROLLER} flows take more than twice as long as alone ({measure.title})",
        CCAFCT,
        f"harm of {min(stated):.3f} to {max(stated):.3f}",
        ", ".join(f"{mean_text(interval)} at {rtt}" for rtt, interval in harms.items()),
        every(above(interval, HALF) for interval in harms.values()),
        _TRANSPORT,
    )
