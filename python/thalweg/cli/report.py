"""`thalweg report`: the page of a stored result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.cli.console import Bar, note
from thalweg.cli.options import FiguresFolder, check_writable
from thalweg.results.suite_result import SuiteResult


def report(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="Folder of a stored result.")],
    output: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.html", help="The page to write.")],
    figures: FiguresFolder = None,
) -> None:
    """Write a stored result as one HTML page that works offline.

    Example: `thalweg report results/mine -o mine.html`
    """
    if output.suffix not in (".html", ".htm"):
        raise RequestError(f"--out {output}: the name must end in .html")
    stored = SuiteResult.load(result)
    check_writable(output)
    from thalweg.pages.report import write_report  # noqa: PLC0415 - altair takes half a second to load

    with Bar() as bar:
        write_report(stored, output, bar.show)
    note(f"wrote {output}")
    if figures:
        pictures(stored, figures)


def pictures(result: SuiteResult, folder: Path) -> None:
    """Writes every figure of a result, and says so."""
    from thalweg.pages.report.pictures import write_pictures  # noqa: PLC0415 - seldom asked for

    with Bar() as bar:
        count = write_pictures(result, folder, bar.show)
    note(f"wrote {count} figures to {folder}")
