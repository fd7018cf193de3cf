"""One row for each point of a sweep: medians over its trials with their intervals.

Metrics come from `thalweg.results.measured`, by the rules of that module: an unfinished flow has an infinite
completion, any other metric leaves out the trials that do not define it. The columns of one flow, link or stream
are read at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from thalweg.experiments.sweep.table import PLANNED
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.verdict import values_of
from thalweg.results import measured

PARTS = ("", ".low", ".high", ".n")
"""What follows the name of a metric: the median, its interval, and the trials it rests on."""
Query: TypeAlias = "Callable[[Sequence[str]], pl.DataFrame]"
"""Reads columns of the trials that have numbers, with the `index` of their point and their `seed`."""


def subjects(columns: Sequence[str]) -> Iterator[tuple[str, tuple[Measure, ...]]]:
    """What has metrics, by the beginning of its columns: `flow.main.`, `link.down.`, `stream.main.video.`."""
    for prefix, first, metrics in (
        ("flow.", ".finished", (*measured.FLOW, *measured.LIMITED)),
        ("link.", ".utilisation", measured.LINK),
        ("stream.", ".frames", measured.STREAM),
    ):
        for column in columns:
            if column.startswith(prefix) and column.endswith(first):
                yield column.removesuffix(first) + ".", metrics


def median_columns(columns: Sequence[str], query: Query, points: pl.Series) -> Iterator[pl.Series]:
    """The medians of all metrics, for the points with these numbers, which ascend."""
    for name, values in metric_values(columns, query):
        yield from _medians(name, values, points)


def metric_values(columns: Sequence[str], query: Query) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each metric of each flow, link and stream, such as `flow.main.mean_rtt_s`: `index`, `seed` and `value`."""
    flows = sum(name.startswith("flow.") for name, _ in subjects(columns))
    for subject, metrics in subjects(columns):
        own = {name.removeprefix(subject): name for name in columns if name.startswith(subject)}
        wanted = [
            metric
            for metric in metrics
            if measured.is_known(metric, own) and not (metric.name == "share" and flows == 1)
        ]
        needed = {root for metric in wanted for root in measured.value(metric).meta.root_names()}
        needed |= {"finished", "start_s", PLANNED} & own.keys()
        rows = query([own[name] for name in sorted(needed)]).rename({own[name]: name for name in needed})
        for metric in wanted:
            values = _completion(rows) if metric is measured.COMPLETION else _defined(rows, metric)
            yield f"{subject}{metric.column}", values


def _defined(rows: pl.DataFrame, metric: Measure) -> pl.DataFrame:
    values = rows.select("index", "seed", value=measured.value(metric).cast(pl.Float64).fill_nan(None))
    return values.drop_nulls("value")


def _completion(rows: pl.DataFrame) -> pl.DataFrame:
    """As verdicts count it: what noise adds to the start is not part of it."""
    late = (pl.col("start_s") - pl.col(PLANNED)).fill_nan(None).fill_null(0.0)
    own = rows.select("finished", pl.col("completion_s") - late, trial="index", flow=pl.lit("flow"))
    criterion = {"flow": "flow", "metric": "completion"}
    return rows.select("index", "seed", value=values_of(criterion, own)["value"])


def _medians(name: str, values: pl.DataFrame, points: pl.Series) -> Iterator[pl.Series]:
    ordered = values.sort("index")
    numbers, starts = np.unique(ordered["index"].to_numpy(), return_index=True)
    parts = np.split(ordered["value"].to_numpy(), starts[1:])
    found = np.full((4, len(points)), np.nan)
    found[3] = 0
    for row, part in zip(np.searchsorted(points.to_numpy(), numbers), parts, strict=False):
        interval = median_interval(part)
        found[:, row] = interval.value, interval.low, interval.high, interval.n
    for suffix, column in zip(PARTS, found, strict=True):
        yield pl.Series(f"{name}{suffix}", column.astype(np.uint32) if suffix == ".n" else column)
