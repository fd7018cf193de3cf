"""What `transient` takes from the trials of one cell: the metric after every step, and mean curves.

After each step the metric (`metric.py`) is armed again. The available bandwidth is what the bottleneck could have
carried in each bin, noise included, divided by the number of flows that share it. What is delivered is counted
where it leaves the bottleneck: the simulator counts it at the end of the path, half a round trip later, and it is
moved back by that.

Limits: only the main flow is measured. A step of the round-trip time does not change the bandwidth: its area is
taken over the whole of it. The share of several flows is equal by definition here, whatever their round trips.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from thalweg.base.quantity import bits_per_second, seconds
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.transient.as_coded import AsCoded, area_as_coded
from thalweg.experiments.studies.transient.fit import Fit
from thalweg.experiments.studies.transient.metric import WINDOW_RTTS, Rates, Reactions, react, rebin
from thalweg.experiments.studies.transient.parameters import MAIN, Parameters
from thalweg.experiments.studies.transient.reaction import fit_reaction

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Runs:
    """The series of all runs of a cell, in bins of the sample: bytes, one row for each run."""

    every_s: float
    sent: Rates
    received: Rates
    capacity: Rates


@dataclass(frozen=True)
class Measured:
    """What the metric says of one step of a cell."""

    reactions: Reactions
    fit: Fit
    as_coded: AsCoded | None
    """Of the first step alone: the tool knows no other."""
    every_s: float
    """Length of a bin of the curves."""
    delivered: Rates
    """Mean over the runs of the delivered rate, bits per second, in bins from the step on."""
    sent: Rates
    available: Rates


def runs(outcomes: Outcomes) -> Runs:
    """The series of the main flow, and the capacity of the bottleneck."""
    series = [outcomes.series(trial, MAIN) for trial in range(outcomes.n)]
    return Runs(
        series[0].every_s,
        np.stack([flow_series.sent for flow_series in series]),
        np.stack([flow_series.received for flow_series in series]),
        np.stack([outcomes.capacity(trial, "down") for trial in range(outcomes.n)]),
    )


def measure(parameters: Parameters, of: Runs) -> list[Measured]:
    """Applies the metric after every step."""
    steps = parameters.all_steps
    starts = [step.at_s for step in steps]
    rtt_s, flows = seconds(parameters.rtt, "--rtt"), 0
    measured: list[Measured] = []
    before_available, before_sent = np.zeros(len(of.sent)), np.zeros(len(of.sent))
    for step, (begin, end) in zip(
        steps, pairwise([*starts, seconds(parameters.duration, "--duration")]), strict=True
    ):
        flows += step.kind == "flow"
        rtt_s = seconds(step.value, "--rtt") if step.kind == "rtt" else rtt_s
        width_s = parameters.least_rtt_s
        rtt_bins = max(round(rtt_s / width_s), 1)
        first, last = round(begin / of.every_s), round(end / of.every_s)
        late = round(rtt_s / 2 / of.every_s)
        sent = _rates(of.sent[:, first:last], of.every_s, width_s)
        available = _rates(of.capacity[:, first:last], of.every_s, width_s) / flows
        delivered = _rates(of.received[:, first + late : last + late], of.every_s, width_s)
        bins = delivered.shape[1]
        sent, available = sent[:, :bins], available[:, :bins]
        mean = available.mean(axis=1)
        reactions = react(delivered, available, width_s, sent, before_available, rtt_bins)
        fit = fit_reaction(sent, before_sent, reactions, width_s, rtt_bins)
        coded = None
        if not measured:
            mbps = bits_per_second(parameters.rate, "--rate") / 1e6
            coded = area_as_coded(of.sent[:, :last], of.every_s, mbps, rtt_s / 2)
        curves = (curve.mean(axis=0) for curve in (delivered, sent, available))
        measured.append(Measured(reactions, fit, coded, width_s, *curves))
        before_available = mean
        before_sent = sent[:, -WINDOW_RTTS * rtt_bins :].mean(axis=1)
    return measured


def _rates(amounts: Rates, every_s: float, width_s: float) -> Rates:
    """Bits per second in bins of `width_s`."""
    return rebin(amounts, every_s, width_s) * 8 / width_s


def ranked(reactions: Reactions) -> npt.NDArray[np.float64]:
    """Areas in which a run that did not converge is worse than all that did."""
    return np.where(reactions.converged, reactions.area, np.inf).astype(np.float64)
