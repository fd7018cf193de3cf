"""What is judged of `stacks`: where the path has no jitter, the two stacks agree.

The median on the stack lies within 5 % of the median on the modelled endpoint with the same windows, with all of
the interval of their ratio. Where the path has jitter, the two stacks part ways within milliseconds, and
distributions are shown, not judged.
"""

from __future__ import annotations

from thalweg.experiments.studies.runner.result import Check, Row
from thalweg.judging.statistics.claims import within
from thalweg.judging.statistics.interval import Interval

TOLERANCE = 0.05
"""The tolerance of the medians, where the path has no jitter."""


def check(row: Row) -> Check:
    """Whether the medians of a row agree."""
    apart, low, high = (
        float(row[name] or 0.0) for name in ("quic_over_wide", "quic_over_wide_low", "quic_over_wide_high")
    )
    interval = Interval(apart, low, high, int(row["n"] or 0))
    return Check(
        name=f"{row['scenario']}, {row['controller']}: medians within {TOLERANCE:.0%}",
        source="the two stacks, with the same flow-control windows",
        answer=within(interval, -TOLERANCE, TOLERANCE),
        measured=f"{apart:+.1%} ({low:+.1%} to {high:+.1%})" if interval.is_bounded else f"{apart:+.1%}",
    )
