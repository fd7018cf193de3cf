"""What a sweep measured: one row for each trial, read lazily, or one for each point."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from thalweg.base.errors import ResultError
from thalweg.base.files.seal import check_file
from thalweg.base.files.whole_file import whole_file
from thalweg.engine.scenario import Scenario
from thalweg.experiments.sweep.axis import CONTROLLER, option
from thalweg.experiments.sweep.head import read_head
from thalweg.experiments.sweep.medians import median_columns, subjects
from thalweg.experiments.sweep.store import POINTS, TEXT
from thalweg.judging.statistics.interval import finite
from thalweg.trials.store.trial_files import engines, of_all, parquet, read, scan, trial_files

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class SweepResult:
    """The trials of the plan that ran last in a folder, with the engine that ran last."""

    folder: Path
    head: dict[str, Any]
    """The document of the store: the plan, axes, flows, engine, host."""

    @staticmethod
    def load(folder: str | Path) -> SweepResult:
        """Opens the sweep in a folder. Raises ResultError."""
        root = Path(folder)
        head = read_head(root)
        hashes = head.get("hashes")
        if hashes is None or not (root / POINTS).is_file():
            raise ResultError(f"{root}: the sweep was stopped before its points were written; run it again")
        for name in {POINTS, *hashes}:
            check_file(root / name, hashes, name, "Run the sweep again")
        return SweepResult(root, head)

    @property
    def axes(self) -> list[str]:
        """The columns of the axes: `path.rate_bps`."""
        return [str(axis["column"]) for axis in self.head["axes"]]

    @property
    def others(self) -> list[str]:
        """Engines whose trials are in the folder too, and are not part of this."""
        return [engine for engine in engines(self.folder) if engine != self.head["engine"]]

    @cached_property
    def points(self) -> pl.DataFrame:
        """One row for each point: its `index` and `point`, and its axes."""
        points = read(self.folder / POINTS, parquet(self.folder / POINTS))
        wanted = {"index", "point", *self.axes, *(f"{TEXT}{axis['key']}" for axis in self.head["axes"])}
        if not wanted <= set(points.columns):
            raise ResultError(f"{self.folder / POINTS}: the store is damaged: columns are missing")
        return points.sort("index")

    def texts(self, key: str) -> pl.Series:
        """The values of an axis at all points, as `--set` and `--controller` take them."""
        return self.points[f"{TEXT}{key}"]

    def scenario(self, index: int) -> Scenario:
        """The scenario of a point. Raises RequestError if it cannot be read any more."""
        overrides, controllers = self.given(index)
        reference = str(self.head["reference"])
        return Scenario.load(Path(reference) if reference.endswith(".toml") else reference, overrides, controllers)

    def given(self, index: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """The settings of a point, and the controllers of its flows, as whoever wrote the store has them."""
        row = self.points.filter(pl.col("index") == index)
        given = [
            *self.head["settings"],
            *((axis["key"], row[f"{TEXT}{axis['key']}"][0]) for axis in self.head["axes"]),
        ]
        controllers = [(key.removeprefix(CONTROLLER), text) for key, text in given if key.startswith(CONTROLLER)]
        return [(key, text) for key, text in given if not key.startswith(CONTROLLER)], controllers

    def typical(self, column: str) -> pl.DataFrame:
        """The trial of each point whose value is nearest to the median: with `seed`, `replay` and `trace_hash`."""
        order = (pl.col(column) - pl.col(column).median().over("index")).abs()
        trials = (
            self.scan().filter(pl.col("error").is_null()).select("index", "seed", "replay", "trace_hash", column)
        )
        ordered = trials.with_columns(far=order.fill_nan(None).fill_null(math.inf)).sort("index", "far", "seed")
        return ordered.unique("index", keep="first", maintain_order=True).drop("far", column).collect()

    @cached_property
    def _trials(self) -> pl.LazyFrame:
        files = trial_files(self.folder, self.head["engine"])
        first, n = int(self.head["seed"]), int(self.head["trials"])
        return scan(files).filter(pl.col("seed").is_between(first, first + n - 1))

    @cached_property
    def columns(self) -> list[str]:
        """What was measured: the columns of `scan` after the point's."""
        return [name for name in self._trials.collect_schema().names() if name not in of_all()]

    def scan(self) -> pl.LazyFrame:
        """One row for each trial, lazily: axes, `seed`, `error`, its `replay` command, and what was measured."""
        points = self.points.lazy()
        # An axis such as flow.main.start has the name of what was measured: its value stands for both.
        measured = [name for name in self.columns if name not in self.axes]
        trials = self._trials.select(*of_all(), *measured)
        found = trials.join(points, on="point", how="inner", maintain_order="left")
        return found.select("index", *self.axes, "seed", "error", self._replay(), *measured)

    def _replay(self) -> pl.Expr:
        fixed = ["thalweg", "run", str(self.head["reference"])]
        for key, text in self.head["settings"]:
            fixed += option(key, text)
        parts: list[pl.Expr] = [pl.lit(shlex.join(fixed))]
        for axis in self.head["axes"]:
            name, start = option(axis["key"], "")
            quoted = pl.col(f"{TEXT}{axis['key']}").str.replace_all("'", "'\"'\"'", literal=True)
            parts += [pl.lit(f" {name} '{start}"), quoted, pl.lit("'")]
        return pl.concat_str([*parts, pl.lit(" --seed "), pl.col("seed").cast(pl.String)]).alias("replay")

    @cached_property
    def rows(self) -> pl.DataFrame:
        """One row for each point: axes, trials, failed trials, and of each metric median, `.low`, `.high`, `.n`.

        A bound that the trials do not have is infinite, a median without trials NaN.
        """
        return self.first(self.points.height)

    def first(self, n: int) -> pl.DataFrame:
        """The same for the first points."""
        points = self.points.head(n)
        table = points.select("index", *self.axes).join(
            self._counts, on="index", how="left", maintain_order="left"
        )
        table = table.with_columns(pl.col("trials", "failed").fill_null(0))
        query = partial(self.measured, points=points)
        return table.with_columns(median_columns(self.columns, query, points["index"])).drop("index")

    @cached_property
    def _counts(self) -> pl.DataFrame:
        """For each point that has any, how many trials there are, and how many of them failed."""
        own = self.points.lazy().select("index", "point")
        return (
            own.join(self._trials.select("point", "error"), on="point")
            .group_by("index")
            .agg(trials=pl.len(), failed=pl.col("error").is_not_null().sum())
            .collect(engine="streaming")
        )

    def measured(self, columns: Sequence[str], points: pl.DataFrame | None = None) -> pl.DataFrame:
        """Columns of the trials that have numbers, with the `index` of their point and their `seed`."""
        own = (self.points if points is None else points).lazy().select("index", "point")
        numbers = self._trials.filter(pl.col("error").is_null()).select("point", "seed", *columns)
        return own.join(numbers, on="point").drop("point").collect(engine="streaming")

    @property
    def failed(self) -> int:
        """Trials without numbers."""
        return int(self._counts["failed"].sum())

    def documents(self) -> Iterator[dict[str, Any]]:
        """The rows as JSON has them, one at a time."""
        kinds: dict[str, list[tuple[dict[str, str], str, list[str]]]] = {"flow": [], "link": [], "stream": []}
        for subject, metrics in subjects(self.columns):
            kind, _, name = subject[:-1].partition(".")
            flow, _, stream = name.partition(".")
            names = {"flow": flow, "stream": stream} if kind == "stream" else {kind: name}
            own = [metric.column for metric in metrics if f"{subject}{metric.column}" in self.rows.columns]
            kinds[kind].append((names, subject, own))
        for row in self.rows.iter_rows(named=True):
            document: dict[str, Any] = {name: row[name] for name in (*self.axes, "trials", "failed")}
            for kind, found in kinds.items():
                document[f"{kind}s"] = [
                    {**self._names(names, row), **_metrics(row, subject, keys)} for names, subject, keys in found
                ]
            yield document

    def _names(self, names: dict[str, str], row: dict[str, Any]) -> dict[str, str]:
        """The names of a flow with its controller."""
        if "flow" not in names or "stream" in names:
            return names
        given = {str(flow["name"]): str(flow["controller"]) for flow in self.head["flows"]}
        controller = row.get(f"{CONTROLLER}{names['flow']}", given.get(names["flow"], ""))
        return {**names, "controller": str(controller)}

    def write_csv(self, file: str | Path) -> None:
        """Writes one row for each trial as CSV. Raises RequestError."""
        with whole_file(Path(file)) as partial:
            self.scan().sink_csv(partial)

    def write_parquet(self, file: str | Path) -> None:
        """Writes one row for each trial as Parquet. Raises RequestError."""
        with whole_file(Path(file)) as partial:
            self.scan().sink_parquet(partial)

    def to_xarray(self, columns: Sequence[str] | None = None) -> xarray.Dataset:
        """What was measured as arrays with labels: one dimension for each axis, and `seed`.

        Points of a design that is not a grid, and tied axes, are one dimension, `point`, with the axes as its
        coordinates. `columns` selects what is read; text is left out. Missing trials are NaN. Needs the extra
        `thalweg[xarray]`. Raises RequestError.
        """
        from thalweg.experiments.sweep.arrays import dataset  # noqa: PLC0415 - xarray is an extra

        return dataset(self, columns)


def _metrics(row: dict[str, Any], subject: str, keys: Sequence[str]) -> dict[str, Any]:
    """The metrics of a flow, a link or a stream that some trial defines."""
    found = {}
    for key in keys:
        value, low, high, n = (row[f"{subject}{key}{part}"] for part in ("", ".low", ".high", ".n"))
        if n:
            found[key] = {"median": finite(value), "interval95": [finite(low), finite(high)], "n": n}
    return found
