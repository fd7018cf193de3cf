"""The values of all trials as one table: `trials.parquet` of a stored study, by which `compare` judges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from thalweg.judging.statistics.interval import Values

TRIALS = "trials"
"""The name of the table. Its columns are `cell`, `measure`, `seed`, `value`."""


def samples_table(samples: Mapping[str, Mapping[str, Values]], seed: int) -> dict[str, pl.DataFrame]:
    """The table by its name, of values by cell and measure from `seed` on; nothing without values."""
    parts = [
        pl.DataFrame({"value": np.asarray(values, dtype=np.float64)}).select(
            pl.lit(cell).alias("cell"),
            pl.lit(measure).alias("measure"),
            pl.int_range(seed, seed + len(values)).alias("seed"),
            "value",
        )
        for cell, measures in samples.items()
        for measure, values in measures.items()
    ]
    return {TRIALS: pl.concat(parts)} if parts else {}
