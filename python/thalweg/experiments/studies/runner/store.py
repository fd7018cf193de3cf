"""What a study leaves in a folder.

study.json              the document that `--format json` prints
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any trial again
trials.parquet          the value of each trial by cell and measure, of studies that have such values
*.parquet, *.png        what the study stores besides
report.html             the page
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from thalweg.base.progress import Progress
from thalweg.experiments.studies.runner.folder import PAGE, write_study_files
from thalweg.experiments.studies.runner.page import write_study
from thalweg.experiments.studies.runner.samples import samples_table
from thalweg.experiments.studies.runner.study import Finished
from thalweg.pages.figures import save as save_picture
from thalweg.pages.lab_link import TrialLink, runs_in_browser


def save(finished: Finished[Any, Any, Any], folder: Path, on_progress: Progress, report: bool = True) -> Path:
    """Writes a study that has rows, with its page and pictures if `report`; returns where it is.

    Raises RequestError if that cannot be.
    """
    study, result = finished.study, finished.result
    drawn = study.pictures(finished) if report else {}
    pictures = {f"{name}.png": partial(save_picture, chart) for name, chart in drawn.items()}
    tables = {**study.columns(finished), **samples_table(study.samples(finished), result.seed)}
    root = write_study_files(folder, result, finished.scenarios, tables, pictures, complete=finished.complete)
    if report:
        sections = list(study.sections(finished))
        links = list(_links(finished))
        table, strips = study.page_table(result), study.strips(finished)
        write_study(result, table, study.legend, sections, links, root / PAGE, on_progress, strips)
    return root


def _links(finished: Finished[Any, Any, Any]) -> Iterator[tuple[str, TrialLink]]:
    """The first trial of each scenario that a browser can run; trials in real time do not come again."""
    result = finished.result
    for name, toml in {} if result.live else finished.scenarios.items():
        if runs_in_browser(toml) and (trace_hash := finished.first_hashes.get(name)):
            yield name, TrialLink(f"{name}.toml", toml, result.seed, result.version, trace_hash)
