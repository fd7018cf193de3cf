"""The reductions of a congestion window in a trace, each with its cause by the truth of the links.

A cut is a fall of the window by a twentieth or more between two samples; samples of one round trip are one cut.
Its cause is what the links did to packets of the flow since a round trip before: where several did something,
what dropped most. A cut for which no link did anything has a probe timeout, or is the choice of the controller: by
its design, or for packets that it took for lost and that arrived.
"""

from __future__ import annotations

import math
from collections import Counter

import polars as pl

from thalweg.engine.trace import Trace

LEAST = 0.05
"""A fall by a smaller share of the window is not a cut."""
_CAUSES = {
    "queue": "a full queue",
    "aqm": "drops of active queue management",
    "policer": "a policer",
    "loss": "random loss",
    "shrunk": "a buffer that shrank",
    "flushed": "a buffer that was emptied",
    "mark": "marks",
}
"""Reasons of drops, and marks, in words."""
NO_LOSS = "no loss"


def cuts(trace: Trace, flow: str) -> Counter[str]:
    """How many cuts the window of a flow had, by cause in words."""
    own = trace.flows.filter((pl.col("flow") == flow) & (pl.col("window_bytes") > 0))
    rows = own.select("time_s", "window_bytes", "smoothed_rtt_s").iter_rows()
    dropped = trace.drops.filter(pl.col("flow") == flow).select("time_s", "reason")
    marks = _marks(trace)
    found: Counter[str] = Counter()
    before, last = 0.0, float("-inf")
    for time, window, rtt in rows:
        if before and window < (1 - LEAST) * before:
            span = rtt if rtt and math.isfinite(rtt) else 0.0
            if time - last > span:
                found[_cause(dropped, marks, max(last, time - 2 * span), time)] += 1
                last = time
        before = window
    return found


def _cause(dropped: pl.DataFrame, marks: pl.DataFrame, begin: float, end: float) -> str:
    within = (pl.col("time_s") > begin) & (pl.col("time_s") <= end)
    reasons = Counter(dropped.filter(within & pl.col("reason").is_in(list(_CAUSES)))["reason"].to_list())
    if reasons:
        return _CAUSES[reasons.most_common(1)[0][0]]
    return _CAUSES["mark"] if marks.filter(within)["marked"].sum() else NO_LOSS


def _marks(trace: Trace) -> pl.DataFrame:
    """When links marked packets, of any flow."""
    marked = pl.col("marked_packets").cast(pl.Int64).diff().over("link").fill_null(0)
    return trace.links.select("time_s", marked=marked).filter(pl.col("marked") > 0)
