"""What is measured of a controller on one scenario, each number beside that of CUBIC on the same seeds.

- goodput: bytes that the application has got over the time that the flow took, of the flow `main` (bps); the
median of the trials. - delay: mean RTT of the flow `main` (s); the median of the trials. - loss: bytes declared
lost over bytes sent; the mean. - taken: how much less goodput a flow of CUBIC has beside the controller than
beside CUBIC: 1 - beside / beside CUBIC (Ware et al., "Beyond Jain's Fairness Index", HotNets 2019, with CUBIC
beside itself in place of CUBIC alone). 0 takes no more than CUBIC does, 1 takes everything, below 0 leaves it
more; of the medians. - least share: the least that a flow got of what an equal division would give it, in
the time that all were active, over all trials: 1 is equal, 0 is nothing.

Limits: a flow that never finished has the goodput of the whole trial.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.score.scenarios import MAIN
from thalweg.judging.statistics.interval import Values

COMPETITOR = "cubic"


@dataclass(frozen=True)
class Figures:
    """Of one controller on one scenario; None for what the scenario has not."""

    goodput: float
    delay: float
    loss: float
    competitor_goodput: float | None
    """Of the flow of CUBIC."""
    least_share: float | None
    unfinished: int
    """Trials in which the flow did not finish although the trial waited for it."""
    goodputs: Values = field(default_factory=lambda: np.zeros(0))
    """Of each trial; 0 where there is none."""
    delays: Values = field(default_factory=lambda: np.zeros(0))
    """Of each trial; 0 where there is none."""

    @staticmethod
    def of(outcomes: Outcomes) -> Figures:
        """Takes them from trials."""
        flows = outcomes.flows
        main = flows.filter(pl.col("flow") == MAIN)
        competitor = flows.filter(pl.col("flow") == COMPETITOR)
        awaited = any(flow["name"] == MAIN and flow["awaited"] for flow in outcomes.scenario.flows)
        count = flows["flow"].n_unique()
        return Figures(
            goodput=_median(main["mean_rate_bps"]),
            delay=_median(main["mean_rtt_s"]),
            loss=_mean(main["loss"]),
            competitor_goodput=_median(competitor["mean_rate_bps"]) if competitor.height else None,
            least_share=_least(flows["share"], count) if count > 1 else None,
            unfinished=int((~main["finished"]).sum()) if awaited else 0,
            goodputs=_each(main["mean_rate_bps"]),
            delays=_each(main["mean_rtt_s"]),
        )


def taken(mine: Figures, cubic: Figures) -> float | None:
    """What the controller takes from a flow of CUBIC that CUBIC would not.

    >>> taken(Figures(1, 1, 0, 4e6, 1, 0), Figures(1, 1, 0, 10e6, 1, 0))
    0.6
    """
    if mine.competitor_goodput is None or not cubic.competitor_goodput:
        return None
    return 1 - mine.competitor_goodput / cubic.competitor_goodput


def _each(column: pl.Series) -> Values:
    return np.asarray(column.cast(pl.Float64).fill_nan(None).fill_null(0.0), dtype=np.float64)


def _median(column: pl.Series) -> float:
    found = column.fill_nan(None).drop_nulls().median()
    return float(found) if isinstance(found, (int, float)) else 0.0


def _mean(column: pl.Series) -> float:
    found = column.fill_nan(None).drop_nulls().mean()
    return float(found) if isinstance(found, (int, float)) else 0.0


def _least(shares: pl.Series, count: int) -> float | None:
    """Of an equal share; None if flows were never active at the same time."""
    found = shares.fill_nan(None).drop_nulls().min()
    return count * float(found) if isinstance(found, (int, float)) else None
