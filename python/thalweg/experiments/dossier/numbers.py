"""The numbers of a dossier: what they mean, their units, which end is better, and how trials give them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes, Trial
from thalweg.experiments.dossier.settings.setting import Setting, Span
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values


@dataclass(frozen=True)
class Number:
    """One value of each trial."""

    name: str
    """In limits and tables."""
    title: str
    unit: str
    better: Literal["lower", "higher"]
    meaning: str


NUMBERS = {
    number.name: number
    for number in (
        Number("rate", "rate", "bps", "higher", "bytes delivered over the time, of all flows under test"),
        Number(
            "p95-queue-delay", "p95 queue delay", "s", "lower", "the wait that 95 % of the packets do not exceed"
        ),
        Number("drops", "drops", "share", "lower", "packets that queues dropped, of those sent"),
        Number("jain", "Jain's index", "", "higher", "over the bytes of the flows while all were active"),
        Number(
            "starvation",
            "starvation",
            "s",
            "lower",
            "the longest run of bins of 100 ms with less than a tenth of an equal share: of the other flows, or "
            "of any if all are the candidate's",
        ),
        Number("completion", "completion of short flows", "s", "lower", "geometric mean of the completion times"),
        Number(
            "victim-rate",
            "rate of the others",
            "bps",
            "higher",
            "bytes delivered to the other flows, over the time",
        ),
        Number(
            "victim-delay",
            "p95 queue delay of the others",
            "s",
            "lower",
            "the wait that 95 % of their packets do not exceed",
        ),
        Number(
            "victim-drops",
            "drops of the others",
            "share",
            "lower",
            "their packets that queues dropped, of those sent",
        ),
        Number(
            "frames", "p95 frame delay", "s", "lower", "of the video of a call: 95 % of the frames come within it"
        ),
        Number("frozen", "freezes", "s", "lower", "time in which the video of a call stood still"),
        Number(
            "packets-per-rtt",
            "packets sent per round trip",
            "",
            "lower",
            "packets that the sender sent from when the change came, per round trip of the path without its queue",
        ),
        Number(
            "spacing",
            "longest spacing of packets",
            "s",
            "higher",
            "the longest time in which the sender sent nothing after the change, to the end",
        ),
        Number(
            "load",
            "load",
            "share",
            "lower",
            "UDP payload that the sender sent while both flows were active, of what the rate of the path carries "
            "in that time",
        ),
        Number("least-load", "load from below", "share", "higher", "the same, of which too little is worse"),
        Number("trips", "flows cut off", "", "lower", "flows under test that their circuit breaker ended"),
    )
}
"""All of them, by name."""
MAIN = "main"
"""The flow under test; several are `main0`, `main1`, ..."""
OTHER = "other"
"""The flow of another controller; several are `other0`, ..."""
SEED = "seed"
"""Beside the numbers: the seed of each trial, a whole number that a float would round."""


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
    found = {
        "rate": _sum(outcomes, mine, "mean_rate_bps"),
        "p95-queue-delay": _most(outcomes, mine, "p95_queue_delay_s"),
        "drops": _share(outcomes, mine),
        "trips": _sum(outcomes, mine, "trips"),
        **{name: _sum(outcomes, mine, "load") for name in ("load", "least-load")},
        "jain": outcomes.trials["jain"].to_numpy(),
        "starvation": _most(outcomes, flows if others.is_empty() else others, "starvation_s"),
        "victim-rate": _sum(outcomes, others, "mean_rate_bps"),
        "victim-delay": _most(outcomes, others, "p95_queue_delay_s"),
        "victim-drops": _share(outcomes, others),
    }
    if len(outcomes.requests):
        found["completion"] = _geometric_mean(outcomes)
    video = outcomes.streams.filter(pl.col("stream") == "video") if len(outcomes.streams) else outcomes.streams
    if len(video):
        found |= {
            "frames": _or_never(_most(outcomes, video, "p95_delay_s")),
            "frozen": _most(outcomes, video, "frozen_s"),
        }
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


def _sum(outcomes: Outcomes, table: pl.DataFrame, column: str) -> Values:
    return _by_trial(outcomes, table, pl.col(column).cast(pl.Float64).sum())


def _most(outcomes: Outcomes, table: pl.DataFrame, column: str) -> Values:
    """The largest; a frame or a flow without a number leaves none."""
    return _by_trial(outcomes, table, pl.col(column).cast(pl.Float64).fill_nan(None).max())


def _or_never(delays: Values) -> Values:
    """Delays, infinite where nothing arrived."""
    return np.where(np.isnan(delays), np.inf, delays)


def _share(outcomes: Outcomes, table: pl.DataFrame) -> Values:
    dropped, sent = (pl.col(column).sum() for column in ("packets_dropped", "packets_sent"))
    return _by_trial(outcomes, table, (dropped / sent).cast(pl.Float64))


def _geometric_mean(outcomes: Outcomes) -> Values:
    """Of completion times; a short flow that the time limit cut off counts with the time that it was there."""
    ends = outcomes.trials.select("trial", "end_s")
    times = outcomes.requests.join(ends, on="trial").with_columns(
        pl.when(pl.col("completion_s").is_finite())
        .then(pl.col("completion_s"))
        .otherwise(pl.col("end_s"))
        .sub(pl.col("start_s"))
        .alias("time_s")
    )
    return _by_trial(outcomes, times.filter(pl.col("time_s") > 0), pl.col("time_s").log().mean().exp())
