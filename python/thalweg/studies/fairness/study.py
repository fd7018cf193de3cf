"""The study `fairness`: who gets how much of a bottleneck, for all ordered pairs of controllers and many alike.

The metric is in `metric.py`, the experiment in `parameters.py`, what it is set against in
`checks.py`. Rates are what comes out of the bottleneck from when all flows are there to the
end of the trial; all numbers of a row are means over its trials.

Sources: RFC 9743 sections 5.1.4 and 5.2 (what an evaluation has to show), RFC 8868 section 3, Jain et al. 1984.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from thalweg.outcome import Outcomes
from thalweg.scenario import Interrupted
from thalweg.statistics.claims import LEAST_TRIALS_OF_SHARES
from thalweg.statistics.discovery import summary
from thalweg.statistics.means import chance_of_mean, mean_interval
from thalweg.studies import STUDIES
from thalweg.studies.fairness.checks import checks
from thalweg.studies.fairness.metric import Values, convergence_time, mean_jain, ratio, share_of_fair
from thalweg.studies.fairness.parameters import BOTTLENECK, Cell, Parameters
from thalweg.studies.runner.result import Row, StudyResult

NAME = "fairness"
SOURCE = "RFC 9743 sections 5.1 and 5.2; RFC 8868 section 3; Jain, Chiu and Hawe 1984"
TRIALS = 20
"""Shares vary by tens of percent from trial to trial."""
MARGIN = 0.01
"""Of the fair share; a difference up to this is none."""
_BINS_S = (1.0, 5.0, 20.0)
Progress = Callable[[str, int, int], None]


@dataclass
class Fairness:
    """A finished study: its result, and what is behind each row."""

    parameters: Parameters
    result: StudyResult
    cells: dict[Cell, dict[str, Values]] = field(default_factory=dict)
    """For each row, the numbers of all trials."""
    complete: bool = True
    """False after a Ctrl-C: cells are missing."""

    def save(self, folder: Path, on_progress: Progress | None = None) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.fairness.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


def run(
    parameters: Parameters | None = None,
    trials: int = TRIALS,
    seed: int = 1,
    jobs: int = 0,
    on_progress: Progress | None = None,
) -> Fairness:
    """Runs all cells, `trials` each with seeds `seed`, `seed + 1`, ... Raises RequestError.

    >>> quick = Parameters(("cubic",), (1.0,), (1.0,), ("drop-tail",), flows=(3,), duration="20 s")
    >>> [row["flows"] for row in run(quick, trials=1).result.rows]
    [2, 3]
    """
    chosen = parameters or Parameters()
    chosen.check()
    preset = "default" if chosen == Parameters() else "custom"
    study = Fairness(chosen, StudyResult(NAME, STUDIES[NAME], SOURCE, preset, trials, seed))
    begin = time.perf_counter()
    cells = list(chosen.cells())
    for number, cell in enumerate(cells):

        def report(finished: int, name: str = cell.name, before: int = number * trials) -> None:
            if on_progress:
                on_progress(name, before + finished, trials * len(cells))

        report(0)
        try:
            outcomes = chosen.scenario(cell).trials(trials, seed, jobs, report)
        except Interrupted:
            study.complete = False
            break
        measured = measure(chosen, cell, outcomes)
        study.cells[cell] = measured
        study.result.rows.append(row(chosen, cell, outcomes, measured))
        study.result.core_s += outcomes.core_s
    study.result.wall_s = time.perf_counter() - begin
    study.result.notes = notes(study.cells)
    if study.complete:
        study.result.checks = checks(study.cells)
    return study


def measure(parameters: Parameters, cell: Cell, outcomes: Outcomes) -> dict[str, Values]:
    """The numbers of a cell, one value for each trial."""
    trials = [_trial(parameters, cell, outcomes, trial) for trial in range(outcomes.n)]
    return {name: np.array([one[name] for one in trials]) for name in trials[0]}


def notes(cells: Mapping[Cell, Mapping[str, Values]]) -> list[str]:
    """In how many pairs the first flow has not its fair share, beyond chance; nothing for too few trials."""
    shares = [trials["first"] for cell, trials in cells.items() if not cell.is_intra]
    if not shares or len(shares[0]) < LEAST_TRIALS_OF_SHARES:
        return []
    what = f"The first flow differs from its fair share by more than {MARGIN:.0%}"
    return [summary(what, [chance_of_mean(share - 1, MARGIN) for share in shares])]


def row(parameters: Parameters, cell: Cell, outcomes: Outcomes, measured: Mapping[str, Values]) -> Row:
    """One row of the table out of the trials of a cell.

    A number that one of the trials does not have, such as Jain's index where nobody got anything, is None.
    """
    mean = {name: _mean(values) for name, values in measured.items()}
    converged = measured["convergence_s"][np.isfinite(measured["convergence_s"])]
    first = mean_interval(measured["first"])
    link = outcomes.links.filter(outcomes.links["link"] == BOTTLENECK)
    pair = not cell.is_intra
    return {
        "first": cell.controllers[0],
        "second": cell.controllers[-1],
        "flows": len(cell.controllers),
        "buffer_bdp": cell.buffer_bdp,
        "rtt_ratio": cell.rtt_ratio,
        "queue": cell.queue,
        "gap_s": parameters.gap_s if pair else 0.0,
        "n": outcomes.n,
        "first_of_fair": mean["first"] if pair else None,
        "first_of_fair_low": _finite(first.low) if pair else None,
        "first_of_fair_high": _finite(first.high) if pair else None,
        "second_of_fair": mean["last"] if pair else None,
        "least_of_fair": mean["least"],
        "ratio": mean["ratio"],
        "jain_1s": mean["jain_1"],
        "jain_5s": mean["jain_5"],
        "jain_20s": mean["jain_20"],
        "converged": len(converged) / outcomes.n,
        "convergence_s": float(np.median(converged)) if len(converged) else None,
        "queue_delay_s": _mean(link["mean_queue_delay_s"].to_numpy()),
        "utilisation": mean["utilisation"],
    }


def _trial(parameters: Parameters, cell: Cell, outcomes: Outcomes, trial: int) -> dict[str, float]:
    names = [str(flow["name"]) for flow in outcomes.scenario.flows]
    series = [outcomes.series(trial, name) for name in names]
    every_s = series[0].every_s
    received: Values = np.stack([one.received for one in series])
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
    """The mean; None if a trial has no number, since the mean of the others is that of another experiment."""
    return None if np.isnan(values).any() else float(values.mean())


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
