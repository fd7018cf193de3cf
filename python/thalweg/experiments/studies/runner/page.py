"""Stores a study with its report page, its table, its checks and its figures; see `study.html`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from thalweg.base.progress import Progress, silent
from thalweg.experiments.studies.runner.folder import PAGE, samples_table, write_study_files
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.experiments.studies.runner.study import Finished
from thalweg.experiments.studies.runner.table import Table, legend
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED
from thalweg.pages.figures import Chart
from thalweg.pages.figures import save as save_picture
from thalweg.pages.lab_link import TrialLink, runs_in_browser
from thalweg.pages.report.figures import Figures
from thalweg.pages.report.page import fill, write_page
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strips


@dataclass(frozen=True)
class Page:
    """What the page of a study shows in addition to its table."""

    sections: Iterable[Section]
    """Its figures."""
    strips: Strips | None = None
    """The trials of each row of the table; None where rows are not distributions of trials."""
    pictures: Mapping[str, Chart] = field(default_factory=dict)
    """What else is stored, as `NAME.png`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What else is stored as text, by the names of Markdown files."""
    own: tuple[str, Mapping[str, object]] | None = None
    """The template of a page of its own and the values for it, in place of the page of studies."""


def save(finished: Finished[Any, Any, Any], folder: Path, on_progress: Progress, with_page: bool = True) -> Path:
    """Writes a study that has rows, with its page and pictures if `with_page`; returns where it is.

    Raises RequestError if that cannot be.
    """
    study, result = finished.study, finished.result
    page = finished.page if with_page else Page(())
    pictures: dict[str, Callable[[Path], None]] = {
        f"{name}.png": partial(save_picture, chart) for name, chart in page.pictures.items()
    }
    pictures |= {name: partial(_write_text, text=text) for name, text in page.texts.items()}
    tables = {**study.stored(finished), **samples_table(finished.samples, result.seed)}
    root = write_study_files(
        folder, result, study.texts(finished), tables, pictures, finished.files, complete=finished.complete
    )
    if page.own:
        template, values = page.own
        write_page(fill(template, Figures(), **values), root / PAGE)
    elif with_page:
        text, links = legend(study.legend, study.columns), list(_links(finished))
        sections, table = list(page.sections), study.page_table(result)
        write_study(result, table, text, sections, links, root / PAGE, on_progress, page.strips)
    return root


def _write_text(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def _links(finished: Finished[Any, Any, Any]) -> Iterator[tuple[str, TrialLink]]:
    """The first trial of each scenario that a browser can run; trials in real time do not repeat."""
    result = finished.result
    for name, toml in {} if result.live else finished.scenarios.items():
        if runs_in_browser(toml) and (trace_hash := finished.first_hashes.get(name)):
            yield name, TrialLink(f"{name}.toml", toml, result.seed, result.version, trace_hash)


def write_study(
    result: StudyResult,
    table: Table,
    legend: str,
    sections: Sequence[Section],
    links: Sequence[tuple[str, TrialLink]],
    file: str | Path,
    on_progress: Progress = silent,
    strips: Strips | None = None,
) -> None:
    """Writes the page of a study; `links` open a trial of each scenario in the lab, `strips` stand in the table.

    Raises RequestError if the file cannot be written.
    """
    figures = Figures()
    shown = []
    for number, section in enumerate(sections):
        on_progress(f"report: {section.name}", number, len(sections))
        places = []
        for index, chart in enumerate(section.charts()):
            places.append(f"{section.name}-{index}")
            figures[places[-1]] = chart
        shown.append({"name": section.name, "title": section.title, "toml": section.toml, "places": places})
    if strips is not None:
        table = _with_strips(table, strips)
    page = fill(
        "study.html",
        figures,
        result=result,
        table=table,
        legend=legend,
        drawn=strips.legend if strips is not None else "",
        sections=shown,
        links=links,
        findings=[
            (finding.name, finding.published, finding.measured, finding.answer, finding.reason)
            for finding in result.findings
        ],
        contents=[
            *([("checks", "Checks")] if result.checks else []),
            *((str(table["name"]), str(table["title"])) for table in shown if table["places"]),
            *([("findings", "What was published")] if result.findings else []),
            ("rows", "Measured"),
            *([("scenarios", "Scenarios")] if links else []),
            ("parameters", "Parameters"),
        ],
        count=[
            (answer, sum(check.answer == answer for check in result.checks))
            for answer in (HOLDS, FAILS, UNDECIDED)
        ],
    )
    write_page(page, Path(file))


def _with_strips(table: Table, strips: Strips) -> Table:
    """The table with its strips behind what says which row it is: there they are in sight however wide it is."""
    words = table.words
    drawn = [Markup("").join(strip.markup for strip in row) or "-" for row in strips.rows]
    lines = [[*line[:words], strip, *line[words:]] for line, strip in zip(table.lines, drawn, strict=True)]
    return Table((*table.headers[:words], strips.header, *table.headers[words:]), lines, words + 1)
