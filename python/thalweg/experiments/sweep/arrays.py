"""A sweep as arrays with labels, for xarray: the one part of this package that needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError, did_you_mean

if TYPE_CHECKING:
    import xarray

    from thalweg.experiments.sweep.result import SweepResult


def dataset(result: SweepResult, columns: Sequence[str] | None) -> xarray.Dataset:
    """The columns of all trials, by point and seed; see `SweepResult.to_xarray`. Raises RequestError."""
    try:
        import xarray  # noqa: PLC0415 - an extra
    except ImportError:
        raise RequestError("to_xarray requires xarray: pip install 'thalweg[xarray]'") from None
    schema = result.scan().collect_schema()
    own = [name for name in result.columns if name not in result.axes]
    numbers = [name for name in own if schema[name].is_numeric() or schema[name] == pl.Boolean]
    for name in columns or ():
        if name not in numbers:
            raise RequestError(f"no trial has numbers in {name!r}{did_you_mean(name, numbers)}")
    names = numbers if columns is None else list(columns)
    points, first, trials = result.points, int(result.head["seed"]), int(result.head["trials"])
    dimensions, cells = _dimensions(points, result.axes)
    shape = tuple(len(labels) for labels in dimensions.values())
    rows = result.scan().select("index", "seed", *names).collect(engine="streaming")
    cell = cells[np.searchsorted(points["index"].to_numpy(), rows["index"].to_numpy())]
    trial = (rows["seed"] - first).to_numpy()
    arrays: dict[str, Any] = {}
    for name in names:
        values = np.full((int(np.prod(shape)), trials), np.nan)
        values[cell, trial] = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        arrays[name] = ((*dimensions, "seed"), values.reshape((*shape, trials)))
    coordinates: dict[str, Any] = {"seed": np.arange(first, first + trials), **dimensions}
    if "point" in dimensions:
        coordinates |= {axis: ("point", points[axis].to_numpy()) for axis in result.axes}
    attributes = {"scenario": str(result.head["name"]), "engine": str(result.head["engine"])}
    return xarray.Dataset(arrays, coords=coordinates, attrs=attributes)


def _dimensions(points: pl.DataFrame, axes: Sequence[str]) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """The labels of each dimension, and where each point is among all their combinations.

    A dimension for each axis if the points fill at least half of what these span; else one for all points.
    """
    labels = {axis: points[axis].unique(maintain_order=True) for axis in axes}
    size = int(np.prod([len(values) for values in labels.values()], dtype=np.float64))
    if size > 2 * points.height:
        return {"point": points["index"].to_numpy()}, np.arange(points.height)
    cell = np.zeros(points.height, dtype=np.int64)
    for axis, values in labels.items():
        numbers = pl.DataFrame({axis: values}).with_row_index("label")
        own = points.select(axis).join(numbers, on=axis, how="left", maintain_order="left")["label"]
        cell = cell * len(values) + own.to_numpy()
    return {axis: values.to_numpy() for axis, values in labels.items()}, cell
