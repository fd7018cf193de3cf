"""Writes what was measured into laws.md, and draws its figures, from the study of this commit.

The study is run with its preset `gigabit`: half an hour of processor time.
"""

from __future__ import annotations

from pages.made import DOCS, fill, made, read, study
from pages.studies import checks, markdown
from thalweg.experiments.studies.laws.checks import quantity_text
from thalweg.experiments.studies.laws.figures import plot_bounds, plot_use, plot_windows
from thalweg.experiments.studies.laws.parameters import PRESETS
from thalweg.experiments.studies.laws.study import STUDY as LAWS
from thalweg.experiments.studies.laws.study import use_table
from thalweg.experiments.studies.laws.utilisation import LAW as UTILISATION
from thalweg.experiments.studies.laws.window import IN_FLIGHT
from thalweg.experiments.studies.laws.window import LAW as WINDOW
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.table import Table
from thalweg.judging.answer import counted

PAGE = DOCS / "evidence" / "studies" / "laws.md"
IMAGES = DOCS / "images" / "studies"


def line(row: Row) -> list[str]:
    """One number."""
    unit = str(row["unit"])
    low, high, mean, least, most = (
        quantity_text(float(row[name] or 0.0), unit)
        for name in ("at_least", "at_most", "measured", "measured_low", "measured_high")
    )
    key = [str(row[name]) for name in ("law", "controller", "stack", "case")]
    return [*key, f"{low} to {high}", mean, f"{least} to {most}"]


def make() -> None:
    """Writes the page."""
    folder = study("laws", lambda: LAWS.run(PRESETS["gigabit"]))
    result = read(folder)
    rows = result.rows
    counts = {
        answer: sum(check.answer == answer for check in result.checks)
        for answer in ("holds", "fails", "undecided")
    }
    said = ", ".join(counted(count, answer) for answer, count in counts.items())
    lines = [
        made("laws"),
        "",
        f"Version {result.version}, preset `{result.preset}`, seed {result.seed}, "
        f"{result.core_s:.0f} s of processor time. Checks: {said}.",
        "",
        "![Average windows over the curves of RFC 9438](../images/studies/laws-windows.png)",
        "",
        "![Utilisation of every controller on every path](../images/studies/laws-utilisation.png)",
        "",
        *markdown(use_table(result)),
        "",
        "All other numbers:",
        "",
        "![All other numbers between their bounds](../images/studies/laws-bounds.png)",
        "",
        *markdown(
            Table(
                ("law", "of", "stack", "case", "bounds", "measured", "interval of 95 %, or of all trials"),
                [line(row) for row in rows if row["law"] != UTILISATION],
                4,
            )
        ),
        "",
        "Checks:",
        "",
        *markdown(checks(result)),
        "",
        *(f"- {note}" for note in result.notes),
        "",
    ]
    fill(PAGE, "measured", "\n".join(lines))
    figures = {
        "windows": plot_windows([row for row in rows if row["law"] == WINDOW]),
        "utilisation": plot_use([row for row in rows if row["law"] == UTILISATION]),
        "bounds": plot_bounds([row for row in rows if row["law"] not in (WINDOW, UTILISATION, IN_FLIGHT)]),
    }
    for name, chart in figures.items():
        chart.save(str(IMAGES / f"laws-{name}.png"), scale_factor=1)
