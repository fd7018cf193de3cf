"""What `laws` leaves in a folder.

study.json              the document that `--format json` prints
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any trial again
report.html             the page
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from thalweg.progress import Progress, silent
from thalweg.report.study import Section, write_study
from thalweg.studies.laws.figures import plot_bounds, plot_use, plot_windows
from thalweg.studies.laws.study import Laws
from thalweg.studies.laws.table import HEADERS, LEGEND, WORDS, page_rows
from thalweg.studies.laws.utilisation import LAW as UTILISATION
from thalweg.studies.laws.window import LAW as WINDOW
from thalweg.studies.runner.folder import PAGE, write_study_files
from thalweg.studies.runner.table import Table


def save(study: Laws, folder: Path, on_progress: Progress = silent) -> Path:
    """Writes a study that has rows; returns where it is. Raises RequestError if that cannot be."""
    scenarios = {experiment.name: experiment.scenario().toml for experiment in study.played}
    root = write_study_files(folder, study.result, scenarios, {}, complete=study.complete)
    table = page_rows(study.result)
    sections = list(_sections(study))
    write_study(study.result, Table(HEADERS, table, WORDS), LEGEND, sections, root / PAGE, on_progress)
    return root


def _sections(study: Laws) -> Iterator[Section]:
    rows = study.result.rows
    windows = [row for row in rows if row["law"] == WINDOW]
    if windows:
        yield Section("windows", "Average window against loss rate", "", partial(_only, plot_windows, windows))
    used = [row for row in rows if row["law"] == UTILISATION]
    if used:
        yield Section("utilisation", "Utilisation alone", "", partial(_only, plot_use, used))
    others = [row for row in rows if row["law"] not in (WINDOW, UTILISATION)]
    if others:
        yield Section("bounds", "All others, between their bounds", "", partial(_only, plot_bounds, others))


def _only(draw: Callable[[Any], Any], rows: Any) -> list[Any]:
    return [draw(rows)]
