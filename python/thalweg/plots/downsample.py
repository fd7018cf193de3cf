"""Fewer points without losing a peak: of each bucket of time, the first, least, greatest and last."""

from __future__ import annotations

import math

import polars as pl


def downsample(frame: pl.DataFrame, value: str, by: list[str], buckets: int = 500) -> pl.DataFrame:
    """Thins the series of `value` over `time_s`, each group of `by` on its own.

    A series of at most four points in each bucket stays as it is; rows without a value are left out.

    >>> frame = pl.DataFrame({"time_s": [0.0, 0.1, 0.2, 0.3, 0.4, 1.0], "y": [0.0, 5.0, -5.0, 1.0, 2.0, 3.0]})
    >>> downsample(frame, "y", [], buckets=1)["y"].to_list()
    [0.0, 5.0, -5.0, 3.0]
    """
    known = frame.filter(pl.col(value).is_not_null() & pl.col(value).cast(pl.Float64).is_finite())
    if known.is_empty():
        return known
    begin, end = _range(known)
    width = (end - begin) / buckets or 1.0
    bucket = ((pl.col("time_s") - begin) / width).floor().clip(0, buckets - 1)
    group = [*by, "_bucket"]
    order = pl.int_range(pl.len()).over(group)
    kept = known.with_columns(bucket.alias("_bucket")).filter(
        (order == 0)
        | (order == pl.len().over(group) - 1)
        | (order == pl.col(value).arg_min().over(group))
        | (order == pl.col(value).arg_max().over(group))
    )
    return kept.drop("_bucket")


def gaps(frame: pl.DataFrame, value: str, by: list[str], buckets: int = 500) -> pl.DataFrame:
    """The end of each line: twice the row at which `value` stops being known for longer than a bucket of time.

    The first has the value that held until then, the second has none.

    >>> frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 9.0, 9.1, 9.2], "y": [7.0, None, None, 2.0, None, 3.0]})
    >>> gaps(frame, "y", [], buckets=10).rows()
    [(1.0, 7.0), (1.0, None)]
    """
    if frame.is_empty():
        return frame
    begin, end = _range(frame)
    known = pl.col(value).is_not_null() & pl.col(value).cast(pl.Float64).is_finite()
    held = pl.when(known).then(pl.col(value)).forward_fill()
    marked = frame.with_columns(known.alias("_known"), _over(held, by).alias(value))
    turns = marked.filter(_over(_new(pl.col("_known")), by))
    until = _over(pl.col("time_s").shift(-1, fill_value=math.inf), by)
    long = turns.filter(~pl.col("_known") & (until - pl.col("time_s") > (end - begin) / buckets))
    ends = long.drop("_known")
    return pl.concat([ends, ends.with_columns(pl.lit(None, frame.schema[value]).alias(value))])


def changes(frame: pl.DataFrame, value: str, by: list[str]) -> pl.DataFrame:
    """Only the rows in which `value` differs from the row before, and the last of each group."""
    last = pl.int_range(pl.len()) == pl.len() - 1
    return frame.filter(_over(_new(pl.col(value)) | last, by))


def _new(column: pl.Expr) -> pl.Expr:
    """Whether a value differs from the one before, or is the first."""
    return column.shift(1).is_null() | (column.shift(1) != column)


def _over(expression: pl.Expr, by: list[str]) -> pl.Expr:
    return expression.over(by) if by else expression


def _range(frame: pl.DataFrame) -> tuple[float, float]:
    times = frame["time_s"].to_numpy()
    return float(times.min()), float(times.max())
