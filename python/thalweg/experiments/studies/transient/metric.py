"""How a controller reacts to a step: when it is steady again, and the Normalized Area until then.

Everything is a function on plain arrays, one row for each run and one column for each bin of time; bins begin
with the step, and one bin is at most one round trip long. Rates are in any unit, the same for all.

Steady state: three windows of 10 round trips, starts 4 round trips apart, whose means and whose variances are
almost the same. The convergence point is the middle of the middle window, so no reaction is shorter than 9 round
trips. "Almost" is the threshold of the authors' tool at the 12 Mbps for which they chose it, taken in units of
the available bandwidth: the same controller at ten times the rate gets the same answer.

One requirement is not in the source: that the flow has moved. A controller that has not noticed a step yet is as
steady as before it, and would be scored as the fastest of all. So the steady rates have to be closer to the new
bandwidth than to the old one (`arrived`).

Normalized Area: the mean gap between throughput and available bandwidth from the step to the convergence point,
over the change of the available bandwidth. It has two parts. What is sent above the available bandwidth fills
queues and is dropped: overshoot. What is delivered below it is unused capacity: undershoot. A link
delivers no more than its capacity, so delivered rates by themselves cannot show the first.

Part of that gap is there whenever a controller is steady: the teeth of Reno, what BBR leaves, the noise of the
capacity. `settled` is that part, the mean gap from the convergence point on, over the same change; `net` is the
area less what is settled: what the step itself has cost. The published area does not make this difference, and a
step that is small compared with the teeth has an area of teeth.

A run that does not become steady is said not to have converged. Its reaction time is infinite; its area is the
mean gap over all that was observed, and is kept apart by `converged`.

Source: "Transient performance of congestion control", SIGCOMM 2021 posters, doi 10.1145/3472716.3472861, section
Framework.

Limits: steady is not right: a flow that stays at two thirds of the available bandwidth has converged, to a `level`
of 0.67. Normalizing by the reaction time makes a long mild gap equal to a short one: `lost` is the gap before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from thalweg.base.errors import RequestError

if TYPE_CHECKING:
    import numpy.typing as npt


Rates: TypeAlias = "npt.NDArray[np.floating[Any]]"

WINDOW_RTTS, STRIDE_RTTS, WINDOWS = 10, 4, 3
"""Steady-detect windows: length, distance of their starts, number (section Framework)."""
SPAN_RTTS = WINDOW_RTTS + (WINDOWS - 1) * STRIDE_RTTS
"""What all windows cover together."""
MEAN_SPREAD = 0.02**0.5 / 12
"""Standard deviation of the means of the windows, over the available bandwidth: the tool asks for a variance of
at most 0.02 Mbps^2 at 12 Mbps."""
VARIANCE_SPREAD = 0.02**0.5 / 12**2
"""Standard deviation of their variances, over the square of the available bandwidth: 0.02 Mbps^4 there."""

NO_STEP = 0.05
"""A mean rate that moves by less than this part of itself has made no step."""


@dataclass(frozen=True)
class Reactions:
    """How each run reacted to one step; one value for each run."""

    converged: npt.NDArray[np.bool_]
    mark: npt.NDArray[np.int64]
    """Bins from the step to the convergence point; all bins if there is none."""
    reaction_s: Rates
    """Time from the step to the convergence point; infinite if there is none."""
    overshoot: Rates
    """Mean rate sent above the available bandwidth until then, over the change of the bandwidth."""
    undershoot: Rates
    """Mean rate missing below it, over the change."""
    level: Rates
    """Mean delivered rate in the steady windows (without: in the last ones), over the available bandwidth."""
    settled: Rates
    """Mean gap above and below from the convergence point to the end, over the change; nan if there is none."""
    span_s: Rates
    """Time over which the areas are means."""

    @property
    def net(self) -> Rates:
        """The area less the gap that stays: what the step has cost. Negative if steady is worse."""
        return self.area - self.settled

    @property
    def area(self) -> Rates:
        """Normalized Area."""
        return self.overshoot + self.undershoot

    @property
    def lost(self) -> Rates:
        """The area before it is divided by the reaction time, in seconds: time at a gap as large as the change."""
        return self.area * self.span_s


def rebin(amounts: Rates, every_s: float, width_s: float) -> Rates:
    """Amounts in bins of another width; an amount is spread evenly over its bin. What fills no bin is left out.

    >>> rebin(np.array([[1.0, 3.0, 2.0, 2.0, 9.0]]), 0.5, 1.0).tolist()
    [[4.0, 4.0]]
    >>> rebin(np.array([[2.0, 4.0, 6.0]]), 1.0, 1.5).tolist()
    [[4.0, 8.0]]
    """
    total = np.concatenate([np.zeros((len(amounts), 1)), np.cumsum(amounts, axis=1)], axis=1)
    count = int(amounts.shape[1] * every_s / width_s + 1e-9)
    at = np.arange(count + 1) * (width_s / every_s)
    below = np.minimum(at.astype(np.int64), amounts.shape[1] - 1)
    edges = total[:, below] + (total[:, below + 1] - total[:, below]) * (at - below)
    return np.diff(edges, axis=1)


def steady(rates: Rates, scale: Rates, rtt_bins: int = 1) -> npt.NDArray[np.bool_]:
    """From which bins on each run is steady: true where three windows that begin there are almost the same.

    `scale` is the available bandwidth of each run, `rtt_bins` how many bins make a round trip. The windows span
    18 round trips, so the last 17 bins (of one round trip) have no answer and no column.

    >>> ramp = np.concatenate([np.linspace(0, 10, 21), np.full(30, 10.0)])
    >>> int(steady(ramp[None, :], np.array([10.0])).argmax())
    18
    """
    window, stride = WINDOW_RTTS * rtt_bins, STRIDE_RTTS * rtt_bins
    starts = max(rates.shape[1] - window - (WINDOWS - 1) * stride + 1, 0)
    if not starts:
        return np.zeros((len(rates), 0), dtype=np.bool_)
    means, variances = _moments(rates / scale[:, None], window)
    parts = [slice(number * stride, number * stride + starts) for number in range(WINDOWS)]
    close = np.std([means[:, part] for part in parts], axis=0) <= MEAN_SPREAD
    alike = np.std([variances[:, part] for part in parts], axis=0) <= VARIANCE_SPREAD
    return np.asarray(close & alike, dtype=np.bool_)


def _moments(values: Rates, window: int) -> tuple[Rates, Rates]:
    """Mean and variance of each window, by the bin that it starts with."""
    shifted = values - values.mean(axis=1, keepdims=True)  # sums of squares of small numbers keep their digits
    total = _running(shifted, window)
    mean = total / window
    variance = np.maximum(_running(shifted**2, window) / window - mean**2, 0.0)
    return mean + values.mean(axis=1, keepdims=True), variance


def _running(values: Rates, window: int) -> Rates:
    total = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
    return np.asarray(total[:, window:] - total[:, :-window], dtype=np.float64)


def bandwidth_change(before: Rates, after: Rates) -> Rates:
    """What the area is divided by: the change of the available bandwidth from one mean to the next.

    A step that leaves the bandwidth as it was, within noise (`NO_STEP`), is measured by the whole of it.

    >>> bandwidth_change(np.array([0.0, 12.0, 12.0]), np.array([12.0, 6.0, 12.1])).tolist()
    [12.0, 6.0, 12.1]
    """
    change = np.abs(after - before)
    return np.where(change > NO_STEP * after, change, after)


def arrived(rates: Rates, before: Rates, after: Rates, rtt_bins: int = 1) -> npt.NDArray[np.bool_]:
    """Where the windows of `steady` are closer to the new bandwidth than to the old one, or as close to both.

    A controller that has not noticed a step yet is as steady as before. Where there is no step, all is true.

    >>> never_moved = np.full((1, 20), 12.0)
    >>> [bool(arrived(never_moved, np.array([old]), np.array([24.0])).any()) for old in (0.0, 6.0, 24.0)]
    [True, False, True]
    """
    window, stride = WINDOW_RTTS * rtt_bins, STRIDE_RTTS * rtt_bins
    starts = max(rates.shape[1] - SPAN_RTTS * rtt_bins + 1, 0)
    means, _ = _moments(rates, window)
    middle = means[:, stride : stride + starts]
    closer = np.abs(middle - after[:, None]) <= np.abs(middle - before[:, None]) * (1 + 1e-9)
    stepped = np.abs(after - before) > NO_STEP * after
    return np.asarray(closer | ~stepped[:, None], dtype=np.bool_)


def react(
    delivered: Rates,
    available: Rates,
    every_s: float,
    sent: Rates | None = None,
    before: Rates | float = 0.0,
    rtt_bins: int = 1,
) -> Reactions:
    """How each run reacted to the step with which its bins begin.

    `delivered`, `available` and `sent` are mean rates of bins of `every_s`, one row for each run; without `sent`,
    what was delivered stands for it. A run has converged when both are steady and have arrived. `before` is the
    bandwidth that was available before the step (by default nothing: the flow begins); `rtt_bins` how many bins
    make a round trip. Raises RequestError for arrays of different shapes, and where no bandwidth is available.

    >>> delivered = np.concatenate([np.zeros(5), np.full(35, 10.0)])[None, :]
    >>> reactions = react(delivered, np.full((1, 40), 10.0), 0.1)
    >>> float(reactions.reaction_s[0].round(3)), float(reactions.undershoot[0].round(3))
    (1.4, 0.357)
    """
    offered = delivered if sent is None else sent
    if not delivered.shape == available.shape == offered.shape:
        raise RequestError(
            f"rates of shapes {delivered.shape}, {available.shape}, {offered.shape}; accepted: one shape for all"
        )
    runs, bins = delivered.shape
    scale = available.mean(axis=1)
    if not (scale > 0).all():
        raise RequestError("no bandwidth is available after a step; accepted: a mean above 0")
    old = np.broadcast_to(np.asarray(before, dtype=np.float64), (runs,))
    divisor = bandwidth_change(old, scale)
    found = steady(delivered, scale, rtt_bins)
    if found.shape[1]:
        found &= arrived(delivered, old, scale, rtt_bins)
        if sent is not None:
            found &= steady(sent, scale, rtt_bins) & arrived(sent, old, scale, rtt_bins)
    converged = np.asarray(found.any(axis=1))
    first = found.argmax(axis=1) if found.shape[1] else np.zeros(runs, dtype=np.int64)
    middle = STRIDE_RTTS * rtt_bins + WINDOW_RTTS * rtt_bins // 2
    mark = np.where(converged, first + middle, bins).astype(np.int64)
    until = np.arange(bins) < mark[:, None]
    above, below = np.maximum(offered - available, 0), np.maximum(available - delivered, 0)
    over, under = np.where(until, above, 0).sum(axis=1), np.where(until, below, 0).sum(axis=1)
    later = np.where(until, 0, above + below).sum(axis=1) / np.maximum(bins - mark, 1) / divisor
    scaled = np.maximum(mark, 1) * divisor
    width = SPAN_RTTS * rtt_bins
    start = np.where(converged, first, max(bins - width, 0))
    settled = (np.arange(bins) >= start[:, None]) & (np.arange(bins) < start[:, None] + width)
    level = np.where(settled, delivered, 0).sum(axis=1) / np.where(settled, available, 0).sum(axis=1)
    span_s = mark * every_s
    return Reactions(
        converged=converged,
        mark=mark,
        reaction_s=np.where(converged, span_s, np.inf),
        overshoot=over / scaled,
        undershoot=under / scaled,
        level=level,
        settled=np.where(converged, later, np.nan),
        span_s=span_s,
    )
