"""A number estimated from trials, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


Values: TypeAlias = "npt.NDArray[np.float64]"

CONFIDENCE = 0.95
"""The confidence of all intervals unless said otherwise: half of the rest on each side."""


def finite(value: float) -> float | None:
    """A number as JSON has it: one that is not finite is null.

    >>> finite(1.5), finite(math.inf), finite(math.nan)
    (1.5, None, None)
    """
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Interval:
    """An estimate and its two-sided confidence interval."""

    value: float
    """The estimate; NaN if the trials do not define it."""
    low: float
    """-inf if the trials do not bound it from below."""
    high: float
    """inf if they do not bound it from above."""
    n: int
    """Trials, pairs of trials or replications that it rests on."""

    @property
    def is_bounded(self) -> bool:
        """Whether the trials bound it on both sides."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def document(self) -> list[float | None]:
        """Both bounds as JSON has them; one that is not finite is null."""
        return [finite(self.low), finite(self.high)]


def without_interval(value: float, n: int) -> Interval:
    """An estimate without an interval."""
    return Interval(value, -math.inf, math.inf, n)
