"""What `wifi-compete` stores besides its document.

flows.parquet           outcomes of every flow of every trial, with variant and competitor
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.wifi_compete.parameters import Cell


def flow_table(cells: Mapping[Cell, Outcomes]) -> pl.DataFrame:
    """One row for each flow."""
    parts = [
        outcomes.flows.select(pl.lit(variant).alias("variant"), pl.lit(competitor).alias("competitor"), pl.all())
        for (variant, competitor), outcomes in cells.items()
    ]
    return pl.concat(parts, how="diagonal_relaxed")
