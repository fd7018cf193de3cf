"""The table of `loopback` for people."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.quantity import percent, text
from thalweg.studies.runner.result import Row, StudyResult

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
            *(_text(row, name, "bps") for name in ("goodput_bps", "lowest_bps", "highest_bps")),
            percent(float(row["to_cubic"] or 0)),
            str(row["packets_lost"]),
            str(row["packets_sent"]),
            _text(row, "mean_rtt_s", "s"),
        ]
        for row in result.rows
    ]


FINDINGS = ("the blog says", "published", "measured", "here", "why")


def finding_rows(result: StudyResult) -> Sequence[Sequence[str]]:
    """What the blog says, what was measured, and whether that is the same."""
    return [[f.name, f.published, f.measured, f.answer, f.reason] for f in result.findings]


def _text(row: Row, name: str, unit: str) -> str:
    value = row[name]
    assert isinstance(value, float)
    return text(value, unit, 3)
