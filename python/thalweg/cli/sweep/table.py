"""The points of a sweep for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from thalweg.base.quantity import text
from thalweg.cli.console import stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.tables import DROPPABLE_OF_STREAMS
from thalweg.experiments.sweep import SweepResult
from thalweg.experiments.sweep.medians import subjects
from thalweg.judging.measures import Measure
from thalweg.results import measured

_MOST = 40
"""Rows that are printed; the store has all."""
_DIGITS = 3
_DROPPABLE = ("min RTT", "share", "RTT", "loss", "queue delay", *DROPPABLE_OF_STREAMS)
"""What a narrow terminal goes without, the first one first."""


def print_rows(result: SweepResult) -> None:
    """Prints the first points with medians, each flow in a row of its own, and then each stream of calls."""
    rows = result.first(_MOST)
    flows = [str(flow["name"]) for flow in result.head["flows"]]
    streams = [
        subject.removeprefix("stream.").removesuffix(".")
        for subject, _ in subjects(result.columns)
        if subject.startswith("stream.")
    ]
    stdout().print(f"{result.head['name']}: medians over n trials")
    stdout().print(_table(result, rows, "flow", flows, measured.FLOW))
    if streams:
        stdout().print(_table(result, rows, "stream", streams, measured.STREAM))
    if more := result.points.height - rows.height:
        stdout().print(f"... and {more} more points: --csv, --parquet or --format json has them all")


def _table(
    result: SweepResult, rows: pl.DataFrame, kind: str, names: Sequence[str], metrics: Sequence[Measure]
) -> FittingTable:
    axes = result.head["axes"]
    shown = [
        metric for metric in metrics if any(f"{kind}.{name}.{metric.column}" in rows.columns for name in names)
    ]
    several = [kind] if len(names) > 1 or kind == "stream" else []
    headers = [str(axis["key"]) for axis in axes] + several + ["n", *(metric.heading for metric in shown)]
    table = FittingTable(headers, len(axes) + len(several), [name for name in _DROPPABLE if name in headers])
    for row in rows.iter_rows(named=True):
        for name in names:
            cells = [_axis(row[axis["column"]], axis["unit"]) for axis in axes]
            cells += [name.replace(".", " ")] if several else []
            cells.append(str(row["trials"] - row["failed"]))
            table.add_row(*cells, *(_cell(row, f"{kind}.{name}.{of.column}", of.unit) for of in shown))
    return table


def _axis(value: Any, unit: str | None) -> str:
    return text(value, unit) if isinstance(value, float) and unit in ("s", "bps", "bytes") else _plain(value, unit)


def _plain(value: Any, unit: str | None) -> str:
    return f"{value:.6g} {unit or ''}".strip() if isinstance(value, float) else str(value)


def _cell(row: dict[str, Any], column: str, unit: str) -> str:
    return text(row[column], unit, _DIGITS) if row.get(f"{column}.n") else "-"
