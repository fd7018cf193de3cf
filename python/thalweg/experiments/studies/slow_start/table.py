"""The table of `slow-start` for people."""

from __future__ import annotations

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import number, told
from thalweg.experiments.studies.slow_start.measure import LEVELS, level_column

HEADERS = (
    "path",
    "controller",
    "start",
    *(text(float(level), "B") for level in LEVELS),
    "left at",
    "reached",
    "left",
    "early",
    "late",
    "dropped",
)
WORDS = 3
"""The first columns hold words; the others hold numbers."""
LEGEND = (
    "Medians of the trials of all phases of a path. 1.5 kB, 15 kB, ...: time from the first full packet until "
    "so many bytes are acknowledged. Left at: when the start was left, of the trials in which it was, with "
    "their share if not all. Reached: the largest window until then, in bandwidth-delay products. Left: the "
    "window with which congestion avoidance begins. Early: trials that leave less than the path holds. Late: "
    "trials that reached more than path and buffer hold. Dropped: packets that the queue dropped until "
    "congestion avoidance began."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    return [_line(row) for row in result.rows]


def _line(row: Row) -> list[str]:
    left = number(row, "left")
    exit_s = _time(row, "exit_s") if left else "never"
    return [
        str(row["condition"]),
        str(row["controller"]),
        str(row["start"]),
        *(_time(row, level_column(level)) for level in LEVELS),
        exit_s if left in (0.0, 1.0) else f"{exit_s} ({percent(left)})",
        f"{number(row, 'reached_of_pipe'):.2f}",
        "-" if row["left_of_pipe"] is None else f"{number(row, 'left_of_pipe'):.2f}",
        percent(number(row, "early")),
        percent(number(row, "late")),
        f"{number(row, 'dropped'):.0f}",
    ]


def _time(row: Row, column: str) -> str:
    return "never" if row[column] is None else told(row, column, "s", 3)
