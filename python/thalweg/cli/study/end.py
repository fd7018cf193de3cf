"""How every `thalweg study` ends: the answer is printed, what was asked for is stored, and the checks decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from thalweg.base.extras import require
from thalweg.base.quantity import text
from thalweg.base.seeds import seed_text
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.options import Format
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED, REFUSED, UNFAITHFUL
from thalweg.cli.study.live import refused, tell
from thalweg.cli.tables import each
from thalweg.experiments.studies.runner.folder import reserve_folder
from thalweg.experiments.studies.runner.result import Check, StudyResult
from thalweg.experiments.studies.runner.study import Finished, StudyError
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED

Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder for the result and its report page."),
]
NoReport = Annotated[
    bool, typer.Option("--no-report", help="Store the result without its report page and pictures.")
]
_STYLES = {HOLDS: "green", FAILS: "bold red", UNDECIDED: "yellow"}


@dataclass(frozen=True)
class Ending:
    """What is asked of the end of a study."""

    format_: Format
    out: Path | None = None
    figures: Path | None = None
    with_page: bool = True
    """Whether a result that is stored has a page."""
    strict_timing: bool = False

    def check(self) -> None:
        """Refuses what could not be done, before the first trial. Raises RequestError."""
        if self.out and self.with_page:
            require("plots", "the report page of a study (--no-report leaves it out)")


def conclude(finished: Finished[Any, Any, Any], ending: Ending, failed: StudyError | None = None) -> int:
    """Prints and stores a study, `failed` if a controller has ended it. Returns the exit status."""
    result = finished.result
    if ending.format_ is Format.JSON:
        print_json(result.document())
    else:
        _print(finished)
    tell(result)
    if failed:
        complain(f"{failed}; nothing was judged")
    elif not finished.complete:
        reached = finished.study.reached(finished)
        complain(f"interrupted: {reached} are finished; nothing was judged", label="")
    if ending.out and result.rows and not _store(finished, ending.out, ending.with_page):
        return INTERRUPTED
    if not finished.complete:
        return REFUSED if failed else INTERRUPTED
    if ending.figures:
        _draw(finished, ending.figures)
    if refused(result, ending.strict_timing):
        return UNFAITHFUL
    if result.fails:
        return FAILED
    if result.undecided:
        complain(
            f"{result.undecided} of {len(result.checks)} checks are undecided with --trials {result.trials}: they "
            "require more"
        )
        return REFUSED
    return PASSED


@contextmanager
def reserved(out: Path | None) -> Iterator[None]:
    """Holds the folder of the result from before the first trial on: two studies do not write into one."""
    if out is None:
        yield
        return
    with reserve_folder(out):
        yield


def _print(finished: Finished[Any, Any, Any]) -> None:
    console, study, result = stdout(), finished.study, finished.result
    console.print(f"{result.title}  ({result.source}; {result.preset})")
    for title, values in result.parameters.items():
        console.print(plain_table((title, ""), list(values.items()), 2))
    for table in study.tables(result):
        console.print(plain_table(table.headers, table.lines, table.words))
    for line in result.notes:
        console.print(line)
    _print_checks(result)
    findings = study.finding_table(result) if result.findings else None
    if findings:
        console.print(plain_table(findings.headers, findings.lines, findings.words))


def _print_checks(result: StudyResult) -> None:
    """Each published finding with its answer, then what the study took."""
    console = stdout()
    if result.checks:
        table = plain_table(("check", "answer", "measured"), [], 3)
        for check in result.checks:
            table.add_row(check.name, _answer(check), check.measured)
        console.print(table)
    trials = f"{each(result.trials)}, {seed_text(result.seed)}"
    said = [checks_told([check.answer for check in result.checks]), trials] if result.checks else [trials]
    times = f"{text(result.wall_s, 's', 3)} ({text(result.core_s, 's', 3)} of processor time)"
    console.print("; ".join([*said, times]))


def checks_told(answers: Sequence[str]) -> str:
    """How many checks hold, and how many the trials do not decide.

    >>> checks_told([HOLDS, FAILS]), checks_told([HOLDS, UNDECIDED, UNDECIDED])
    ('1 of 2 checks holds', '1 of 3 checks holds, 2 are undecided')
    """
    holding, few = answers.count(HOLDS), answers.count(UNDECIDED)
    said = f"{holding} of {len(answers)} checks hold{'s' if holding == 1 else ''}"
    return f"{said}, {few} {'is' if few == 1 else 'are'} undecided" if few else said


def _answer(check: Check) -> Text:
    return Text(check.answer, _STYLES[check.answer])


def _draw(finished: Finished[Any, Any, Any], folder: Path) -> None:
    """Writes every figure of a study as a file."""
    from thalweg.pages.report.pictures import write_study_pictures  # noqa: PLC0415 - seldom asked for

    with Bar() as bar:
        count = write_study_pictures(finished.page.sections, folder, bar.show)
    note(f"wrote {count} figures to {folder}")


def _store(finished: Finished[Any, Any, Any], out: Path, with_page: bool) -> bool:
    """Stores a study; tells whether a Ctrl-C let it."""
    try:
        with Bar() as bar:
            root = finished.save(out, bar.show, with_page)
    except KeyboardInterrupt:
        complain(f"interrupted: the result in {out} lacks its report", label="")
        return False
    page = f" and {root / 'report.html'}" if with_page else ""
    note(f"wrote {root}{page}" + (f"; {out} keeps its older study" if root != out else ""))
    return True
