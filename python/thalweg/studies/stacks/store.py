"""What `stacks` leaves in a folder.

study.json              the document that `--format json` prints
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any trial again
report.html             the page
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from thalweg.progress import Progress, silent
from thalweg.report.study import Section, write_study
from thalweg.studies.runner.folder import PAGE, write_study_files
from thalweg.studies.runner.table import Table
from thalweg.studies.stacks.figures import plot_cells
from thalweg.studies.stacks.study import Cell, Stacks
from thalweg.studies.stacks.table import HEADERS, LEGEND, WORDS, table_rows


def save(study: Stacks, folder: Path, on_progress: Progress = silent) -> Path:
    """Writes a study that has rows; returns where it is. Raises RequestError if that cannot be."""
    scenarios = {
        f"{cell.name}-{cell.controller}-{variant}".replace(":", "-").replace("/", "-"): scenario.toml
        for cell in study.cells
        for variant, scenario in cell.scenarios.items()
    }
    root = write_study_files(folder, study.result, scenarios, {}, complete=study.complete)
    sections = []
    for controller in dict.fromkeys(cell.controller for cell in study.cells):
        cells = [cell for cell in study.cells if cell.controller == controller]
        draw = partial(_draw, cells, f"Both stacks under {controller}")
        sections.append(Section(controller.replace(":", "-"), f"Distributions: {controller}", "", draw))
    table = table_rows(study.result)
    write_study(study.result, Table(HEADERS, table, WORDS), LEGEND, sections, root / PAGE, on_progress)
    return root


def _draw(cells: list[Cell], title: str) -> list[Any]:
    return [plot_cells(cells, title)]
