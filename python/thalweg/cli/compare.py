"""`thalweg compare`: two stored results side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from thalweg.cli.console import complain, print_json, stdout
from thalweg.cli.options import Format
from thalweg.cli.tables import plain_table
from thalweg.comparison import MARGIN, Row, compare_results, shared_seeds
from thalweg.quantity import percent
from thalweg.statistics.digits import bracketed, supported
from thalweg.store.results import SuiteResult

_HEADERS = (
    "scenario",
    "criterion",
    "A",
    "B",
    "B - A",
    "A median",
    "B median",
    "A fails",
    "B fails",
    "B - A [95 %]",
    "of",
    "B better",
    "ties",
)


def compare(
    a: Annotated[str, typer.Argument(help="Folder of a stored result.")],
    b: Annotated[str, typer.Argument(help="Folder of another.")],
    margin: Annotated[
        float, typer.Option(min=0, max=100, metavar="PERCENT", help="Differences up to this do not count.")
    ] = 100 * MARGIN,
    format_: Annotated[Format, typer.Option("--format", help="How to print the answer.")] = Format.TABLE,
) -> None:
    """Set two results side by side.

    Trials with the same seed see the same path and are compared in pairs where that tells more than to compare all
    with all.
    """
    first, second = SuiteResult.load(a), SuiteResult.load(b)
    rows = compare_results(first, second, margin / 100)
    if shared := shared_seeds(first, second):
        complain(
            f"A begins with seed {first.seed}, B with seed {second.seed}, and {shared} trials have seeds of both: "
            "they are the same draws of the path, no new evidence; suites of this version share none",
            label="warning: ",
        )
    if format_ is Format.JSON:
        print_json(
            {
                "a": a,
                "b": b,
                "versions": [first.version, second.version],
                "shared_seeds": shared,
                "rows": [row.document() for row in rows],
            }
        )
        return
    console = stdout()
    console.print(f"A: {a} ({first.started}, version {first.version})")
    console.print(f"B: {b} ({second.started}, version {second.version})")
    console.print(plain_table(_HEADERS, [_cells(row) for row in rows], left=5))
    console.print(_summary(rows, margin / 100))


def _cells(row: Row) -> list[str]:
    a, b, unit, paired = row.a, row.b, row.a.unit, row.paired
    return [
        row.scenario,
        a.subject,
        a.answer,
        b.answer,
        row.told,
        supported(a.median_interval, unit),
        supported(b.median_interval, unit),
        f"{a.failures} of {a.n}",
        f"{b.failures} of {b.n}",
        bracketed(row.sharper.interval, unit),
        "pairs" if row.pairs_are_sharper else "all with all",
        f"{paired.b_better} of {paired.n}" if paired else "-",
        str(paired.ties) if paired else "-",
    ]


def _summary(rows: Sequence[Row], margin: float) -> str:
    """How many differ, and which comparisons stand behind that."""
    differ = sum(row.told in ("B is larger", "B is smaller") for row in rows)
    parts = [
        f"{differ} of {len(rows)} differ by more than {percent(margin)}, of which at most 5 % by chance "
        "(false discovery rate)"
    ]
    apart = sum(row.paired is None for row in rows)
    useless = sum(row.paired is not None and not row.pairs_are_sharper for row in rows)
    if apart:
        parts.append(f"{apart} have no common seeds")
    if useless:
        parts.append(f"in {useless} pairs tell less than all trials against all (rank correlation up to 1/3)")
    return "; ".join(parts)
