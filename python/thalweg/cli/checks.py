"""The checks of a study for a terminal."""

from __future__ import annotations

from rich.text import Text

from thalweg.cli.console import stdout
from thalweg.cli.tables import plain_table
from thalweg.quantity import text
from thalweg.studies.result import Check, StudyResult


def print_checks(result: StudyResult) -> None:
    """Each published finding with its verdict, then what the study took."""
    console = stdout()
    if result.checks:
        table = plain_table(("check", "verdict", "measured"), [], 3)
        for check in result.checks:
            table.add_row(check.name, _verdict(check), check.measured)
        console.print(table)
    held = sum(check.holds for check in result.checks)
    said = f"{held} of {len(result.checks)} checks hold; " if result.checks else "nothing is checked; "
    times = f"{text(result.wall_s, 's', 3)} ({text(result.core_s, 's', 3)} of processor time)"
    console.print(f"{said}{result.trials} trials each, seed {result.seed}; {times}")


def _verdict(check: Check) -> Text:
    return Text("holds", "green") if check.holds else Text("does not hold", "bold red")
