"""What `loopback` stores besides its document.

runs.parquet    every run: variant, round, goodput, packets, losses, RTT
runs.png        the figure
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from thalweg.studies.loopback.measure import Measured
from thalweg.studies.loopback.parameters import Cell


def run_table(cells: Mapping[Cell, Measured]) -> pl.DataFrame:
    """One row for each run."""
    return pl.DataFrame(
        [
            {
                "variant": cell.name,
                "controller": cell.controller,
                "round": number,
                "goodput_bps": one.goodput_bps,
                "elapsed_s": one.elapsed_s,
                "packets_sent": one.packets_sent,
                "packets_lost": one.packets_lost,
                "mean_rtt_s": one.mean_rtt_s,
            }
            for cell, measured in cells.items()
            for number, one in enumerate(measured.runs, 1)
        ]
    )
