"""The numbers of a dossier, and how trials give them. `judging` says what each is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes, Trial
from thalweg.experiments.dossier.settings.setting import Setting, Span
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.derived import NAMED
from thalweg.judging.measures import METRICS, Measure
from thalweg.judging.statistics.interval import Values

MAIN = "main"
"""The flow under test; several are `main0`, `main1`, ..."""
OTHER = "other"
"""The flow of another controller; several are `other0`, ..."""
VIDEO = "video"
"""The stream of a call that numbers of streams are of."""


@dataclass(frozen=True)
class Made:
    """How a number comes of a metric of the engine, which bounds it in replays."""

    metric: str
    over: Literal["sum", "largest", "packets"]
    """How several flows make one number: a share of packets is of the packets of all."""
    of: Literal["main", "other", "starved", "video"] = "main"
    """Starved are the others, or any flow if all are the candidate's."""


MADE: Mapping[str, Made] = {
    "rate": Made("rate", "sum"),
    "p95-queue-delay": Made("p95-queue-delay", "largest"),
    "drops": Made("drops", "packets"),
    "trips": Made("trips", "sum"),
    "load": Made("load", "sum"),
    "least-load": Made("load", "sum"),
    "starvation": Made("starvation", "largest", "starved"),
    "victim-rate": Made("rate", "sum", "other"),
    "victim-p95-queue-delay": Made("p95-queue-delay", "largest", "other"),
    "victim-drops": Made("drops", "packets", "other"),
    "p95-delay": Made("p95-delay", "largest", "video"),
    "frozen": Made("frozen", "largest", "video"),
}
"""By number."""
NUMBERS: Mapping[str, Measure] = {
    **{name: NAMED[name] for name in (*MADE, "jain", "flow-completion-time", "packets-per-rtt", "spacing")},
    "load": replace(NAMED["load"], better="lower"),
    "trips": replace(NAMED["trips"], words="flows cut off"),
}
"""All of them, by name. A load has two: the first one may be too large, the other one too small."""
SEED = "seed"
"""The seed of each trial, apart from the numbers: a whole number that a float would round."""


def measured(setting: Setting, trials: CellTrials) -> dict[str, Values]:
    """Runs the trials of a setting: its numbers and their seeds. Raises as CellTrials does."""
    if setting.span is None:
        return _numbers(trials.outcomes())
    each = trials.each(partial(_sent, setting.span), f"{setting.span}")
    seeds = np.arange(trials.seed, trials.seed + trials.n, dtype=np.uint64)
    return {SEED: seeds} | {name: np.array([of[name] for of in each]) for name in each[0]}


def _numbers(outcomes: Outcomes) -> dict[str, Values]:
    """All numbers that these trials have, and their seeds, one value for each trial."""
    flows = outcomes.flows
    mine, others = (flows.filter(pl.col("flow").str.starts_with(name)) for name in (MAIN, OTHER))
    video = outcomes.streams.filter(pl.col("stream") == VIDEO) if len(outcomes.streams) else outcomes.streams
    tables = {"main": mine, "other": others, "starved": flows if others.is_empty() else others, "video": video}
    found = {name: _made(outcomes, tables[made.of], made) for name, made in MADE.items() if len(tables[made.of])}
    found["jain"] = outcomes.trials["jain"].to_numpy()
    if len(video):
        found["p95-delay"] = np.nan_to_num(found["p95-delay"], nan=np.inf)  # where nothing arrived
    if len(outcomes.requests):
        found["flow-completion-time"] = _geometric_mean(outcomes)
    known = {name: values for name, values in found.items() if not np.isnan(values).all()}
    return {SEED: outcomes.trials["seed"].to_numpy(), **known}


def _sent(span: Span, trial: Trial) -> dict[str, float]:
    """How many packets a sender sent in a part of the trial, and their spacing from the change on."""
    assert trial.trace is not None
    sent = trial.trace.packets.filter(pl.col("event") == "sent")["time_s"].to_numpy()
    after = sent[(sent > span.change_s) & (sent <= span.end_s)]
    return {
        "packets-per-rtt": int(np.sum(after > span.begin_s)) * span.rtt_s / (span.end_s - span.begin_s),
        "spacing": float(np.diff(after, prepend=span.change_s, append=span.end_s).max()),
    }


def _by_trial(outcomes: Outcomes, table: pl.DataFrame, value: pl.Expr) -> Values:
    """A value of each trial; NaN where the table has no row of it."""
    each = dict(table.group_by("trial").agg(value.alias("value")).iter_rows())
    return np.array([each.get(trial, np.nan) for trial in range(outcomes.n)], dtype=np.float64)


def _made(outcomes: Outcomes, table: pl.DataFrame, made: Made) -> Values:
    """A flow or a frame without a number leaves none."""
    if made.over == "packets":
        dropped, sent = (pl.col(column).sum() for column in ("packets_dropped", "packets_sent"))
        return _by_trial(outcomes, table, (dropped / sent).cast(pl.Float64))
    column = pl.col(METRICS[made.metric].column).cast(pl.Float64)
    return _by_trial(outcomes, table, column.sum() if made.over == "sum" else column.fill_nan(None).max())


def _geometric_mean(outcomes: Outcomes) -> Values:
    """The mean of completion times; a flow that the time limit cut off counts with the time that it was there."""
    ends = outcomes.trials.select("trial", "end_s")
    times = outcomes.requests.join(ends, on="trial").with_columns(
        pl.when(pl.col("completion_s").is_finite())
        .then(pl.col("completion_s"))
        .otherwise(pl.col("end_s"))
        .sub(pl.col("start_s"))
        .alias("time_s")
    )
    return _by_trial(outcomes, times.filter(pl.col("time_s") > 0), pl.col("time_s").log().mean().exp())
