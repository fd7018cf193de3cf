"""The Normalized Area as the authors' tool computes it, defects included, to compare with its results.

What differs from the metric (`metric.py`), after the tool's `utils/area.py` and `parse_tput_delay.py`:

- The series is what *arrives* at the bottleneck, drops included.
- Bins last `2 delay B / 12` (delay one way, B the bandwidth in Mbps): one round trip at 12 Mbps, four at 48.
- The series is cut at `min(60, 2 delay in ms)` seconds: at 50 s where the round trip is 50 ms.
- Windows hold the bins at both of their ends, so windows of 10 round trips have 11 bins at 12 Mbps, 3 at 48.
- A run is steady where the variance of the three means and the variance of the three variances are both at most
  0.02, in powers of Mbps, whatever the bandwidth. The search ends at 40 s.
- The area is `12 mean|1 - r / B|` over the bins before the convergence point: gap per reaction time, in
  equivalents of 12 Mbps.
- Where no point is steady, the end of the search, 40, is taken as the *number of a bin*: the run is scored by its
  first 40 bins, 2 s at 12 Mbps, whatever it did later, and can look best.
- For the figure, the worst run of each controller is left out *of all controllers*.

Limits: the tool can also return nothing at all, for a series that is shorter than 40 bins; that is nan here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thalweg.experiments.studies.transient.metric import Rates, rebin

if TYPE_CHECKING:
    import numpy.typing as npt


STABLE_VARIANCE = 0.02
SEARCH_END = 40
"""Seconds, and by mistake a number of bins."""


@dataclass(frozen=True)
class ToolAreas:
    """What the tool says about each run."""

    area: Rates
    converged: npt.NDArray[np.bool_]
    """What the tool does not say: whether it found a convergence point."""


def area_as_coded(sent: Rates, every_s: float, bandwidth_mbps: float, delay_s: float) -> ToolAreas:
    """The tool's area of each run: `sent` holds bytes in bins of `every_s`, a row for each run, from the step on.

    >>> steady = np.full((1, 2400), 37500.0)  # 12 Mbps in bins of 25 ms
    >>> float(area_as_coded(steady, 0.025, 12, 0.025).area[0].round(6))
    0.0
    """
    width_s = 2 * delay_s * bandwidth_mbps / 12
    end_s = min(60.0, 2 * delay_s * 1000)
    rates = rebin(sent, every_s, width_s)[:, : int(end_s / width_s + 1e-9)] * 8 / width_s / 1e6
    marks = _marks(rates, width_s, delay_s)
    bins = rates.shape[1]
    converged = marks >= 0
    until = np.where(converged, marks, SEARCH_END)
    counted = np.arange(bins) < until[:, None]
    gaps = np.where(counted, np.abs(bandwidth_mbps - rates), 0).sum(axis=1) * width_s
    area = gaps / (until * width_s) / (bandwidth_mbps / 12)
    return ToolAreas(np.where(until < bins, area, np.nan), converged)


def _marks(rates: Rates, width_s: float, delay_s: float) -> npt.NDArray[np.int64]:
    """The bin of the convergence point of each run; -1 where there is none."""
    window_s, stride_s = 20 * delay_s, 8 * delay_s
    spans = []
    for number in range(3):
        first = int(np.ceil(number * stride_s / width_s - 1e-9))
        last = int(np.floor((number * stride_s + window_s) / width_s + 1e-9))
        spans.append((first, last + 1))
    starts = min(rates.shape[1] - spans[-1][1] + 1, int(SEARCH_END / width_s + 1e-9) + 1)
    if starts < 1 or any(first >= end for first, end in spans):
        return np.full(len(rates), -1, dtype=np.int64)
    means, variances = [], []
    for first, end in spans:
        view = np.lib.stride_tricks.sliding_window_view(rates, end - first, axis=1)[:, first : first + starts]
        means.append(view.mean(axis=2))
        variances.append(view.var(axis=2))
    stable = (np.var(means, axis=0) <= STABLE_VARIANCE) & (np.var(variances, axis=0) <= STABLE_VARIANCE)
    middle = (spans[1][0] + spans[1][1]) // 2
    return np.where(stable.any(axis=1), stable.argmax(axis=1) + middle, -1).astype(np.int64)


def without_worst_runs(areas: Mapping[str, Rates]) -> dict[str, Rates]:
    """The runs that the tool draws: the number of each controller's worst run is left out of all controllers.

    >>> kept = without_worst_runs({"reno": np.array([1.0, 9.0, 2.0]), "bbr": np.array([5.0, 3.0, 4.0])})
    >>> {name: area.tolist() for name, area in kept.items()}
    {'reno': [2.0], 'bbr': [4.0]}
    """
    worst = sorted({int(np.nanargmax(area)) for area in areas.values() if not np.isnan(area).all()})
    return {name: np.delete(area, worst) for name, area in areas.items()}
