"""The table of `harm` for people: one line for each row, times first, then what else is harmed."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.base.quantity import text
from thalweg.experiments.studies.harm.measure import COMPLETION, OTHERS
from thalweg.experiments.studies.runner.result import Row, StudyResult

TIMES = (
    "RTT",
    "short flows",
    "against",
    *(header for measure in COMPLETION for header in (measure.title, "harm", "published")),
    "beyond itself",
    "unfinished",
)
MORE = (
    "RTT",
    "short flows",
    "against",
    *(header for measure in OTHERS for header in (measure.title, "harm")),
    "competitor",
)
WORDS = 3
"""The first columns of both tables hold words and say what the row is; the others hold numbers."""
HEADERS = (*TIMES, *MORE[WORDS:])
"""Of both tables in one."""
LEGEND = (
    "Times run from the nominal arrival of a short flow to its last byte, means of the replications. Harm is the "
    "part of a measure that the competitor is to blame for: (competing - solo) / competing, for throughput "
    "(solo - competing) / solo; 0 is none, 1 is all, less than 0 a benefit. ±: interval of 95 % over replications "
    "paired by seed. Published: harm as ccafct printed it. Loss: packets dropped, of those that short flows sent. "
    "Beyond itself: harm to the geometric mean above that which the short flows' own controller does. Competitor: "
    "its rate while there were short flows. Unfinished: short flows that the time limit cut off: infinite in the "
    "median and P95, and counted with the time that they were there in the geometric mean and the throughput."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row of the study, under HEADERS."""
    pairs = zip(times_rows(result), more_rows(result), strict=True)
    return [[*times, *more[WORDS:]] for times, more in pairs]


def times_rows(result: StudyResult) -> list[list[str]]:
    """Completion times and harm to them, under TIMES."""
    return [[*_name(row), *_times(row)] for row in result.rows]


def more_rows(result: StudyResult) -> list[list[str]]:
    """What else is harmed, under MORE."""
    return [[*_name(row), *_more(row)] for row in result.rows]


def _name(row: Row) -> Iterator[str]:
    yield text(_value(row, "rtt_path_s"), "s")
    yield str(row["controller"])
    yield str(row["competitor"] or "-")


def _times(row: Row) -> Iterator[str]:
    for measure in COMPLETION:
        yield text(_value(row, measure.column), measure.unit)
        yield _harm(row, f"{measure.name}_harm")
        published = _value(row, f"published_{measure.name}_harm")
        yield "-" if published is None else f"{published:.3f}"
    yield _harm(row, "geomean_beyond_itself", sign="+") if row["competitor"] != row["controller"] else "-"
    yield f"{row['unfinished']} of {row['requests']}"


def _more(row: Row) -> Iterator[str]:
    for measure in OTHERS:
        value = _value(row, measure.column)
        yield text(value, measure.unit, 3) if measure.unit else text(100 * (value or 0.0), "%", 2)
        yield _harm(row, f"{measure.name}_harm")
    yield text(_value(row, "competitor_bps"), "bps", 3)


def _value(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None else float(value)


def _harm(row: Row, name: str, sign: str = "") -> str:
    """A harm and half of its interval."""
    value, low, high = (_value(row, key) for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "-"
    shown = f"{value:{sign}.3f}"
    if low is None or high is None:
        return shown  # a single replication
    return f"{shown} ±{(high - low) / 2:.2f}"
