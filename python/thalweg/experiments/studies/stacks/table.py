"""The table of `stacks` for people."""

from __future__ import annotations

from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import told

HEADERS = (
    "scenario",
    "controller",
    "metric",
    "jitter",
    "model",
    "model, wide",
    "quic",
    "p5 to p95 of model",
    "p5 to p95 of quic",
    "quic over model",
    "quic over wide",
)
WORDS = 4
"""The first columns hold words; the others hold numbers."""
LEGEND = (
    "Medians of the trials of the first criterion of each scenario. Model: the modelled endpoint as shipped; "
    "wide: with flow-control windows as wide as those of the QUIC stack; quic: the QUIC stack. Differences are of "
    "medians; the last column is judged where the path has no jitter."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    return [_line(row) for row in result.rows]


def _line(row: Row) -> list[str]:
    return [
        str(row["scenario"]),
        str(row["controller"]),
        str(row["metric"]),
        str(row["jitter"]),
        *(_value(row, f"{variant}_median") for variant in ("model", "wide", "quic")),
        *(f"{_value(row, f'{variant}_p5')} to {_value(row, f'{variant}_p95')}" for variant in ("model", "quic")),
        *(f"{row[f'quic_over_{variant}']:+.1%}" for variant in ("model", "wide")),
    ]


def _value(row: Row, column: str) -> str:
    return told(row, column, str(row["unit"]))
