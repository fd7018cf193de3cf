"""The falls of a congestion window in a trace, each with its cause by the truth of the links.

A fall is one by a twentieth or more between two samples; falls within a round trip are one. Its cause is what the
links did to packets of the connection since two round trips before, or since the sender began to wait for a probe
timeout: where several did something, what dropped most. Where no link did anything it is the probe timeout, or the
choice of the controller: by its design, or for packets that it took for lost and that arrived.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import polars as pl

from thalweg.engine.trace import Trace

LEAST = 0.05
"""A fall by a smaller share of the window does not count."""
CAUSES = {
    "queue": "a full queue",
    "aqm": "drops of active queue management",
    "policer": "a policer",
    "loss": "random loss",
    "shrunk": "a buffer that shrank",
    "flushed": "a buffer that was emptied",
}
"""Reasons of drops in words."""
MARKS = "marks"
TIMEOUT = "a probe timeout"
NO_LOSS = "no loss"
_LOOK_BACK = 2
"""Round trips before a fall in which its cause is looked for."""


@dataclass(frozen=True)
class Series:
    """What a trace has of one flow, which may be several connections."""

    trace: Trace
    flow: str

    def _own(self, table: pl.DataFrame) -> pl.DataFrame:
        name = pl.col("flow").cast(pl.String)
        return table.filter((name == self.flow) | name.str.starts_with(f"{self.flow}/"))

    @property
    def samples(self) -> pl.DataFrame:
        """The samples of its senders, each under its own name."""
        return self._own(self.trace.flows)

    def dropped(self, sender: str) -> pl.DataFrame:
        """When links dropped packets of a sender; of one end of a call, packets of the call."""
        drops = self._own(self.trace.drops).filter(pl.col("reason").is_in(list(CAUSES)))
        own = drops.filter(pl.col("flow").cast(pl.String) == sender)
        return drops if own.is_empty() and sender.endswith(("/client", "/server")) else own

    @property
    def reasons(self) -> Counter[str]:
        """How many packets of the flow links dropped, by reason."""
        return Counter(self._own(self.trace.drops)["reason"].cast(pl.String).to_list())


def cuts(series: Series, marked: bool) -> Counter[str]:
    """How many falls the windows of a flow had, by cause in words; `marked`: links marked packets of it."""
    marks = _marks(series.trace) if marked else _marks(series.trace).clear()
    found: Counter[str] = Counter()
    for (sender,), samples in series.samples.group_by("flow", maintain_order=True):
        found += _of_sender(samples, series.dropped(str(sender)), marks)
    return found


def _of_sender(samples: pl.DataFrame, dropped: pl.DataFrame, marks: pl.DataFrame) -> Counter[str]:
    found: Counter[str] = Counter()
    before, last, waiting = 0.0, -math.inf, math.inf
    columns = ("time_s", "window_bytes", "smoothed_rtt_s", "limited")
    for time, window, rtt, limited in samples.filter(pl.col("window_bytes") > 0).select(columns).iter_rows():
        span = rtt if rtt and math.isfinite(rtt) else 0.0
        if before and window < (1 - LEAST) * before and time - last > span:
            begin = min(time, waiting) - _LOOK_BACK * span
            found[_cause(dropped, marks, max(last, begin), time, is_timeout=waiting < math.inf)] += 1
            last = time
        before = window
        waiting = min(waiting, time) if limited == "stalled" else math.inf
    return found


def _cause(dropped: pl.DataFrame, marks: pl.DataFrame, begin: float, end: float, *, is_timeout: bool) -> str:
    within = (pl.col("time_s") > begin) & (pl.col("time_s") <= end)
    reasons = Counter(dropped.filter(within)["reason"].cast(pl.String).to_list())
    if reasons:
        return CAUSES[reasons.most_common(1)[0][0]]
    if marks.filter(within).height:
        return MARKS
    return TIMEOUT if is_timeout else NO_LOSS


def _marks(trace: Trace) -> pl.DataFrame:
    """When links marked packets."""
    marked = pl.col("marked_packets").cast(pl.Int64).diff().over("link").fill_null(0)
    return trace.links.select("time_s", marked=marked).filter(pl.col("marked") > 0)
