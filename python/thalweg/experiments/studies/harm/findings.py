"""Magnitudes published by ccafct, and the measured ones. They decide nothing, since the transports differ.

There, Linux TCP with the Prague of its kernel; here, a modelled QUIC endpoint with the Prague of its
Internet-Draft. docs/evidence/studies/harm.md explains the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from thalweg.experiments.studies.harm.checks import shown
from thalweg.experiments.studies.harm.measure import COMPLETION, Measure, Trials
from thalweg.experiments.studies.harm.parameters import Cell
from thalweg.experiments.studies.harm.published import CCAFCT, CONTROLLER, LINES
from thalweg.experiments.studies.runner.result import Finding
from thalweg.judging.statistics.claims import above, each_of, every, within
from thalweg.judging.statistics.means import mean_interval

Measured = Mapping[Cell, Trials]

HALF = 0.5
"""Harm of flows that take twice as long as alone."""
NEAR = 1.5
"""Times within this factor are of one magnitude."""
_TRANSPORT = "Linux TCP there, a modelled QUIC endpoint here"


def findings(measured: Measured) -> list[Finding]:
    """All findings, on the trials of all cells of the preset `ccafct`."""
    return [finding for measure in COMPLETION for finding in _of(measure, measured)]


def _of(measure: Measure, measured: Measured) -> Iterator[Finding]:
    for competitor, who in ((None, "alone"), ("cubic", "beside CUBIC"), ("prague", "beside Prague")):
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
            + ", ".join(f"{shown(value, 2)} at {cell.rtt}" for cell, value in zip(cells, found, strict=True)),
            every(within(value, 1 / NEAR, NEAR) for value in found),
            _TRANSPORT,
        )
    beside = [cell for cell in measured if cell.competitor == "prague"]
    harms = {
        cell.rtt: mean_interval(
            measure.harm(measured[cell.alone].values[measure.name], measured[cell].values[measure.name]),
            each_of(len(beside)),
        )
        for cell in beside
    }
    stated = [getattr(LINES[cell.rtt_s, cell.competitor], f"{measure.name}_harm") for cell in beside]
    yield Finding(
        f"beside Prague, {CONTROLLER} flows take more than twice as long as alone ({measure.title})",
        CCAFCT,
        f"harm of {min(stated):.3f} to {max(stated):.3f}",
        ", ".join(f"{shown(interval)} at {rtt}" for rtt, interval in harms.items()),
        every(above(interval, HALF) for interval in harms.values()),
        _TRANSPORT,
    )
