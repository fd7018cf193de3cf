"""What `harm` stores besides its document.

requests.parquet        every short flow of every replication, with rtt, controller and competitor
flows.parquet           outcomes of the short flows together and of the competitor, of every replication
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.harm.parameters import Cell


def request_and_flow_tables(cells: Mapping[Cell, Outcomes]) -> dict[str, pl.DataFrame]:
    """Both tables, by name."""
    return {
        "requests": _table(cells, lambda outcomes: outcomes.requests),
        "flows": _table(cells, lambda outcomes: outcomes.flows),
    }


def _table(cells: Mapping[Cell, Outcomes], take: Callable[[Outcomes], pl.DataFrame]) -> pl.DataFrame:
    parts = [
        take(outcomes).select(
            pl.lit(cell.rtt_s).alias("rtt_path_s"),
            pl.lit(cell.controller).alias("short_controller"),
            pl.lit(cell.competitor, dtype=pl.String).alias("competitor"),
            pl.all(),
        )
        for cell, outcomes in cells.items()
    ]
    return pl.concat(parts, how="diagonal_relaxed")
