"""What `thalweg run` prints of the trials of one scenario, in either clock."""

from __future__ import annotations

from thalweg.cli import tables
from thalweg.cli.console import stdout
from thalweg.results.suite_result import SuiteResult


def print_outcomes(result: SuiteResult, where: str) -> None:
    """Prints what was measured, the verdict, and a summary; `where` says which scenario it was, and how it ran."""
    outcomes, console = result.outcomes[0], stdout()
    verdict = outcomes.verdict()
    console.print(f"{result.title}  ({where})")
    for table in tables.measured_tables(outcomes):
        console.print(table)
    if verdict.criteria:
        console.print(tables.verdict_table(tables.verdict_rows(outcomes.scenario.name, verdict)))
    console.print(tables.summary(result, outcomes.n, f"seed {result.seed}"))
