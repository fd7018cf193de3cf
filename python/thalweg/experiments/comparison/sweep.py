"""A stored sweep as `compare` reads it: a row for each point, and the values of all trials.

For flows, all metrics are compared that some trial defines (`results/measured.py`). A completion that never came
is infinite; any other metric leaves out the trials that do not define it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from thalweg.experiments.comparison.stored import Row, Samples, StoredStudy
from thalweg.experiments.sweep.medians import PARTS, metric_values
from thalweg.experiments.sweep.result import SweepResult
from thalweg.judging.statistics.interval import finite

_SUBJECT = "flow."


def load(folder: Path) -> StoredStudy:
    """The sweep in a folder. Raises ResultError."""
    result = SweepResult.load(folder)
    return StoredStudy(
        folder,
        f"sweep of {result.head['name']}",
        str(result.head["version"]),
        list(_rows(result)),
        lambda: _samples(result),
    )


def _points(result: SweepResult) -> dict[int, str]:
    """Each point in words, by its number."""
    keys = [axis["key"] for axis in result.head["axes"]]
    columns = [result.texts(key) for key in keys]
    words = (
        ", ".join(f"{key} = {text}" for key, text in zip(keys, row, strict=True))
        for row in zip(*columns, strict=True)
    )
    return dict(zip(result.points["index"], words, strict=True))


def _rows(result: SweepResult) -> Iterator[Row]:
    """The medians of each point."""
    others = tuple(part for part in PARTS if part)
    own = [name for name in result.rows.columns if name.startswith(_SUBJECT) and not name.endswith(others)]
    for words, row in zip(_points(result).values(), result.rows.iter_rows(named=True), strict=True):
        numbers: dict[str, Any] = {name: finite(row[name]) for name in own if isinstance(row[name], float)}
        yield {"point": words, "trials": row["trials"], **numbers}


def _samples(result: SweepResult) -> Samples:
    """The trials of each point and metric, in the order of their seeds."""
    points, found = _points(result), {}
    columns = [name for name in result.columns if name.startswith(_SUBJECT)]
    for name, values in metric_values(columns, result.measured):
        for (index,), part in values.sort("seed").group_by("index", maintain_order=True):
            sample = part["seed"].cast(pl.Int64).to_numpy(), part["value"].cast(pl.Float64).to_numpy()
            found[points[int(str(index))], name] = sample
    return found
