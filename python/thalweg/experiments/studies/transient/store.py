"""What `transient` stores besides its document.

reactions.parquet       every trial of every cell and step: the metric, the fit, and what the authors' tool says
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from thalweg.experiments.studies.transient.measure import Measured
from thalweg.experiments.studies.transient.parameters import Cell, Parameters


def reaction_table(parameters: Parameters, seed: int, cells: Mapping[Cell, list[Measured]]) -> pl.DataFrame:
    """One row for each trial, cell and step; infinite and unknown numbers are null."""
    parts = []
    for cell, steps in cells.items():
        for step, reaction in zip(parameters.all_steps, steps, strict=True):
            of, fit, coded = reaction.reactions, reaction.fit, reaction.as_coded
            n = len(of.area)
            columns = {
                "trial": np.arange(n),
                "seed": seed + np.arange(n),
                "converged": of.converged,
                "reaction_s": of.reaction_s,
                "area": of.area,
                "overshoot": of.overshoot,
                "undershoot": of.undershoot,
                "settled": of.settled,
                "net": of.net,
                "lost_s": of.lost,
                "level": of.level,
                "damping_ratio": fit.damping,
                "natural_frequency": fit.frequency,
                "dead_s": fit.dead_s,
                "fit_quality": fit.quality,
                "damping": fit.classes,
                "as_coded": np.full(n, np.nan) if coded is None else coded.area,
                "as_coded_converged": np.zeros(n, dtype=np.bool_) if coded is None else coded.converged,
            }
            names = {"buffer": cell.buffer, "controller": cell.controller, "step": step.title}
            parts.append(pl.DataFrame(columns).select(*(pl.lit(v).alias(k) for k, v in names.items()), pl.all()))
    frame = pl.concat(parts)
    finite = pl.col(pl.Float64)
    return frame.with_columns(pl.when(finite.is_finite()).then(finite))
