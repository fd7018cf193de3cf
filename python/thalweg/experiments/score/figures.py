"""What is measured of a controller on one scenario, each number with CUBIC's on the same seeds.

`judging` says what each is. Rate and RTT of the flow `main` are medians of the trials, loss is their mean; what is
taken is of the median rates. Its reference is CUBIC (Ware et al., "Beyond Jain's Fairness Index", HotNets 2019,
with two flows of CUBIC in place of one): 0 takes no more than CUBIC does, 1 takes everything, below 0
leaves it more. For a call, the numbers of each stream are medians of the trials.

Limits: a flow that never finished has the rate of the whole trial.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.score.scenarios import MAIN
from thalweg.judging.derived import NAMED
from thalweg.judging.measures import METRICS
from thalweg.judging.statistics.interval import Values

COMPETITOR = "cubic"
OF_STREAMS = [measure.column for measure in METRICS.values() if measure.of == "stream" and measure.better]
"""What is measured of a stream of media."""
RATE, RTT, LEAST_SHARE = (NAMED[name].column for name in ("rate", "rtt", "least-share"))
"""As the document has them."""


@dataclass(frozen=True)
class Figures:
    """The figures of one controller on one scenario; None for what the scenario lacks."""

    rate: float
    rtt: float
    loss: float
    competitor_rate: float | None
    """The goodput of the flow of CUBIC."""
    least_share: float | None
    unfinished: int
    """Trials in which the flow did not finish although the trial waited for it."""
    streams: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What each stream of media of the flow has, by columns."""
    stream_values: Mapping[str, Values] = field(default_factory=dict)
    """The same of each trial, by stream and column as `video frozen_s`; NaN where a trial lacks it."""
    rates: Values = field(default_factory=lambda: np.zeros(0))
    """The rate of each trial; 0 where there is none."""
    rtts: Values = field(default_factory=lambda: np.zeros(0))
    """The round-trip time of each trial; 0 where there is none."""

    @staticmethod
    def of(outcomes: Outcomes) -> Figures:
        """Takes them from trials."""
        flows = outcomes.flows
        main = flows.filter(pl.col("flow") == MAIN)
        competitor = flows.filter(pl.col("flow") == COMPETITOR)
        count = flows["flow"].n_unique()
        streams = outcomes.streams.filter(pl.col("flow") == MAIN)
        medians = _streams(streams)
        return Figures(
            rate=_median(main[RATE]),
            rtt=_median(main[RTT]),
            loss=_mean(main["loss"]),
            competitor_rate=_median(competitor[RATE]) if competitor.height else None,
            least_share=_least(flows["share"], count) if count > 1 else None,
            unfinished=int((~main["finished"]).sum()) if outcomes.scenario.awaits(MAIN) else 0,
            streams=medians,
            stream_values=_stream_values(streams, medians),
            rates=_each(main[RATE]),
            rtts=_each(main[RTT]),
        )


def taken(mine: Figures, cubic: Figures) -> float | None:
    """What the controller takes from a flow of CUBIC that CUBIC would not.

    >>> taken(Figures(1, 1, 0, 4e6, 1, 0), Figures(1, 1, 0, 10e6, 1, 0))
    0.6
    """
    if mine.competitor_rate is None or not cubic.competitor_rate:
        return None
    return 1 - mine.competitor_rate / cubic.competitor_rate


def _each(column: pl.Series) -> Values:
    return np.asarray(column.cast(pl.Float64).fill_nan(None).fill_null(0.0), dtype=np.float64)


def _streams(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """The medians of each stream; none of what no trial defines."""
    return {
        str(name): {
            column: _median(own[column])
            for column in OF_STREAMS
            if own[column].cast(pl.Float64).fill_nan(None).drop_nulls().len()
        }
        for (name,), own in table.group_by(["stream"], maintain_order=True)
    }


def _stream_values(table: pl.DataFrame, medians: Mapping[str, Mapping[str, float]]) -> dict[str, Values]:
    """The value of each trial of what the streams have."""
    return {
        of_stream(name, column): np.asarray(
            table.filter(pl.col("stream") == name)[column].cast(pl.Float64).fill_null(math.nan), dtype=np.float64
        )
        for name, columns in medians.items()
        for column in columns
    }


def of_stream(name: str, column: str) -> str:
    """The key of a number of a stream.

    >>> of_stream("video", "frozen_s")
    'video frozen_s'
    """
    return f"{name} {column}"


def _median(column: pl.Series) -> float:
    found = column.cast(pl.Float64).fill_nan(None).drop_nulls().median()
    return float(found) if isinstance(found, (int, float)) else 0.0


def _mean(column: pl.Series) -> float:
    found = column.fill_nan(None).drop_nulls().mean()
    return float(found) if isinstance(found, (int, float)) else 0.0


def _least(shares: pl.Series, count: int) -> float | None:
    """The least part of an equal share; None if flows were never active at the same time."""
    found = shares.fill_nan(None).drop_nulls().min()
    return count * float(found) if isinstance(found, (int, float)) else None
