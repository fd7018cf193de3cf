"""The numbers that the tests of C4 after draft -04 publish of a scenario, over its trials.

docs/reference/metrics.md defines them. `thalweg compare` and verdicts have intervals; where trials are of two
kinds, a mean of few of them tells another story than the median.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.judging.verdict import without_offset

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Published:
    """One scenario. A number that the scenario or one of its trials does not define is nan."""

    closed_mean_s: float
    closed_p90_s: float
    event_rtt_mean_s: float
    event_rtt_high_p90_s: float
    load_mean: float
    load_p90: float
    frame_delay_mean_s: float
    max_frame_delay_p90_s: float


def published(outcomes: Outcomes, flow: str | None = None) -> Published:
    """The numbers of a flow, of the main one by default. Raises KeyError if there is no such flow.

    >>> from thalweg import Scenario
    >>> numbers = published(Scenario.load("c4-05/alone-512k").trials(3))
    >>> round(numbers.closed_mean_s), round(numbers.load_mean, 1), numbers.frame_delay_mean_s
    (17, 1.0, nan)
    """
    names = [str(described["name"]) for described in outcomes.scenario.flows]
    flow = names[0] if flow is None else flow
    if flow not in names:
        raise KeyError(flow)
    starts_s = {str(described["name"]): float(described["start_s"]) for described in outcomes.scenario.flows}
    rows = without_offset(outcomes.flows, starts_s).filter(pl.col("flow") == flow)
    closed = rows["closed_s"].to_numpy()
    return Published(
        _mean(closed),
        _p90(closed),
        _mean(rows["event_rtt_s"].to_numpy()),
        _p90(rows["event_rtt_high_s"].to_numpy()),
        _mean(rows["load"].to_numpy()),
        _p90(rows["load"].to_numpy()),
        _mean(rows["frame_delay_s"].to_numpy()),
        _p90(rows["max_frame_delay_s"].to_numpy()),
    )


def _mean(values: npt.NDArray[np.float64]) -> float:
    """The mean; nan without values."""
    return float(values.mean()) if len(values) else math.nan


def _p90(values: npt.NDArray[np.float64]) -> float:
    """The 90th percentile, linear between order statistics as in the published tables; nan without values."""
    return float(np.percentile(values, 90)) if len(values) else math.nan
