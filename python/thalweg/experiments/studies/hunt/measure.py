"""What is kept of a case: the finds of its hunts, and the objective in the trials of its shipped scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.base.toml import read_toml
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.experiments.hunt import Find, Hunt
from thalweg.experiments.hunt.find import count
from thalweg.experiments.hunt.judge import Judge
from thalweg.experiments.hunt.objective import Values
from thalweg.experiments.hunt.plan import HuntPlan
from thalweg.experiments.studies.hunt.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.quantiles import median


@dataclass(frozen=True)
class CaseHunts:
    """The hunts of one case."""

    finds: list[Find]
    shipped: Values
    """The objective in each trial of the shipped scenario."""
    unit: str


def measure(parameters: Parameters, cell: Cell, trials: CellTrials) -> CaseHunts:
    """Hunts, and plays the shipped scenario. Raises RequestError and Interrupted."""
    finds = []
    for number in range(parameters.hunts):
        try:
            find = Hunt.of(parameters.plan(cell, number + 1)).run(executor=trials.executor)
        except KeyboardInterrupt:  # before there was anything to find
            raise Interrupted(None) from None
        if not find.complete:
            raise Interrupted(None)
        finds.append(find)
        trials.core_s += find.core_s
    plan = parameters.plan(cell, 1)
    return CaseHunts(finds, _shipped(plan, trials), plan.objective.unit)


def _shipped(plan: HuntPlan, trials: CellTrials) -> Values:
    """The objective of the shipped scenario, with its own criterion, on each seed."""
    judge = Judge(replace(plan, plan=replace(plan.plan, trials=trials.n, seed=trials.seed)))
    document = read_toml(trials.scenario.toml, "scenario")
    steps = judge.values([document])
    try:
        while True:
            trials.executor.play([next(steps)], judge.take, trials.progress)
    except StopIteration:
        pass
    except KeyboardInterrupt:
        raise Interrupted(None) from None
    trials.core_s += judge.core_s
    if judge.failures or judge.refusal:
        raise RequestError(judge.refusal or judge.failures[0].error)
    if isinstance(trials.scenario, Scenario):  # what a link to its first trial promises
        trials.first_hash = trials.scenario.run(trials.seed).trace_hash
    return judge.each(document)


def until(find: Find, bound: float) -> int | None:
    """How many scenarios a hunt tried until one was beyond a bound; None if none was."""
    over = (number for number, value in enumerate(find.history, 1) if value is not None and value >= bound)
    return next(over, None)


def row(cell: Cell, measured: CaseHunts) -> Row:
    """One row of the table: medians over hunts, and over the trials of the shipped scenario."""
    reached = [until(find, cell.bound) for find in measured.finds]
    found = [number for number in reached if number is not None]
    return {
        "case": cell.name,
        "objective": measured.finds[0].objective.kind,
        "unit": measured.unit,
        "bound": cell.bound,
        "baseline": measured.finds[0].baseline,
        "found": median(np.array([find.found_value for find in measured.finds])),
        "hunts": len(measured.finds),
        "reached": len(found),
        "scenarios": median(np.array(found, dtype=np.float64)) if found else None,
        "numbers_found": median(np.array([float(count(find.found)) for find in measured.finds])),
        "numbers_shrunk": median(np.array([float(count(find.shrunk)) for find in measured.finds])),
        "shipped": median(measured.shipped),
        "n": len(measured.shipped),
    }
