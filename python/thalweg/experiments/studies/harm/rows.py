"""The rows of the table of `harm`, from the measurements of all cells.

Harm is taken within each replication, between the statistics of its two sides, and then averaged over
replications with Student's interval. A benefit counts as negative harm: what is averaged is what was measured, and
only figures end at 0.

With the controller of the short flows among the competitors, each row also says how much more the competitor
harms them than their own controller does: a new controller should not (Ware et al., HotNets 2019).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from thalweg.experiments.studies.harm.measure import COMPLETION, MEASURES, Measure, Trials
from thalweg.experiments.studies.harm.metric import excess
from thalweg.experiments.studies.harm.parameters import Cell
from thalweg.experiments.studies.harm.published import CONTROLLER, LINES
from thalweg.experiments.studies.runner.result import Row
from thalweg.judging.statistics.claims import LEAST_TRIALS
from thalweg.judging.statistics.discovery import summary
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.means import chance_of_mean, mean_interval
from thalweg.realtime.kernel import simulated

MARGIN = 0.01
"""Smaller harm does not count."""


def harm_interval(measure: Measure, solo: Trials, competing: Trials) -> Interval:
    """The mean of the harms of the replications, with its interval."""
    return mean_interval(measure.harm(solo.values[measure.name], competing.values[measure.name]))


def beyond_itself(measure: Measure, cell: Cell, measured: Mapping[Cell, Trials]) -> Interval | None:
    """How much more the competitor harms the short flows than their own controller does, paired by seed."""
    if cell.competitor is None or cell.against_itself not in measured:
        return None
    solo = measured[cell.alone].values[measure.name]
    other, own = (measured[each].values[measure.name] for each in (cell, cell.against_itself))
    with np.errstate(invalid="ignore"):  # where a measure is infinite alone, harm and the difference are unknown
        return mean_interval(measure.harm(solo, other) - measure.harm(solo, own))


def notes(measured: Mapping[Cell, Trials]) -> list[str]:
    """In how many rows harm to the geometric mean is more than chance; nothing for too few replications."""
    measure = COMPLETION[0]
    harms = [
        measure.harm(measured[cell.alone].values[measure.name], trials.values[measure.name])
        for cell, trials in measured.items()
        if cell.competitor is not None and cell.alone in measured
    ]
    if not harms or len(harms[0]) < LEAST_TRIALS:
        return []
    what = f"Harm to the {measure.title} differs from 0 by more than {MARGIN:g}"
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
    for measure in MEASURES:
        values[measure.column] = float(trials.values[measure.name].mean())
        if cell.competitor is not None:
            solo = measured[cell.alone]
            values |= _columns(f"{measure.name}_harm", harm_interval(measure, solo, trials))
            if not measure.more_is_better:
                times = excess(solo.values[measure.name], trials.values[measure.name])
                values[f"{measure.name}_excess"] = float(times.mean())
            values |= _columns(f"{measure.name}_beyond_itself", beyond_itself(measure, cell, measured))
    comparable = published and simulated(cell.controller) == CONTROLLER
    rival = cell.competitor and simulated(cell.competitor)
    line = LINES.get((cell.rtt_s, rival)) if comparable else None
    for measure in COMPLETION:
        values[f"published_{measure.column}"] = getattr(line, measure.column, None)
        values[f"published_{measure.name}_harm"] = getattr(line, f"{measure.name}_harm", None)
    return values


def _columns(name: str, interval: Interval | None) -> dict[str, float | None]:
    """An interval as three columns; what is not known is None."""
    if interval is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    bounds = {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {key: value if np.isfinite(value) else None for key, value in bounds.items()}
