"""A series that swings from sample to sample: its mean in each bucket of time, between the least and the greatest.

Queues swing by a packet with each packet. A line through all samples is as thick as that, and hides what lies
behind it; the mean is a line, and what it swings between a light band. The page of the lab draws it alike
(lab/src/chart/thin.ts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from thalweg.pages.figures.downsample import Grouped
from thalweg.pages.figures.theme import LOOKS, WIDTH

if TYPE_CHECKING:
    import numpy.typing as npt

_Floats: TypeAlias = "npt.NDArray[np.float64]"

LOW, HIGH = "low", "high"
OPACITY: float = LOOKS["envelope"]["opacity"]
BUCKETS = round(WIDTH / LOOKS["envelope"]["pixels"])
"""In the width of a figure."""


def envelope(frame: pl.DataFrame, value: str, by: list[str], buckets: int = BUCKETS) -> pl.DataFrame:
    """The mean of `value` in each bucket of time, with the columns `low` and `high`, for each group.

    A value holds until the next one of its group, and the last one until the end; the mean is over time. What is
    infinite is not drawn. A group of so few samples that all can be seen keeps them.

    >>> frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 3.0, 4.0, 8.0], "y": [0.0, 4.0, 8.0, 4.0, 6.0, 6.0]})
    >>> envelope(frame, "y", [], buckets=2).rows()
    [(0.0, 4.0, 0.0, 8.0), (4.0, 6.0, 6.0, 6.0), (8.0, 6.0, 6.0, 6.0)]
    """
    grouped = Grouped.of(frame, by)
    numbers = frame[value].cast(pl.Float64).to_numpy()
    times = grouped.times
    begin, end = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
    edges = np.linspace(begin, end, buckets + 1)
    columns = ["time_s", *by, value, LOW, HIGH]
    schema = {name: frame.schema[name] if name in by else pl.Float64() for name in columns}
    parts = [pl.DataFrame(schema=schema)]
    for rows in filter(len, grouped.rows):
        own = np.where(np.isfinite(numbers[rows]), numbers[rows], np.nan)
        if len(rows) <= buckets or begin == end:
            at, series = times[rows], np.array([own, own, own])
        else:
            at, series = _buckets(times[rows], own, edges)
        kept = np.append(True, (series[:, 1:] != series[:, :-1]).any(axis=0))
        kept[-1] = True
        drawn = pl.DataFrame({"time_s": at, value: series[0], LOW: series[1], HIGH: series[2]}).filter(kept)
        names = [pl.lit(frame[name][int(rows[0])], frame.schema[name]).alias(name) for name in by]
        parts.append(drawn.with_columns(names).select(columns))
    return pl.concat(parts)


def _buckets(times: _Floats, values: _Floats, edges: _Floats) -> tuple[_Floats, _Floats]:
    """When each bucket begins that has a value, and its mean, least and greatest; the last again at the end."""
    known = np.isfinite(values)
    spans = np.diff(times, append=times[-1])
    reached = [np.append(0.0, np.cumsum(part)) for part in (np.where(known, values, 0.0) * spans, known * spans)]
    held = np.searchsorted(times, edges, side="right") - 1  # the sample that holds at each edge
    there = held.clip(0)
    since = np.where(held >= 0, edges - times[there], 0.0)
    weights = (np.where(known, values, 0.0), known.astype(np.float64))
    areas, lengths = (
        np.diff(so_far[there] + weight[there] * since) for so_far, weight in zip(reached, weights, strict=True)
    )
    mean = np.divide(areas, lengths, out=np.full(len(areas), np.nan), where=lengths > 0)
    # What holds when a bucket begins, and all samples in it.
    until = np.searchsorted(times, edges[1:], side="left").clip(there[:-1] + 1)
    bounds = np.column_stack([there[:-1], until]).ravel()
    padded = np.append(values, np.nan)
    low, high = (extreme.reduceat(padded, bounds)[::2] for extreme in (np.fmin, np.fmax))
    begun = held[1:] >= 0
    series = np.array([np.clip(mean, low, high), low, high])[:, begun]  # rounding may lead beyond
    return np.append(edges[:-1][begun], edges[-1]), np.concatenate([series, series[:, -1:]], axis=1)
