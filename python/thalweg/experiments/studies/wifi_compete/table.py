"""The table of `wifi-compete` for people."""

from __future__ import annotations

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import told

HEADERS = (
    "variant",
    "against",
    "n",
    "min",
    "median",
    "mean",
    "sd",
    "p90",
    "worst",
    "published median",
    "published mean",
    "published p90",
    "ratio of medians",
    "ratio of means",
    "ratio of p90",
    "slowdown",
    "share",
    "background",
)
WORDS = 2
"""The first columns hold words, the others numbers."""
LEGEND = (
    "Times are when the main flow has closed, from the start of the trial; in a pair it starts at 1 s. "
    "Published: of the re-measurement; ratios: ours over it. Slowdown: the duration of the median "
    "trial over the duration alone. Share: what the main flow got of all that was delivered while both flows "
    "were active, mean of the trials. Background: what the other flow had got when the main flow closed, of 10 MB."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    return [_line(row) for row in result.rows]


def _line(row: Row) -> list[str]:
    times = [told(row, name, "s", 3) for name in ("min_s", "median_s", "mean_s", "sd_s", "p90_s", "worst_s")]
    share, background = row["share"], row["background_mb"]
    return [
        str(row["variant"]),
        str(row["competitor"]),
        str(row["n"]),
        *times,
        *(told(row, f"published_{name}_s", "s", 3) for name in ("median", "mean", "p90")),
        *(told(row, f"{name}_ratio", digits=3) for name in ("median", "mean", "p90")),
        told(row, "slowdown", digits=3),
        percent(float(share)) if share is not None else "-",
        text(float(background) * 1e6, "B", 3) if background is not None else "-",
    ]


FINDINGS = {"the paper says": "name", "published": "published", "measured": "measured", "here": "answer"}
"""What the paper says, what was measured, and whether that is the same: header -> part of a finding."""
