"""The study `harm`: what a competitor does to short flows that come and go.

Each cell of the experiment (`parameters.py`) is run with the same seeds, so that its short flows arrive at
the same times with the same lengths as those that are alone: harm is taken within each replication, between the
statistics of its two sides, and then averaged over replications with Student's interval. Metric and formulas
are in `metric.py`, what is measured in `measure.py`. A benefit counts as negative harm: what is averaged
is what was measured, and only figures end at 0.

With the controller of the short flows among the competitors, each row also says how much more the competitor
harms them than their own controller does: a new controller should not (Ware et al., HotNets 2019).

Source: ccafct (github.com/heistp/ccafct) for the experiment, Ware et al. for harm.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from thalweg.errors import RequestError
from thalweg.live import Timing, play
from thalweg.live.kernel import simulated
from thalweg.outcome import Outcomes
from thalweg.progress import Progress, silent
from thalweg.scenario import Interrupted
from thalweg.statistics.claims import LEAST_TRIALS
from thalweg.statistics.discovery import summary
from thalweg.statistics.interval import Interval
from thalweg.statistics.means import chance_of_mean, mean_interval
from thalweg.studies import STUDIES
from thalweg.studies.harm.blocks import parameter_blocks
from thalweg.studies.harm.checks import checks
from thalweg.studies.harm.findings import findings
from thalweg.studies.harm.measure import COMPLETION, MEASURES, Measure, Trials, measure
from thalweg.studies.harm.metric import excess
from thalweg.studies.harm.parameters import Cell, Parameters
from thalweg.studies.harm.published import CCAFCT, CONTROLLER, LINES
from thalweg.studies.runner.result import Row, StudyResult

NAME = "harm"
REPLICATIONS = 20
"""As many as the checks about P95 need: 45 of 900 short flows decide it."""
MARGIN = 0.01
"""Harm up to this is none."""
LIVE_REPLICATIONS = 2
"""Each takes its time."""


@dataclass
class Harm:
    """A finished study: its result, and what is behind each row."""

    parameters: Parameters
    result: StudyResult
    cells: dict[Cell, Outcomes] = field(default_factory=dict)
    measured: dict[Cell, Trials] = field(default_factory=dict)
    complete: bool = True
    """False after a Ctrl-C: cells are missing."""

    def save(self, folder: Path, on_progress: Progress = silent) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.harm.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


def run(
    parameters: Parameters | None = None,
    replications: int = REPLICATIONS,
    seed: int = 1,
    jobs: int = 0,
    on_progress: Progress = silent,
    timing: Timing | None = None,
) -> Harm:
    """Runs all cells with seeds `seed`, `seed + 1`, ...; sets the preset `ccafct` against what is published.

    Cells of the kernel's controllers run in real time, as `timing` asks. All scenarios are read
    before any runs. Raises RequestError.

    >>> quick = Parameters(rtts=("20 ms",), queue="drop-tail", competitors=("reno",), count=20, head_start="1 s")
    >>> [(row["competitor"], row["unfinished"]) for row in run(quick, replications=2).result.rows]
    [(None, 0), ('reno', 0)]
    """
    chosen = parameters or Parameters()
    if replications < 1:
        raise RequestError(f"{replications} replications: at least 1 is needed")
    result = StudyResult(NAME, STUDIES[NAME], CCAFCT, chosen.preset, replications, seed)
    study = Harm(chosen, result)
    begin = time.perf_counter()
    scenarios = chosen.scenarios()
    result.parameters = parameter_blocks(chosen)
    total = replications * len(scenarios)
    for number, (cell, scenario) in enumerate(scenarios.items()):

        def report(finished: int, name: str = cell.title, before: int = number * replications) -> None:
            on_progress(name, before + finished, total)

        report(0)
        try:
            played = play(scenario, replications, seed, jobs, report, timing)
        except Interrupted:
            study.complete = False
            break
        outcomes = played.outcomes
        result.add_live(cell.title, seed, played.reports)
        study.cells[cell], study.measured[cell] = outcomes, measure(outcomes)
    result.wall_s = time.perf_counter() - begin
    result.core_s = sum(trials.core_s for trials in study.measured.values())
    result.rows = [row(cell, study.measured, published=chosen.as_published) for cell in study.cells]
    result.notes = notes(study.measured)
    if study.complete and result.preset == "ccafct":
        result.checks = checks(study.measured)
        result.findings = findings(study.measured)
    return study


def harm_interval(one: Measure, solo: Trials, competing: Trials) -> Interval:
    """The mean of the harms of the replications, with its interval."""
    return mean_interval(one.harm(solo.values[one.name], competing.values[one.name]))


def beyond_itself(one: Measure, cell: Cell, measured: Mapping[Cell, Trials]) -> Interval | None:
    """How much more the competitor harms the short flows than their own controller does, paired by seed."""
    if cell.competitor is None or cell.against_itself not in measured:
        return None
    solo = measured[cell.alone].values[one.name]
    other, own = (measured[each].values[one.name] for each in (cell, cell.against_itself))
    with np.errstate(invalid="ignore"):  # where a measure is infinite alone, harm and the difference are unknown
        return mean_interval(one.harm(solo, other) - one.harm(solo, own))


def notes(measured: Mapping[Cell, Trials]) -> list[str]:
    """In how many rows harm to the geometric mean is more than chance; nothing for too few replications."""
    one = COMPLETION[0]
    harms = [
        one.harm(measured[cell.alone].values[one.name], trials.values[one.name])
        for cell, trials in measured.items()
        if cell.competitor is not None and cell.alone in measured
    ]
    if not harms or len(harms[0]) < LEAST_TRIALS:
        return []
    what = f"Harm to the {one.title} differs from 0 by more than {MARGIN:g}"
    return [summary(what, [chance_of_mean(harm, MARGIN) for harm in harms])]


def row(cell: Cell, measured: Mapping[Cell, Trials], *, published: bool = False) -> Row:
    """One row of the table: means over replications; harm is None for the flows alone.

    `<measure>_harm_low` and `_harm_high` are its interval; `<measure>_excess` is (competing - solo) / solo;
    `<measure>_beyond_itself` is the harm above that of the short flows' own controller. A mean over replications
    in which one has no number is None.
    With `published`, a row of the experiment of ccafct has what ccafct printed beside it.
    """
    trials = measured[cell]
    values: dict[str, str | float | int | None] = {
        "rtt_path_s": cell.rtt_s,
        "controller": cell.controller,
        "competitor": cell.competitor,
        "replications": len(trials.values["geomean"]),
        "requests": trials.requests,
        "unfinished": trials.unfinished,
        "competitor_bps": None if trials.competitor_bps is None else float(trials.competitor_bps.mean()),
    }
    for one in MEASURES:
        values[one.column] = float(trials.values[one.name].mean())
        if cell.competitor is not None:
            solo = measured[cell.alone]
            values |= _columns(f"{one.name}_harm", harm_interval(one, solo, trials))
            if not one.more_is_better:
                times = excess(solo.values[one.name], trials.values[one.name])
                values[f"{one.name}_excess"] = float(times.mean())
            values |= _columns(f"{one.name}_beyond_itself", beyond_itself(one, cell, measured))
    comparable = published and simulated(cell.controller) == CONTROLLER
    rival = cell.competitor and simulated(cell.competitor)
    line = LINES.get((cell.rtt_s, rival)) if comparable else None
    for one in COMPLETION:
        values[f"published_{one.column}"] = getattr(line, one.column, None)
        values[f"published_{one.name}_harm"] = getattr(line, f"{one.name}_harm", None)
    return values


def _columns(name: str, interval: Interval | None) -> dict[str, float | None]:
    """An interval as three columns; what is not known is None."""
    if interval is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    bounds = {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {key: value if np.isfinite(value) else None for key, value in bounds.items()}
