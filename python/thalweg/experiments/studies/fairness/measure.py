"""The measurements of `fairness` from the trials of one cell, and its row.

Rates are those after the bottleneck from when all flows have started to the end of the trial; all numbers of a
row are means over its trials.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.fairness.metric import Values, convergence_time, mean_jain, ratio, share_of_fair
from thalweg.experiments.studies.fairness.parameters import BOTTLENECK, Cell, Parameters
from thalweg.experiments.studies.runner.result import Row
from thalweg.judging.statistics.claims import LEAST_TRIALS_OF_SHARES
from thalweg.judging.statistics.discovery import summary
from thalweg.judging.statistics.interval import finite
from thalweg.judging.statistics.means import chance_of_mean, mean_interval

MARGIN = 0.01
"""A part of the fair share; smaller differences do not count."""
_BINS_S = (1.0, 5.0, 20.0)


TrialNumbers = Mapping[str, Values]
"""The numbers of a cell, one value for each trial."""


def measure(parameters: Parameters, cell: Cell, outcomes: Outcomes) -> TrialNumbers:
    """The numbers of a cell, one value for each trial."""
    trials = [_trial(parameters, cell, outcomes, trial) for trial in range(outcomes.n)]
    link = outcomes.links.filter(outcomes.links["link"] == BOTTLENECK)
    values = {name: np.array([trial[name] for trial in trials]) for name in trials[0]}
    sent, lost = (_packets(outcomes, column) for column in ("packets_sent", "packets_lost"))
    return values | {
        "queue_delay_s": link["mean_queue_delay_s"].to_numpy(),
        "loss": np.divide(lost, sent, out=np.full(outcomes.n, np.nan), where=sent > 0),
    }


def notes(cells: Mapping[Cell, TrialNumbers]) -> list[str]:
    """In how many pairs the first flow lacks its fair share, beyond chance; nothing for too few trials."""
    shares = [trials["first"] for cell, trials in cells.items() if not cell.is_intra]
    if not shares or len(shares[0]) < LEAST_TRIALS_OF_SHARES:
        return []
    what = f"The first flow differs from its fair share by more than {MARGIN:.0%}"
    return [summary(what, [chance_of_mean(share - 1, MARGIN) for share in shares])]


def row(parameters: Parameters, cell: Cell, measured: TrialNumbers) -> Row:
    """One row of the table out of the trials of a cell.

    A number that one of the trials does not have, such as Jain's index where no flow got anything, is None.
    """
    mean = {name: _mean(values) for name, values in measured.items()}
    converged = measured["convergence_s"][np.isfinite(measured["convergence_s"])]
    first = mean_interval(measured["first"])
    n = len(measured["first"])
    pair = not cell.is_intra
    return {
        "first": cell.controllers[0],
        "second": cell.controllers[-1],
        "flows": len(cell.controllers),
        "buffer_bdp": cell.buffer_bdp,
        "rtt_ratio": cell.rtt_ratio,
        "queue": cell.queue,
        "gap_s": parameters.gap_s if pair else 0.0,
        "n": n,
        "first_of_fair": mean["first"] if pair else None,
        "first_of_fair_low": finite(first.low) if pair else None,
        "first_of_fair_high": finite(first.high) if pair else None,
        "second_of_fair": mean["last"] if pair else None,
        "least_of_fair": mean["least"],
        "ratio": mean["ratio"],
        "jain_1s": mean["jain_1"],
        "jain_5s": mean["jain_5"],
        "jain_20s": mean["jain_20"],
        "converged": len(converged) / n,
        "convergence_s": float(np.median(converged)) if len(converged) else None,
        "queue_delay_s": mean["queue_delay_s"],
        "loss": mean["loss"],
        "utilisation": mean["utilisation"],
    }


def _packets(outcomes: Outcomes, column: str) -> Values:
    """The sum over the flows of each trial."""
    sums = outcomes.flows.group_by("trial", maintain_order=True).agg(pl.col(column).sum())
    return sums[column].to_numpy().astype(np.float64)


def _trial(parameters: Parameters, cell: Cell, outcomes: Outcomes, trial: int) -> dict[str, float]:
    names = [str(flow["name"]) for flow in outcomes.scenario.flows]
    series = [outcomes.series(trial, name) for name in names]
    every_s = series[0].every_s
    received: Values = np.stack([flow_series.received for flow_series in series])
    begin = round(parameters.begin_s(cell) / every_s)  # the first bin in which all flows are there
    active = received[:, begin:]
    span_s = active.shape[1] * every_s
    rates: Values = active.sum(axis=1) * 8 / span_s
    of_fair = share_of_fair(rates, parameters.capacity_bps)
    capacity = outcomes.capacity(trial, BOTTLENECK)[begin:].sum()
    jains = {f"jain_{bin_s:g}": mean_jain(active, every_s, bin_s) for bin_s in _BINS_S}
    return {
        "first": float(of_fair[0]),
        "last": float(of_fair[-1]),
        "least": float(of_fair.min()),
        "ratio": ratio(rates),
        "convergence_s": convergence_time(received, every_s, parameters.begin_s(cell)),
        "utilisation": float(active.sum() / capacity),
        **jains,
    }


def _mean(values: Values) -> float | None:
    """The mean; None if a trial has no number, since the mean of the others belongs to another experiment."""
    return None if np.isnan(values).any() else float(values.mean())
