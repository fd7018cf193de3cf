"""The table of `hunt` for people."""

from __future__ import annotations

from thalweg.experiments.studies.hunt.checks import told
from thalweg.experiments.studies.runner.result import Row, StudyResult

HEADERS = (
    "case",
    "objective",
    "bound",
    "plan",
    "found",
    "reached",
    "scenarios",
    "numbers",
    "shipped",
)
WORDS = 2
LEGEND = (
    "Medians over hunts with different search seeds. Bound: from which value of the objective on the case counts "
    "as found. Plan: the objective of the scenario that a hunt begins with. Found: the worst of a hunt. Reached: "
    "hunts that came to the bound. Scenarios: how many those tried until then. Numbers: of the scenario as it was "
    "found, and as it shrank. Shipped: the objective of the shipped scenario, the median of its trials."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    return [_line(row) for row in result.rows]


def _line(row: Row) -> list[str]:
    unit = str(row["unit"])

    def value(column: str) -> str:
        return told(float(row[column] or 0.0), unit)

    return [
        str(row["case"]),
        str(row["objective"]),
        value("bound"),
        value("baseline"),
        value("found"),
        f"{row['reached']} of {row['hunts']}",
        "-" if row["scenarios"] is None else f"{float(row['scenarios']):.0f}",
        f"{float(row['numbers_found'] or 0):.0f} to {float(row['numbers_shrunk'] or 0):.0f}",
        value("shipped"),
    ]
