"""The falls of a congestion window in a trace, each with its cause by the truth of the links.

A fall is one by a twentieth or more between two samples; falls within a round trip are one. Its cause is what the
links did to packets of the connection since two round trips before, or since the sender began to wait for a probe
timeout: where several did something, what dropped most. Where no link did anything it is the probe timeout, or the
choice of the controller: by its design, or for packets that it took for lost and that arrived.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from thalweg.engine.trace import DROP_REASONS, Trace

LEAST = 0.05
"""A fall by a smaller share of the window does not count."""
MARKS = "marks"
TIMEOUT = "a probe timeout"
NO_LOSS = "no loss"
_NOT_DATA = "ack-filter"
"""A reason of drops that takes nothing of what a sender has in flight."""
_LOOK_BACK = 2
"""Round trips before a fall in which its cause is looked for."""


Drops: TypeAlias = "tuple[list[float], list[str]]"
"""When links dropped packets, in the order of time, and why."""
_NONE: Drops = ([], [])


@dataclass(frozen=True)
class Series:
    """What a trace has of one flow, which may be several connections, each under its own name."""

    samples: pl.DataFrame
    drops: dict[str, Drops]
    """By connection."""
    marks: list[float]
    """When links marked packets, of any flow."""

    @staticmethod
    def of(trace: Trace, flow: str) -> Series:
        """Takes them out of a trace."""
        name = pl.col("flow").cast(pl.String)
        own = (name == flow) | name.str.starts_with(f"{flow}/")
        marked = pl.col("marked_packets").cast(pl.Int64).diff().over("link").fill_null(0) > 0
        drops = trace.drops.filter(own & (pl.col("reason").cast(pl.String) != _NOT_DATA)).sort("time_s")
        return Series(
            trace.flows.filter(own & (pl.col("window_bytes") > 0)),
            {
                str(sender): (rows["time_s"].to_list(), rows["reason"].cast(pl.String).to_list())
                for (sender,), rows in drops.group_by("flow", maintain_order=True)
            },
            trace.links.filter(marked)["time_s"].sort().to_list(),
        )

    def dropped(self, sender: str) -> Drops:
        """The packets of a sender; of one end of a call, the packets of the call."""
        return self.drops.get(sender) or self.drops.get(sender.rpartition("/")[0], _NONE)

    @property
    def reasons(self) -> Counter[str]:
        """How many packets of the flow links dropped, by reason."""
        return Counter(reason for _, reasons in self.drops.values() for reason in reasons)


def cuts(series: Series, marked: bool) -> Counter[str]:
    """How many falls the windows of a flow had, by cause in words; `marked`: links marked packets of it."""
    marks = series.marks if marked else []
    found: Counter[str] = Counter()
    for (sender,), samples in series.samples.group_by("flow", maintain_order=True):
        found += _of_sender(samples, series.dropped(str(sender)), marks)
    return found


def _of_sender(samples: pl.DataFrame, drops: Drops, marks: list[float]) -> Counter[str]:
    found: Counter[str] = Counter()
    before, last, waiting = 0.0, -math.inf, math.inf
    columns = ("time_s", "window_bytes", "smoothed_rtt_s", "limited")
    for time, window, rtt, limited in samples.select(columns).iter_rows():
        span = rtt if rtt and math.isfinite(rtt) else 0.0
        if before and window < (1 - LEAST) * before and time - last > span:
            begin = max(last, min(time, waiting) - _LOOK_BACK * span)
            found[_cause(drops, marks, begin, time) or (TIMEOUT if waiting < math.inf else NO_LOSS)] += 1
            last = time
        before = window
        waiting = min(waiting, time) if limited == "stalled" else math.inf
    return found


def _cause(drops: Drops, marks: list[float], begin: float, end: float) -> str | None:
    """What links did after `begin` and until `end`."""
    times, reasons = drops
    within = Counter(reasons[bisect_right(times, begin) : bisect_right(times, end)])
    if within:
        return DROP_REASONS[within.most_common(1)[0][0]]
    return MARKS if bisect_right(marks, begin) < bisect_right(marks, end) else None
