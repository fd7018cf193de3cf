"""When something happened to a flow in a trial: what a search may make coincide.

loss   packets declared lost; the size of a moment is their number in its bin
rise   the RTT grows, from one bin with a sample to the next; its size in seconds
gap    nothing arrives; the size is how long, in seconds

These are what controllers answer: loss, delay, and ACKs that stay away. That the RTT falls is none: it does after
each loss, as the queue drains.
Bins of the series of a trial that follow each other are one moment, at the bin that is largest. Of each kind the
largest few count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thalweg.engine.outcome import Series

if TYPE_CHECKING:
    import numpy.typing as npt


BIN = "50 ms"
"""Bins of the series that moments are read from."""
TIMES = ("at", "start")
"""Keys of a scenario that say when something begins to happen."""
_MOST = 3
"""Moments of one kind."""


@dataclass(frozen=True)
class Moment:
    """Something that happened."""

    kind: str
    time_s: float
    size: float


def moments_of(series: Series) -> list[Moment]:
    """What happened to a flow, the largest of each kind first."""
    found = []
    for kind, sizes in _signals(series):
        own = [Moment(kind, (bin_ + 0.5) * series.every_s, float(sizes[bin_])) for bin_ in _peaks(sizes)]
        found += sorted(own, key=lambda moment: (-moment.size, moment.time_s))[:_MOST]
    return found


def _signals(series: Series) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """Each kind with its size in each bin; zero where nothing happened."""
    yield "loss", series.lost
    steps = np.zeros_like(series.rtt_s)
    (sampled,) = np.nonzero(np.isfinite(series.rtt_s))
    steps[sampled[1:]] = np.diff(series.rtt_s[sampled])
    yield "rise", np.maximum(steps, 0.0)
    (arrived,) = np.nonzero(series.received)
    gaps = np.zeros_like(series.received)
    gaps[arrived[:-1]] = (np.diff(arrived) - 1) * series.every_s
    yield "gap", gaps


def _peaks(sizes: npt.NDArray[np.float64]) -> list[int]:
    """The largest bin of each run of bins that have a size.

    >>> _peaks(np.array([0.0, 2.0, 3.0, 0.0, 1.0, 1.0]))
    [2, 4]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], sizes > 0, [False])).astype(np.int8)))
    return [int(first + np.argmax(sizes[first:end])) for first, end in zip(edges[::2], edges[1::2], strict=True)]
