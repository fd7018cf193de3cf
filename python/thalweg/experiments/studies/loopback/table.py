"""The table of `loopback` for people."""

from __future__ import annotations

from thalweg.base.quantity import percent
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.experiments.studies.runner.table import told

HEADERS = ("variant", "controller", "goodput", "lowest", "highest", "to CUBIC", "lost", "of", "RTT")
WORDS = 2
"""The first columns hold words, the others numbers."""
LEGEND = (
    "Goodput: median of the runs, then the lowest and the highest. To CUBIC: median of the ratio to the run of "
    "CUBIC in the same round. Lost: packets declared lost in all runs, of those sent. RTT: mean of the samples of "
    "a run, median of the runs."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each variant, under HEADERS."""
    return [
        [
            str(row["variant"]),
            str(row["controller"]),
            *(told(row, name, "bps", 3) for name in ("goodput_bps", "lowest_bps", "highest_bps")),
            percent(float(row["to_cubic"] or 0)),
            str(row["packets_lost"]),
            str(row["packets_sent"]),
            told(row, "mean_rtt_s", "s", 3),
        ]
        for row in result.rows
    ]


FINDINGS = {
    "the blog says": "name",
    "published": "published",
    "measured": "measured",
    "here": "answer",
    "why": "reason",
}
"""What the blog says, what was measured, and whether that is the same: header -> part of a finding."""
