"""The two-component model of bad Wi-Fi, with explicit scales, as a distribution that can be computed.

Per packet, with steps `short` and `long`:

```
N1 ~ Poisson(1)                            collisions, on every packet
N2 ~ Poisson(12) with probability x        retransmissions, on a fraction x of them
delay = short (N1 - U[0, 1) if N1 >= 1) + long (N2 - U[0, 1) if N2 >= 2)
```

With 1 ms and 7.5 ms this is the model of the simulator (crates/path/src/jitter/wifi.rs, formula `reference`), in
which a requested mean of J ms is x = (J - 1) / 84. The uniform numbers smooth each Poisson number over one step:
the distribution function of either part is a broken line through the Poisson one, with a step at zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.probe.series import Floats

SHORT_S, LONG_S = 1e-3, 7.5e-3
"""The published steps."""
_SHORT_COUNT, _LONG_COUNT = 1.0, 12.0
_LEAST_MEAN_S, _MEAN_PER_FRACTION_S = 1e-3, 84e-3
_COUNTS = 64
_MOST_COLLISIONS = 20
"""More happen once in 10^19 packets."""


def _poisson(mean: float) -> Floats:
    return np.array([math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(_COUNTS)])


_SHORT_MASS = _poisson(_SHORT_COUNT)
_SHORT_SUM = np.cumsum(_SHORT_MASS)
_LONG_SUM = np.cumsum(_poisson(_LONG_COUNT))
_SHORT_MEAN = _SHORT_COUNT - (1 - _SHORT_MASS[0]) / 2
_LONG_MEAN = _LONG_COUNT - (1 - _LONG_SUM[1]) / 2
# The area under the distribution function of the long part, up to each whole step.
_LONG_AREA = np.concatenate([[0.0, _LONG_SUM[0]], _LONG_SUM[0] + np.cumsum((_LONG_SUM[1:-1] + _LONG_SUM[2:]) / 2)])


@dataclass(frozen=True)
class WifiModel:
    """A fraction of long delays and two scales."""

    fraction: float
    short_s: float = SHORT_S
    long_s: float = LONG_S

    @staticmethod
    def of_mean(mean_s: float) -> WifiModel:
        """The published model for a requested mean.

        >>> round(WifiModel.of_mean(7e-3).fraction, 5)
        0.07143
        """
        fraction = (mean_s - _LEAST_MEAN_S) / _MEAN_PER_FRACTION_S
        return WifiModel(min(1.0, max(0.0, fraction)))

    @property
    def requested_mean_s(self) -> float:
        """What `mean` of the published model has the same fraction.

        >>> round(WifiModel.of_mean(7e-3).requested_mean_s, 6)
        0.007
        """
        return _LEAST_MEAN_S + self.fraction * _MEAN_PER_FRACTION_S

    @property
    def mean_s(self) -> float:
        """Mean of independent delays: 0.684 short steps and, in the fraction, 11.5 long ones.

        >>> round(WifiModel.of_mean(7e-3).mean_s, 6)
        0.006845
        """
        return float(_SHORT_MEAN * self.short_s + self.fraction * _LONG_MEAN * self.long_s)

    def cumulative(self, delay: Floats) -> Floats:
        """Probability of a delay of at most this, in seconds."""
        alone = np.where(delay < 0, 0.0, np.interp(delay / self.short_s, np.arange(_COUNTS), _SHORT_SUM))
        if self.fraction == 0:
            return alone
        both = _SHORT_MASS[0] * _long_cumulative(delay / self.long_s)
        # The short part is uniform over its n-th step with the probability of n collisions: there, the
        # probability that the long part stays below what is left is a mean over this step.
        width = self.short_s / self.long_s
        areas = [_long_area((delay - n * self.short_s) / self.long_s) for n in range(_MOST_COLLISIONS + 1)]
        for n in range(1, _MOST_COLLISIONS + 1):
            both = both + _SHORT_MASS[n] * (areas[n - 1] - areas[n]) / width
        mixture: Floats = (1 - self.fraction) * alone + self.fraction * both
        return mixture

    def draw(self, count: int, random: np.random.Generator) -> Floats:
        """Independent delays."""
        collisions = random.poisson(_SHORT_COUNT, count)
        short = collisions - np.where(collisions >= 1, random.random(count), 0)
        retransmissions = np.where(random.random(count) < self.fraction, random.poisson(_LONG_COUNT, count), 0)
        long = retransmissions - np.where(retransmissions >= 2, random.random(count), 0)
        delays: Floats = short * self.short_s + long * self.long_s
        return delays


def _long_cumulative(steps: Floats) -> Floats:
    line = np.interp(steps, np.arange(1, _COUNTS), _LONG_SUM[1:])
    values: Floats = np.where(steps < 0, 0.0, np.where(steps < 1, _LONG_SUM[0], line))
    return values


def _long_area(steps: Floats) -> Floats:
    """The integral of `_long_cumulative` from minus infinity."""
    whole = np.clip(np.floor(steps), 0, _COUNTS - 2).astype(np.int64)
    part = steps - whole
    low = _LONG_SUM[whole]
    rise = np.where(whole == 0, 0.0, _LONG_SUM[whole + 1] - low)
    inside = _LONG_AREA[whole] + low * part + rise * part**2 / 2
    beyond = _LONG_AREA[-1] + (steps - (_COUNTS - 1))
    area: Floats = np.where(steps < 0, 0.0, np.where(steps >= _COUNTS - 1, beyond, inside))
    return area
