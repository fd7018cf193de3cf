"""`thalweg compare`: two stored results side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.console import print_json, stdout
from thalweg.cli.options import Format
from thalweg.cli.tables import plain_table
from thalweg.comparison import Row, compare_results
from thalweg.quantity import text
from thalweg.results import SuiteResult

_HEADERS = (
    "scenario",
    "criterion",
    "A",
    "B",
    "A median",
    "B median",
    "A worst",
    "B worst",
    "A fails",
    "B fails",
    "B - A, median of pairs [95 %]",
    "B better",
)


def compare(
    a: Annotated[str, typer.Argument(help="Folder of a stored result.")],
    b: Annotated[str, typer.Argument(help="Folder of another.")],
    format_: Annotated[Format, typer.Option("--format", help="How to print the answer.")] = Format.TABLE,
) -> None:
    """Set two results side by side.

    Trials with the same seed see the same path, so they are compared in pairs.
    """
    first, second = SuiteResult.load(a), SuiteResult.load(b)
    rows = compare_results(first, second)
    if format_ is Format.JSON:
        print_json(
            {
                "a": a,
                "b": b,
                "versions": [first.version, second.version],
                "rows": [row.document() for row in rows],
            }
        )
        return
    console = stdout()
    console.print(f"A: {a} ({first.started}, version {first.version})")
    console.print(f"B: {b} ({second.started}, version {second.version})")
    console.print(plain_table(_HEADERS, [_cells(row) for row in rows], left=4))


def _cells(row: Row) -> list[str]:
    a, b, unit = row.a, row.b, row.a.unit
    return [
        row.scenario,
        a.subject,
        a.answer,
        b.answer,
        *(text(value, unit) for value in (a.median, b.median, a.worst, b.worst)),
        f"{a.failures} of {a.n}",
        f"{b.failures} of {b.n}",
        *_paired_cells(row),
    ]


def _paired_cells(row: Row) -> tuple[str, str]:
    paired, unit = row.paired, row.a.unit
    if paired is None:
        return "no common seeds", "-"
    bounds = ""
    if paired.low95 is not None and paired.high95 is not None:
        bounds = f" [{text(paired.low95, unit, 3)}, {text(paired.high95, unit, 3)}]"
    return f"{text(paired.median_difference, unit, 3)}{bounds}", f"{paired.b_better} of {paired.n}"
