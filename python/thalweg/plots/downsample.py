"""Fewer points without losing a peak: of each bucket of time, the first, least, greatest and last."""

from __future__ import annotations

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


def changes(frame: pl.DataFrame, value: str, by: list[str]) -> pl.DataFrame:
    """Only the rows in which `value` differs from the row before, and the last of each group."""
    previous = pl.col(value).shift(1).over(by) if by else pl.col(value).shift(1)
    index = pl.int_range(pl.len()).over(by) if by else pl.int_range(pl.len())
    count = pl.len().over(by) if by else pl.len()
    return frame.filter(previous.is_null() | (previous != pl.col(value)) | (index == count - 1))


def _range(frame: pl.DataFrame) -> tuple[float, float]:
    times = frame["time_s"].to_numpy()
    return float(times.min()), float(times.max())
