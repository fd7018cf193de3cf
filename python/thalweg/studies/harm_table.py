"""The table of `harm` for people: one line for each row, times first, then what else is harmed."""

from __future__ import annotations

from thalweg.quantity import percent, text
from thalweg.studies.harm_measure import COMPLETION, OTHERS
from thalweg.studies.result import Row, StudyResult

HEADERS = (
    "RTT",
    "short flows",
    "against",
    *(header for one in COMPLETION for header in (one.title, "harm", "published")),
    *(f"{one.title} harm" for one in OTHERS),
    "loss",
    "beyond itself",
    "competitor",
    "unfinished",
)
WORDS = 3
"""The first columns hold words, the others numbers."""
LEGEND = (
    "Times run from the nominal arrival of a short flow to its last byte, means of the replications. Harm is the "
    "part of a measure that the competitor is to blame for: (competing - solo) / competing, for throughput "
    "(solo - competing) / solo; 0 is none, 1 is all. ±: interval of 95 % over replications paired by seed. "
    "Published: the harm that ccafct printed. Loss: packets lost of those sent by the short flows. Beyond itself: "
    "harm to the geometric mean above that which the short flows' own controller does. Competitor: its rate while "
    "there were short flows. Unfinished: short flows that the time limit cut off, counted as lasting until then."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    return [_line(row) for row in result.rows]


def _line(row: Row) -> list[str]:
    line = [text(_value(row, "rtt_path_s"), "s"), str(row["controller"]), str(row["competitor"] or "-")]
    for one in COMPLETION:
        line.append(text(_value(row, one.column), one.unit))
        line.append(_harm(row, f"{one.name}_harm"))
        line.append(_plain(row, f"published_{one.name}_harm"))
    line += [_harm(row, f"{one.name}_harm") for one in OTHERS]
    line.append(percent(_value(row, "loss") or 0.0))
    line.append(_harm(row, "geomean_beyond_itself", sign="+") if row["competitor"] != row["controller"] else "-")
    line.append(text(_value(row, "competitor_bps"), "bps", 3))
    line.append(f"{row['unfinished']} of {row['requests']}")
    return line


def _value(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None else float(value)


def _plain(row: Row, name: str) -> str:
    value = _value(row, name)
    return "-" if value is None else f"{value:.3f}"


def _harm(row: Row, name: str, sign: str = "") -> str:
    """A harm and half of its interval: the larger half, as an interval may be cut at 0 or 1."""
    value, low, high = (_value(row, key) for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "-"
    shown = f"{value:{sign}.3f}"
    if low is None or high is None or low != low or high != high:  # noqa: PLR0124 - nan: a single replication
        return shown
    return f"{shown} ±{max(value - low, high - value):.2f}"
