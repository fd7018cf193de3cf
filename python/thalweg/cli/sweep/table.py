"""The points of a sweep for a terminal."""

from __future__ import annotations

from typing import Any

from thalweg.base.quantity import text
from thalweg.cli.console import stdout
from thalweg.cli.fitting import FittingTable
from thalweg.experiments.sweep import SweepResult
from thalweg.results import measured

_MOST = 40
"""Rows that are printed; the store has all."""
_DIGITS = 3
_DROPPABLE = ("min RTT", "share", "RTT", "loss", "queue delay")
"""What a narrow terminal goes without, the first one first."""


def print_rows(result: SweepResult) -> None:
    """Prints the first points, each flow in a row of its own, with medians."""
    rows, axes = result.first(_MOST), result.head["axes"]
    flows = [str(flow["name"]) for flow in result.head["flows"]]
    shown = [
        metric for metric in measured.FLOW if any(f"flow.{flow}.{metric.column}" in rows.columns for flow in flows)
    ]
    several = ["flow"] if len(flows) > 1 else []
    headers = [str(axis["key"]) for axis in axes] + several + ["n", *(metric.heading for metric in shown)]
    table = FittingTable(headers, len(axes) + len(several), [name for name in _DROPPABLE if name in headers])
    for row in rows.iter_rows(named=True):
        for flow in flows:
            cells = [_axis(row[axis["column"]], axis["unit"]) for axis in axes]
            cells += [flow] if several else []
            cells.append(str(row["trials"] - row["failed"]))
            table.add_row(*cells, *(_cell(row, f"flow.{flow}.{of.column}", of.unit) for of in shown))
    stdout().print(f"{result.head['scenario']}: medians over n trials")
    stdout().print(table)
    if more := result.points.height - rows.height:
        stdout().print(f"... and {more} more points: --csv, --parquet or --format json has them all")


def _axis(value: Any, unit: str | None) -> str:
    return text(value, unit) if isinstance(value, float) and unit in ("s", "bps", "bytes") else _plain(value, unit)


def _plain(value: Any, unit: str | None) -> str:
    return f"{value:.6g} {unit or ''}".strip() if isinstance(value, float) else str(value)


def _cell(row: dict[str, Any], column: str, unit: str) -> str:
    return text(row[column], unit, _DIGITS) if row.get(f"{column}.n") else "-"
