"""The study `fairness`: who gets how much of a bottleneck, for all ordered pairs of controllers and many alike.

The metric is in `fairness_metric.py`, the experiment in `fairness_parameters.py`, what it is set against in
`fairness_checks.py`. Rates are what comes out of the bottleneck from the start of the last flow to the
end of the trial; all numbers of a row are means over its trials.

Sources: RFC 9743 sections 5.1.3 and 5.2 (what an evaluation has to show), RFC 8868 section 4, Jain et al. 1984.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from thalweg.outcome import Outcomes
from thalweg.scenario import Interrupted
from thalweg.studies import STUDIES
from thalweg.studies.fairness_checks import checks
from thalweg.studies.fairness_metric import Values, convergence_time, mean_jain, ratio, share_of_fair
from thalweg.studies.fairness_parameters import BOTTLENECK, Cell, Parameters
from thalweg.studies.result import Row, StudyResult

NAME = "fairness"
SOURCE = "RFC 9743 sections 5.1 and 5.2; RFC 8868 section 4; Jain, Chiu and Hawe 1984"
TRIALS = 3
_BINS_S = (1.0, 5.0, 20.0)
Progress = Callable[[str, int, int], None]


@dataclass
class Fairness:
    """A finished study: its result, and the cell of each row."""

    parameters: Parameters
    result: StudyResult
    cells: list[Cell] = field(default_factory=list)
    complete: bool = True
    """False after a Ctrl-C: cells are missing."""


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
        study.cells.append(cell)
        study.result.rows.append(row(chosen, cell, outcomes))
        study.result.core_s += outcomes.core_s
    study.result.wall_s = time.perf_counter() - begin
    if study.complete:
        study.result.checks = checks(study.result.rows)
    return study


def row(parameters: Parameters, cell: Cell, outcomes: Outcomes) -> Row:
    """One row of the table out of the trials of a cell."""
    measured = [_trial(parameters, cell, outcomes, trial) for trial in range(outcomes.n)]
    mean = {name: _mean([one[name] for one in measured]) for name in measured[0]}
    converged = [one["convergence_s"] for one in measured if np.isfinite(one["convergence_s"])]
    link = outcomes.links.filter(outcomes.links["link"] == BOTTLENECK)
    pair = not cell.is_intra
    return {
        "first": cell.controllers[0],
        "second": cell.controllers[-1],
        "flows": len(cell.controllers),
        "buffer_bdp": cell.buffer_bdp,
        "rtt_ratio": cell.rtt_ratio,
        "queue": cell.queue,
        "gap_s": parameters.begin_s(cell),
        "n": outcomes.n,
        "first_of_fair": mean["first"] if pair else None,
        "second_of_fair": mean["last"] if pair else None,
        "least_of_fair": mean["least"],
        "ratio": mean["ratio"],
        "jain_1s": mean["jain_1"],
        "jain_5s": mean["jain_5"],
        "jain_20s": mean["jain_20"],
        "converged": len(converged) / outcomes.n,
        "convergence_s": float(np.median(converged)) if converged else None,
        "queue_delay_s": _mean(link["mean_queue_delay_s"].to_list()),
        "utilisation": mean["utilisation"],
    }


def _trial(parameters: Parameters, cell: Cell, outcomes: Outcomes, trial: int) -> dict[str, float]:
    names = [str(flow["name"]) for flow in outcomes.scenario.flows]
    series = [outcomes.series(trial, name) for name in names]
    every_s = series[0].every_s
    received: Values = np.stack([one.received for one in series])
    begin = int(np.ceil(parameters.begin_s(cell) / every_s - 1e-9))  # the first bin in which all flows are there
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


def _mean(values: list[float]) -> float:
    known = [value for value in values if value is not None and not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
