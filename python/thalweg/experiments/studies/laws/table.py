"""The tables of `laws` for people: each narrow enough for 80 columns."""

from __future__ import annotations

from thalweg.experiments.studies.laws import utilisation
from thalweg.experiments.studies.laws.checks import shown
from thalweg.experiments.studies.runner.result import Row, StudyResult

HEADERS = ("law", "of", "stack", "case", "bounds", "measured")
WORDS = 4
"""The first columns hold words; the others hold numbers."""
LEGEND = (
    "Means of the trials. Of: controller or queue discipline. Bounds: what the law and its assumptions allow; a "
    "check holds if the whole interval of the mean lies within, in every case of the law. study.json has clause, "
    "arithmetic and interval of each line."
)
FINDINGS = {"shown, not judged": "name", "allowed": "published", "measured": "measured", "reason": "reason"}
"""Where a law claims nothing: header -> part of a finding."""
FINDINGS_WORDS = 1


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each number but those of the utilisation, under HEADERS."""
    return [_line(row) for row in result.rows if row["law"] != utilisation.LAW]


def page_rows(result: StudyResult) -> list[list[str]]:
    """One line for each number."""
    return [_line(row) for row in result.rows]


def has_use(result: StudyResult) -> bool:
    """Whether utilisation was measured."""
    return bool(_controllers(result))


def use_headers(result: StudyResult) -> list[str]:
    """Of the table of utilisation: a column for each controller."""
    return ["utilisation", "stack", *_controllers(result)]


def use_rows(result: StudyResult) -> list[list[str]]:
    """One line for each path and stack, a column for each controller."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in result.rows:
        if row["law"] == utilisation.LAW:
            found.setdefault((str(row["case"]), str(row["stack"])), {})[str(row["controller"])] = row
    return [
        [case, stack, *(_use(line.get(controller)) for controller in _controllers(result))]
        for (case, stack), line in found.items()
    ]


def _controllers(result: StudyResult) -> list[str]:
    return list(dict.fromkeys(str(row["controller"]) for row in result.rows if row["law"] == utilisation.LAW))


def _use(row: Row | None) -> str:
    return "-" if row is None else f"{float(row['measured'] or 0):.1%}".replace("%", " %")


def _line(row: Row) -> list[str]:
    unit = str(row["unit"])

    def number(column: str) -> str:
        value = row[column]
        return shown(float(value), unit) if isinstance(value, int | float) else "-"

    bounds = f"{number('at_least')} to {number('at_most')}"
    for ending in (" ms", " s"):
        if bounds.count(ending) == 2:
            bounds = bounds.replace(ending, "", 1)
    words = [str(row[name]) for name in ("law", "controller", "stack", "case")]
    return [*words, bounds, number("measured")]
