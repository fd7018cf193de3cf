"""The figures of a report as files, one each: `DIR/<scenario>-<figure>.svg`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from thalweg.base.errors import RequestError
from thalweg.base.progress import Progress, silent
from thalweg.pages.figures import Chart, save
from thalweg.pages.report.page import figures_of
from thalweg.pages.report.section import Section
from thalweg.results.suite_result import SuiteResult

_BUCKETS = 600


def write_pictures(result: SuiteResult, folder: Path, on_progress: Progress = silent) -> int:
    """Writes the figures of a suite; returns how many. Raises RequestError."""
    return _write(_of_suite(result), folder, on_progress)


def write_study_pictures(sections: Iterable[Section], folder: Path, on_progress: Progress = silent) -> int:
    """Writes the figures of a study; returns how many. Raises RequestError."""
    drawn = (
        (f"{section.name}-{number}", chart)
        for section in sections
        for number, chart in enumerate(section.charts())
    )
    return _write(drawn, folder, on_progress)


def _of_suite(result: SuiteResult) -> Iterator[tuple[str, Chart]]:
    for outcomes in result.outcomes:
        for name, figure, _ in figures_of(result, outcomes, _BUCKETS):
            yield f"{outcomes.scenario.name}-{name}", figure


def _write(figures: Iterable[tuple[str, Chart]], folder: Path, on_progress: Progress) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(f"cannot write {folder}: {error.strerror}") from None
    count = 0
    for name, chart in figures:
        on_progress(f"figures: {name}", count, count + 1)
        save(chart, folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.svg")
        count += 1
    return count
