"""What `loopback` leaves in a folder.

study.json      the document that `--format json` prints
runs.parquet    every run: variant, round, goodput, packets, losses, RTT
runs.png        the figure
report.html     the page
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from thalweg.plots import save as save_figure
from thalweg.progress import Progress, silent
from thalweg.report.study import Section, write_study
from thalweg.studies.loopback.figures import plot_runs
from thalweg.studies.loopback.study import VARIANTS, Loopback
from thalweg.studies.loopback.table import HEADERS, LEGEND, WORDS, table_rows
from thalweg.studies.runner.folder import PAGE, write_study_files
from thalweg.studies.runner.table import Table


def save(study: Loopback, folder: Path, on_progress: Progress = silent) -> Path:
    """Writes a study that has rows; returns where it is. Raises RequestError if that cannot be."""
    root = write_study_files(
        folder, study.result, {}, {"runs": runs(study)}, ["runs.png"], complete=study.complete
    )
    figure = plot_runs(study.runs, study.result.title)
    save_figure(figure, root / "runs.png")
    section = Section("runs", "Goodput and losses", "", lambda: [figure])
    rows = table_rows(study.result)
    write_study(study.result, Table(HEADERS, rows, WORDS), LEGEND, [section], root / PAGE, on_progress)
    return root


def runs(study: Loopback) -> pl.DataFrame:
    """One row for each run."""
    return pl.DataFrame(
        [
            {
                "variant": name,
                "controller": VARIANTS[name],
                "round": number,
                "goodput_bps": one.goodput_bps,
                "elapsed_s": one.elapsed_s,
                "packets_sent": one.packets_sent,
                "packets_lost": one.packets_lost,
                "mean_rtt_s": one.mean_rtt_s,
            }
            for name, all_runs in study.runs.items()
            for number, one in enumerate(all_runs, 1)
        ]
    )
