"""The table of `fairness` for people."""

from __future__ import annotations

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import number

HEADERS = (
    "first",
    "second",
    "queue",
    "flows",
    "buffer",
    "RTT",
    "first of fair",
    "second of fair",
    "least",
    "ratio",
    "Jain 1 s",
    "5 s",
    "20 s",
    "converges",
    "queue delay",
    "loss",
    "utilisation",
)
WORDS = 3
"""The first columns hold words; the others hold numbers."""
LEGEND = (
    "Means of the trials, from when all flows are there to the end; - where one of them has no number. Of fair: "
    "rate over the max-min fair share, capacity over the number of flows. "
    "Least: that of the flow with the least. Ratio: the largest rate over the "
    "smallest. "
    "Buffer: multiples of rate times RTT of the first flow. RTT: of the second flow over that of the first. "
    "Jain: mean of Jain's index over bins of that length. Converges: median time until Jain's index over bins of "
    "1 s is at least 0.9 for 5 s; in brackets the share of trials in which it ever is. "
    "Loss: packets that senders count as lost, of those that they sent."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    return [_line(row) for row in result.rows]


def _line(row: Row) -> list[str]:
    converged = number(row, "converged")
    time = text(row["convergence_s"], "s", 3) if isinstance(row["convergence_s"], float) else "never"
    return [
        str(row["first"]),
        str(row["second"]),
        str(row["queue"]),
        str(row["flows"]),
        f"{number(row, 'buffer_bdp'):g} BDP",
        f"{number(row, 'rtt_ratio'):g}x",
        *(_share(row, column) for column in ("first_of_fair", "second_of_fair", "least_of_fair")),
        *(_number(row, column) for column in ("ratio", "jain_1s", "jain_5s", "jain_20s")),
        time if converged in (0.0, 1.0) else f"{time} ({percent(converged)})",
        text(number(row, "queue_delay_s"), "s", 3),
        _share(row, "loss"),
        percent(number(row, "utilisation")),
    ]


def _number(row: Row, column: str) -> str:
    return "-" if row[column] is None else f"{number(row, column):.2f}"


def _share(row: Row, column: str) -> str:
    return "-" if row[column] is None else percent(number(row, column))
