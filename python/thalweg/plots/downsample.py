"""Fewer points without losing a peak: of each bucket of time, the first, least, greatest and last.

Rows of a group are in the order of their times, as those of a trace are. Which of them stay is found on plain
arrays: a trace has 100 000 rows, and a table for each step of the search would be most of the memory of a report.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

_Floats = npt.NDArray[np.float64]
_Truths = npt.NDArray[np.bool_]
_Indices = npt.NDArray[np.intp]


def downsample(frame: pl.DataFrame, value: str, by: list[str], buckets: int = 500) -> pl.DataFrame:
    """Thins the series of `value` over `time_s`, each group of `by` on its own.

    A series of at most four points in each bucket stays as it is; rows without a value are left out.

    >>> frame = pl.DataFrame({"time_s": [0.0, 0.1, 0.2, 0.3, 0.4, 1.0], "y": [0.0, 5.0, -5.0, 1.0, 2.0, 3.0]})
    >>> downsample(frame, "y", [], buckets=1)["y"].to_list()
    [0.0, 5.0, -5.0, 3.0]
    """
    times, values = _numbers(frame, "time_s"), _numbers(frame, value)
    known = np.isfinite(values)
    if not known.any():
        return frame.clear()
    begin, end = times.min(where=known, initial=np.inf), times.max(where=known, initial=-np.inf)
    width = (end - begin) / buckets or 1.0
    kept = np.zeros(frame.height, np.bool_)
    for rows in _groups(frame, by, known):
        bucket = np.minimum((times[rows] - begin) / width, buckets - 1).astype(np.int32)
        kept[rows[_ends_and_extremes(bucket, values[rows])]] = True
    return frame.filter(kept)


def gaps(frame: pl.DataFrame, value: str, by: list[str], buckets: int = 500) -> pl.DataFrame:
    """The end of each line: twice the row at which `value` stops being known for longer than a bucket of time.

    The first has the value that held until then, the second has none.

    >>> frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 9.0, 9.1, 9.2], "y": [7.0, None, None, 2.0, None, 3.0]})
    >>> gaps(frame, "y", [], buckets=10).rows()
    [(1.0, 7.0), (1.0, None)]
    """
    if frame.is_empty():
        return frame
    times, known = _numbers(frame, "time_s"), np.isfinite(_numbers(frame, value))
    width = (times.max() - times.min()) / buckets
    last_known = np.full(frame.height, -1)
    ends = []
    for rows in _groups(frame, by):
        there = known[rows]
        last_known[rows] = np.maximum.accumulate(np.where(there, rows, -1))
        turns = rows[_starts(there)]
        until = np.append(times[turns[1:]], np.inf)
        ends.append(turns[~known[turns] & (until - times[turns] > width)])
    found = np.sort(np.concatenate(ends))
    held = [frame[value][int(row)] if row >= 0 else None for row in last_known[found]]
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
    """A column; what is null is not a number."""
    return frame[column].cast(pl.Float64).to_numpy()


def _groups(frame: pl.DataFrame, by: list[str], among: _Truths | None = None) -> Iterator[_Indices]:
    """The rows of each group, in their order; if `among` is given, only those of them."""
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
    """Of each bucket the first, the last, and the first of the least and of the greatest values."""
    starts = _starts(bucket)
    lengths = np.diff(starts, append=len(bucket))
    chosen = [starts, starts + lengths - 1]
    for extreme in (np.minimum, np.maximum):
        hits = np.flatnonzero(values == np.repeat(extreme.reduceat(values, starts), lengths))
        chosen.append(hits[_starts(bucket[hits])])
    return np.concatenate(chosen)
