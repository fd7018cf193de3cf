"""The measures of `harm` from the outcomes of one cell, one value for each trial.

| measure | unit | better | is |
|---|---|---|---|
| geomean, median, p95 | s | less | completion times of the short flows, from nominal arrival to last byte |
| throughput | bit/s | more | bytes of the short flows over the sum of their completion times |
| rtt | s | less | mean of the RTT samples of the short flows |
| queue delay | s | less | mean waiting time of their packets in the queue, both directions |
| loss | 1 | less | their packets that queues dropped or links lost, over packets sent |

A short flow that did not complete is infinite in quantiles. In the geometric mean and in the throughput it
counts with its time until the end of the trial, a lower bound of its completion time, and with zero
bytes. One that would have started after the end is not a flow of the trial.

Limits: the mean RTT gives flows weight by their number of samples, so long ones decide it. A mark is not a loss:
controllers that ask for ECN lose little in a queue that marks, and harm to a loss of a few packets is a ratio of
small numbers. What is lost is counted in the direction of the data.

In rows, harm is taken within each replication, between the statistics of its two sides, and then averaged over
replications with Student's interval. A benefit counts as negative harm: what is averaged is what was measured, and
only figures end at 0. With the controller of the short flows among the competitors, each row also says how much
more the competitor harms them than their own controller does: a new controller should not (Ware et al., HotNets
2019).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.harm.metric import (
    durations,
    excess,
    geometric_mean,
    harm_less_is_better,
    harm_more_is_better,
    observed_durations,
    quantile,
)
from thalweg.experiments.studies.harm.parameters import COMPETITOR, SHORT, Cell
from thalweg.experiments.studies.harm.published import CONTROLLER, LINES
from thalweg.experiments.studies.runner.result import Row
from thalweg.judging.statistics.claims import LEAST_TRIALS
from thalweg.judging.statistics.discovery import summary
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import chance_of_mean, mean_interval
from thalweg.realtime.kernel import simulated

MARGIN = 0.01
"""Smaller harm does not count."""
Name = Literal["geomean", "median", "p95", "throughput", "rtt", "queue_delay", "loss"]


@dataclass(frozen=True)
class Measure:
    """One thing that can be harmed."""

    name: Name
    title: str
    unit: str
    """`s` or `bps`; empty for a share."""
    more_is_better: bool = False

    @property
    def column(self) -> str:
        """Its name in tables, with its unit."""
        return f"{self.name}_{self.unit}" if self.unit else self.name

    def harm(self, solo: Values, competing: Values) -> Values:
        """Harm trial by trial, up to 1; a benefit is negative."""
        formula = harm_more_is_better if self.more_is_better else harm_less_is_better
        return formula(solo, competing)


COMPLETION = (
    Measure("geomean", "geometric mean", "s"),
    Measure("median", "median", "s"),
    Measure("p95", "P95", "s"),
)
"""The three statistics of completion times."""
OTHERS = (
    Measure("throughput", "throughput", "bps", more_is_better=True),
    Measure("rtt", "RTT", "s"),
    Measure("queue_delay", "queue delay", "s"),
    Measure("loss", "loss", ""),
)
MEASURES = (*COMPLETION, *OTHERS)


@dataclass(frozen=True)
class Trials:
    """All measures of a cell; arrays have one value for each trial."""

    values: dict[Name, Values]
    requests: int
    """In all trials."""
    unfinished: int
    """How many of them did not complete before the limit."""
    competitor_bps: Values | None
    """Rate of the competitor while there were short flows."""
    core_s: float


def measure(outcomes: Outcomes) -> Trials:
    """Measures the short flows of all trials of a cell. Raises RequestError if a trial has nothing to measure."""
    flow = outcomes.flows.filter(pl.col("flow") == SHORT).sort("trial")
    if flow["mean_rtt_s"].fill_null(np.nan).is_nan().any():
        raise RequestError(
            f"{outcomes.scenario.title}: no short flow got a reply within the time limit of "
            f"{text(outcomes.scenario.time_limit_s, 's')} in one of the trials; use a longer --time-limit"
        )
    rival = outcomes.flows.filter(pl.col("flow") == COMPETITOR).sort("trial")
    limit_s = outcomes.scenario.time_limit_s
    requests = outcomes.requests.filter((pl.col("flow") == SHORT) & (pl.col("start_s") < limit_s))
    requests = requests.with_columns(pl.col("completion_s").fill_null(np.nan))
    trials = requests.partition_by("trial", maintain_order=True)
    taken = [completion_times(trial) for trial in trials]
    observed = [_observed(trial, limit_s) for trial in trials]
    quantiles: dict[Name, float] = {"median": 0.5, "p95": 0.95}
    values: dict[Name, Values] = {"geomean": np.array([geometric_mean(times) for times in observed])}
    values |= {name: np.array([quantile(times, p) for times in taken]) for name, p in quantiles.items()}
    values["throughput"] = np.array([_rate(*pair) for pair in zip(trials, observed, strict=True)])
    values["rtt"] = _column(flow, "mean_rtt_s")
    values["queue_delay"] = _column(flow, "mean_queue_delay_s")
    gone = _column(flow, "packets_dropped") + _column(flow, "packets_lost_at_random")
    values["loss"] = gone / np.maximum(_column(flow, "packets_sent"), 1)
    return Trials(
        values,
        requests.height,
        int(requests["completion_s"].is_nan().sum()),
        _column(rival, "shared_rate_bps") if rival.height else None,
        outcomes.core_s,
    )


def completion_times(requests: pl.DataFrame) -> Values:
    """Completion time of each short flow; infinite if it did not complete."""
    completion_s = requests["completion_s"].fill_null(np.nan)
    return durations(requests["start_s"].to_numpy(), completion_s.to_numpy())


def _observed(requests: pl.DataFrame, limit_s: float) -> Values:
    return observed_durations(requests["start_s"].to_numpy(), requests["completion_s"].to_numpy(), limit_s)


def _rate(requests: pl.DataFrame, taken: Values) -> float:
    """Bits that arrived for each second that a short flow was open."""
    done = requests.filter(pl.col("completion_s").is_not_nan())
    return 8 * float(done["bytes"].sum()) / float(taken.sum())


def _column(flows: pl.DataFrame, name: str) -> Values:
    return flows[name].to_numpy().astype(np.float64)


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
    `<measure>_beyond_itself` is the harm above the harm of the short flows' own controller. A mean over
    replications in which one has no number is None. With `published`, a row of the experiment of ccafct also has
    what ccafct printed.
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
