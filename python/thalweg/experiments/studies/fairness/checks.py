"""Published findings on fairness, checked against the trials.

A check needs its cells: it is left out where the controllers or conditions that it speaks of were not run. Shares
vary much from trial to trial: all checks ask for 20 trials.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from thalweg.base.quantity import percent
from thalweg.experiments.studies.fairness.parameters import Cell
from thalweg.experiments.studies.runner.result import Check
from thalweg.judging.statistics.claims import LEAST_TRIALS_OF_SHARES, above, below, each_of, every
from thalweg.judging.statistics.digits import percent_of, ranged
from thalweg.judging.statistics.interval import Values
from thalweg.judging.statistics.means import mean_interval
from thalweg.judging.statistics.quantiles import median_interval

MODEL_BASED = "bbr1"
LOSS_BASED = ("reno", "cubic")
_NEAR = 3.0
"""RFC 8868 asks for rates between a third and three times the other's."""

Trials = Mapping[str, Values]
"""The numbers of all trials of a cell: `first`, `last`, `least` (of the fair share) and `ratio`."""


def checks(cells: Mapping[Cell, Trials]) -> list[Check]:
    """The checks that the cells allow."""
    made = [_itself(cells), _shallow(cells), _long_rtt(cells), _fair_queue(cells)]
    return [check for check in made if check is not None]


def _pairs(
    cells: Mapping[Cell, Trials], buffer_bdp: float = 1.0, rtt_ratio: float = 1.0, queue: str = "drop-tail"
) -> dict[Cell, Trials]:
    return {
        cell: trials
        for cell, trials in cells.items()
        if not cell.is_intra and (cell.buffer_bdp, cell.rtt_ratio, cell.queue) == (buffer_bdp, rtt_ratio, queue)
    }


def _itself(cells: Mapping[Cell, Trials]) -> Check | None:
    alike = {c.controllers[0]: t for c, t in _pairs(cells).items() if c.controllers[0] == c.controllers[1]}
    if not alike:
        return None
    ratios = {name: median_interval(measured["ratio"], each_of(len(alike))) for name, measured in alike.items()}
    return Check(
        "two flows of one controller and one RTT have rates within a factor of 3",
        "RFC 8868 section 3; RFC 9743 section 5.1.4",
        every(below(ratio, _NEAR, LEAST_TRIALS_OF_SHARES) for ratio in ratios.values()),
        "median ratio " + ", ".join(f"{name} {ranged(ratio)}" for name, ratio in ratios.items()),
    )


def _shallow(cells: Mapping[Cell, Trials]) -> Check | None:
    found = {
        cell.controllers[1]: trials["first"]
        for cell, trials in _pairs(cells, buffer_bdp=0.5).items()
        if cell.controllers[0] == MODEL_BASED and cell.controllers[1] in LOSS_BASED
    }
    if not found:
        return None
    shares = {name: mean_interval(values, each_of(len(found))) for name, values in found.items()}
    return Check(
        "BBRv1 takes more than its share from loss-based flows in a buffer of half a BDP",
        "Ware et al., IMC 2019",
        every(above(share, 1, LEAST_TRIALS_OF_SHARES) for share in shares.values()),
        ", ".join(f"against {name} {percent_of(share)} of fair" for name, share in shares.items()),
    )


def _long_rtt(cells: Mapping[Cell, Trials]) -> Check | None:
    farthest = max(cell.rtt_ratio for cell in cells)
    reno = _pairs(cells, rtt_ratio=farthest).get(Cell(("reno", "reno"), rtt_ratio=farthest))
    if farthest == 1 or reno is None:
        return None
    more = mean_interval(reno["first"] - reno["last"])
    return Check(
        "of two Reno flows, that with the longer RTT gets less",
        "RFC 9438 section 5.1 (rates fall with the RTT); RFC 5166 section 2.3.2",
        above(more, 0, LEAST_TRIALS_OF_SHARES),
        f"RTT ratio {farthest:g}: less by {percent_of(more)} of fair",
    )


def _fair_queue(cells: Mapping[Cell, Trials]) -> Check | None:
    fair, mixed = _pairs(cells, queue="fq-codel"), _pairs(cells)
    if not fair or not mixed:
        return None
    # The weakest flow of all pairs in each trial; all cells have the same seeds.
    mixed_least, fair_least = (
        np.min([measured["least"] for measured in group.values()], axis=0) for group in (mixed, fair)
    )
    more = mean_interval(fair_least - mixed_least)
    return Check(
        "fair queueing protects the weakest flow of all pairs",
        "RFC 8290 section 5.8",
        above(more, 0, LEAST_TRIALS_OF_SHARES),
        f"the weakest gets {percent(float(mixed_least.mean()))} of fair with drop-tail, "
        f"{percent(float(fair_least.mean()))} with FQ-CoDel: more by {percent_of(more)}",
    )
