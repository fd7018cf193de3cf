"""What `loopback` stores besides its document.

runs.parquet    every run: variant, round, goodput, packets, losses, RTT
runs.png        the figure
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from thalweg.experiments.studies.loopback.measure import Measured
from thalweg.experiments.studies.loopback.parameters import Cell


def run_table(cells: Mapping[Cell, Measured]) -> pl.DataFrame:
    """One row for each run."""
    return pl.DataFrame(
        [
            {
                "variant": cell.name,
                "controller": cell.controller,
                "round": number,
                "goodput_bps": run.goodput_bps,
                "elapsed_s": run.elapsed_s,
                "packets_sent": run.packets_sent,
                "packets_lost": run.packets_lost,
                "mean_rtt_s": run.mean_rtt_s,
            }
            for cell, measured in cells.items()
            for number, run in enumerate(measured.runs, 1)
        ]
    )
