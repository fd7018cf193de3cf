"""What `transient` takes from the trials of one cell: the metric after every step, and mean curves.

After each step the metric (`metric.py`) is armed again. The available bandwidth is what the bottleneck could have
carried in each bin, noise included, divided by the number of flows that share it. What is delivered is counted
where it leaves the bottleneck: the simulator counts it at the end of the path, half a round trip later, and it is
moved back by that.

Limits: only the main flow is measured. A step of the round-trip time does not change the bandwidth: its area is
taken over the whole of it. The share of several flows is equal by definition here, whatever their round trips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from thalweg.base.quantity import bits_per_second, seconds
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.transient.as_coded import ToolAreas, area_as_coded
from thalweg.experiments.studies.transient.fit import CLASSES, LEAST_QUALITY, Fit, fit_reaction
from thalweg.experiments.studies.transient.metric import WINDOW_RTTS, Rates, Reactions, react, rebin
from thalweg.experiments.studies.transient.parameters import MAIN, Cell, Parameters
from thalweg.judging.statistics.quantiles import percentile

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
class StepResponse:
    """What the metric says about one step of a cell."""

    reactions: Reactions
    fit: Fit
    as_coded: ToolAreas | None
    """The areas of the first step only: the tool knows no other."""
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


def measure(parameters: Parameters, of: Runs) -> list[StepResponse]:
    """Applies the metric after every step."""
    steps = parameters.all_steps
    starts = [step.at_s for step in steps]
    rtt_s, flows = seconds(parameters.rtt, "--rtt"), 0
    measured: list[StepResponse] = []
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
        measured.append(StepResponse(reactions, fit, coded, width_s, *curves))
        before_available = mean
        before_sent = sent[:, -WINDOW_RTTS * rtt_bins :].mean(axis=1)
    return measured


def _rates(amounts: Rates, every_s: float, width_s: float) -> Rates:
    """Bits per second in bins of `width_s`."""
    return rebin(amounts, every_s, width_s) * 8 / width_s


def ranked(reactions: Reactions) -> npt.NDArray[np.float64]:
    """Areas in which a run that did not converge is worse than all that did."""
    return np.where(reactions.converged, reactions.area, np.inf).astype(np.float64)


def class_column(damping_class: str) -> str:
    """The column of a damping class.

    >>> class_column("critically damped")
    'critically_damped'
    """
    return damping_class.replace(" ", "_").replace("-", "_")


def row(cell: Cell, step: str, measured: StepResponse) -> Row:
    """One row of the table.

    Quantiles are computed as in verdicts (`percentile`), here as in the checks. Statistics of areas and times
    count a run that did not converge as infinite (None in JSON); statistics of over- and undershoot, `lost` and
    `level` take it with what was observed; the settled gap is of the runs that converged. Damping ratio and
    natural frequency are over the trials that have a damping class, the quality over all.
    """
    reactions, fit = measured.reactions, measured.fit
    area, reaction = np.sort(ranked(reactions)), np.sort(reactions.reaction_s.astype(np.float64))
    net = np.sort(np.where(reactions.converged, reactions.net, np.inf).astype(np.float64))
    classes = fit.classes
    known, fits = fit.quality >= 0, fit.quality >= LEAST_QUALITY
    values: dict[str, str | float | int | None] = {
        "buffer": cell.buffer,
        "controller": cell.controller,
        "step": step,
        "n": len(area),
        "converged": int(reactions.converged.sum()),
        "area_median": percentile(area, 0.5),
        "area_p95": percentile(area, 0.95),
        "overshoot": float(np.median(reactions.overshoot)),
        "undershoot": float(np.median(reactions.undershoot)),
        "settled": float(np.median(reactions.settled[reactions.converged])) if reactions.converged.any() else None,
        "net_median": percentile(net, 0.5),
        "lost_s": float(np.median(reactions.lost)),
        "reaction_median_s": percentile(reaction, 0.5),
        "reaction_p95_s": percentile(reaction, 0.95),
        "level": float(np.median(reactions.level)),
        "damping_ratio": float(np.median(fit.damping[fits])) if fits.any() else None,
        "natural_frequency": float(np.median(fit.frequency[fits])) if fits.any() else None,
        "fit_quality": float(np.median(fit.quality[known])) if known.any() else None,
    }
    values |= {class_column(name): classes.count(name) for name in CLASSES}
    coded = measured.as_coded
    known_coded = None if coded is None else coded.area[~np.isnan(coded.area)]
    values["as_coded_median"] = (
        float(np.median(known_coded)) if known_coded is not None and len(known_coded) else None
    )
    values["as_coded_converged"] = None if coded is None else int(coded.converged.sum())
    return values


def run_values(reactions: Reactions, fit: Fit) -> dict[str, Any]:
    """The numbers of every run after a step."""
    return {
        "converged": reactions.converged,
        "reaction_s": reactions.reaction_s,
        "area": reactions.area,
        "overshoot": reactions.overshoot,
        "undershoot": reactions.undershoot,
        "settled": reactions.settled,
        "net": reactions.net,
        "lost_s": reactions.lost,
        "level": reactions.level,
        "damping_ratio": fit.damping,
        "natural_frequency": fit.frequency,
        "dead_s": fit.dead_s,
        "fit_quality": fit.quality,
        "damping": fit.classes,
    }


def reaction_table(parameters: Parameters, seed: int, cells: Mapping[Cell, list[StepResponse]]) -> pl.DataFrame:
    """One row for each trial, cell and step; infinite and unknown numbers are null."""
    parts = []
    for cell, steps in cells.items():
        for step, response in zip(parameters.all_steps, steps, strict=True):
            coded, n = response.as_coded, len(response.reactions.area)
            columns = {
                "trial": np.arange(n),
                "seed": seed + np.arange(n),
                **run_values(response.reactions, response.fit),
                "as_coded": np.full(n, np.nan) if coded is None else coded.area,
                "as_coded_converged": np.zeros(n, dtype=np.bool_) if coded is None else coded.converged,
            }
            names = {"buffer": cell.buffer, "controller": cell.controller, "step": step.title}
            parts.append(pl.DataFrame(columns).select(*(pl.lit(v).alias(k) for k, v in names.items()), pl.all()))
    finite = pl.col(pl.Float64)
    return pl.concat(parts).with_columns(pl.when(finite.is_finite()).then(finite))
