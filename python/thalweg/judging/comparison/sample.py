"""What is compared on one side: a number of each trial, with what it is a number of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from thalweg.judging.measures import Better
from thalweg.judging.statistics.interval import Interval, Values, finite
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.verdict import Statistics


@dataclass(frozen=True)
class Sample:
    """The values of one number of a study or of a point of a sweep."""

    metric: str
    values: pl.DataFrame = field(repr=False, compare=False)
    """A row for each trial: `seed` and `value`."""
    flow: str | None = None
    """Where it is of a flow."""
    stream: str | None = None
    unit: str = ""
    better: Better | None = None
    """Which end is better; None where nothing says it."""

    @staticmethod
    def of(metric: str, seed: int, values: Values) -> Sample:
        """The values of trials from this seed on."""
        return Sample(metric, pl.DataFrame({"seed": range(seed, seed + len(values)), "value": values}))

    @property
    def subject(self) -> str:
        """What is measured, in words."""
        return " ".join(filter(None, (self.flow, self.stream, self.metric)))

    @cached_property
    def median_interval(self) -> Interval:
        """The median, with its interval of 95 %."""
        return median_interval(self.values["value"].to_numpy())

    @property
    def median(self) -> float:
        """Half of the trials are at or under it."""
        return self.median_interval.value

    def document(self) -> dict[str, Any]:
        """This as JSON; the comparison has the rest."""
        interval = self.median_interval
        return {"n": interval.n, "median": finite(interval.value), "median_interval95": interval.document()}


Compared: TypeAlias = Statistics | Sample
"""A criterion with its statistics, or a number that no criterion bounds."""


def undefined(one: Compared) -> int:
    """How many trials do not define the number."""
    return int(np.count_nonzero(np.isnan(one.values["value"].to_numpy())))
