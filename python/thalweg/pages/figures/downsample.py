"""Fewer points without losing a peak: of each bucket of time, the first, least, greatest and last; or its mean.

A queue swings by a packet with each packet. A line through all samples is as thick as that, and hides what lies
behind it; the mean is a line, and what it swings between a light band, its envelope. The page of the lab draws it
alike (lab/src/chart/thin.ts).

Rows of a group are in the order of their times, as in a trace. Which of them stay is found on plain
arrays: a trace has 100 000 rows, and a table for each step of the search would be most of the memory of a report.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from thalweg.pages.figures.theme import LOOKS, WIDTH

if TYPE_CHECKING:
    import numpy.typing as npt

_Floats: TypeAlias = "npt.NDArray[np.float64]"
_Truths: TypeAlias = "npt.NDArray[np.bool_]"
_Indices: TypeAlias = "npt.NDArray[np.intp]"


@dataclass(frozen=True)
class Grouped:
    """The times of a table, and the rows of each of its groups: found once for all of its columns."""

    times: _Floats
    rows: list[_Indices]

    @staticmethod
    def of(frame: pl.DataFrame, by: list[str]) -> Grouped:
        """The rows of each group, in their order."""
        return Grouped(_numbers(frame, "time_s"), list(_groups(frame, by)))

    def thinned(self, values: _Floats, buckets: int) -> _Indices:
        """The rows that stay of the series of `values`, in their order; those without a value do not."""
        known = np.isfinite(values)
        if not known.any():
            return np.empty(0, np.intp)
        begin, end = self.times.min(where=known, initial=np.inf), self.times.max(where=known, initial=-np.inf)
        width = (end - begin) / buckets or 1.0
        kept = np.zeros(len(values), np.bool_)
        for rows in self.rows:
            there = rows[known[rows]]
            bucket = np.minimum((self.times[there] - begin) / width, buckets - 1).astype(np.int32)
            kept[there[_ends_and_extremes(bucket, values[there])]] = True
        return np.flatnonzero(kept)

    def ends(self, values: _Floats, buckets: int) -> tuple[_Indices, _Indices]:
        """Rows at which `values` stop being known for longer than a bucket; the rows of the last value, or -1."""
        if not len(values):
            return np.empty(0, np.intp), np.empty(0, np.intp)
        known = np.isfinite(values)
        width = (self.times.max() - self.times.min()) / buckets
        last_known = np.full(len(values), -1)
        ends = []
        for rows in self.rows:
            there = known[rows]
            last_known[rows] = np.maximum.accumulate(np.where(there, rows, -1))
            turns = rows[_starts(there)]
            until = np.append(self.times[turns[1:]], np.inf)
            ends.append(turns[~known[turns] & (until - self.times[turns] > width)])
        found = np.sort(np.concatenate(ends))
        return found, last_known[found]

    def line(self, values: _Floats, buckets: int) -> tuple[_Indices, _Floats]:
        """The rows of a thinned line in the order of time, and its values; NaN where it ends."""
        thin = self.thinned(values, buckets)
        stops, last = self.ends(values, buckets)
        rows = np.concatenate([thin, stops, stops])
        held = np.where(last >= 0, values[last], np.nan) if len(stops) else np.empty(0)
        drawn = np.concatenate([values[thin], held, np.full(len(stops), np.nan)])
        order = np.argsort(self.times[rows], kind="stable")
        return rows[order], drawn[order]


def downsample(frame: pl.DataFrame, value: str, by: list[str], buckets: int = 500) -> pl.DataFrame:
    """Thins the series of `value` over `time_s`, each group of `by` separately.

    A series of at most four points in each bucket stays as it is; rows without a value are left out.

    >>> frame = pl.DataFrame({"time_s": [0.0, 0.1, 0.2, 0.3, 0.4, 1.0], "y": [0.0, 5.0, -5.0, 1.0, 2.0, 3.0]})
    >>> downsample(frame, "y", [], buckets=1)["y"].to_list()
    [0.0, 5.0, -5.0, 3.0]
    """
    return frame[Grouped.of(frame, by).thinned(_numbers(frame, value), buckets)]


def gaps(frame: pl.DataFrame, value: str, by: list[str], buckets: int = 500) -> pl.DataFrame:
    """The end of each line: twice the row at which `value` stops being known for longer than a bucket of time.

    The first has the value that held until then, the second has none.

    >>> frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 9.0, 9.1, 9.2], "y": [7.0, None, None, 2.0, None, 3.0]})
    >>> gaps(frame, "y", [], buckets=10).rows()
    [(1.0, 7.0), (1.0, None)]
    """
    found, last = Grouped.of(frame, by).ends(_numbers(frame, value), buckets)
    held = [frame[value][int(row)] if row >= 0 else None for row in last]
    unknown = pl.Series(value, [None] * len(found), frame.schema[value])
    stops = frame[found]
    return pl.concat(
        [stops.with_columns(pl.Series(value, held, frame.schema[value])), stops.with_columns(unknown)]
    )


def changes(frame: pl.DataFrame, value: str, by: list[str]) -> pl.DataFrame:
    """Only the rows in which `value` differs from the row before, and the last of each group.

    Rows without a value are left out; an empty text is none.
    """
    column = frame[value]
    known = column.is_finite() if column.dtype.is_float() else column.is_not_null() & (column.cast(str) != "")
    kept = np.zeros(frame.height, np.bool_)
    for rows in _groups(frame, by, known.fill_null(value=False).to_numpy()):
        ordered = column[rows]
        new = ordered.ne_missing(ordered.shift(1)).to_numpy(writable=True)
        new[:1] = new[-1:] = True
        kept[rows[new]] = True
    return frame.filter(kept)


def _numbers(frame: pl.DataFrame, column: str) -> _Floats:
    """A column; null becomes NaN."""
    series = frame[column]
    return (series if series.dtype == pl.Float64 else series.cast(pl.Float64)).to_numpy()


def _groups(frame: pl.DataFrame, by: list[str], among: _Truths | None = None) -> Iterator[_Indices]:
    """The rows of each group, in their order; only rows of `among` if it is given."""
    rows = np.arange(frame.height) if among is None else np.flatnonzero(among)
    codes = np.zeros(len(rows), np.int64)
    for name in by:
        numbered = frame[name].cast(pl.Categorical).to_physical().to_numpy()[rows]
        codes = codes * (int(numbered.max(initial=0)) + 1) + numbered
    order = np.argsort(codes, kind="stable")
    rows = rows[order]
    yield from np.split(rows, _starts(codes[order])[1:])


def _starts(ordered: npt.NDArray[np.generic]) -> _Indices:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])


def _ends_and_extremes(bucket: npt.NDArray[np.int32], values: _Floats) -> _Indices:
    """The first and the last of each bucket, and the first of the least and of the greatest values."""
    starts = _starts(bucket)
    lengths = np.diff(starts, append=len(bucket))
    chosen = [starts, starts + lengths - 1]
    for extreme in (np.minimum, np.maximum):
        hits = np.flatnonzero(values == np.repeat(extreme.reduceat(values, starts), lengths))
        chosen.append(hits[_starts(bucket[hits])])
    return np.concatenate(chosen)


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
