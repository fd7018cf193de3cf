"""A ribbon of what limited each sender over time.

Window and pacing change with every acknowledgement, and both mean that the controller decides: they are one
colour. A part of the ribbon shows what held for most of it. There is none where only the controller decided.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from thalweg.judging.measures import LIMITS
from thalweg.pages.figures.downsample import changes
from thalweg.pages.figures.theme import LOOKS, hue

CONTROLLER = "controller"
COLOURS = {limit: hue(name) for limit, name in LOOKS["limits"].items()}
MEANINGS = {
    **{name: limit.meaning for name, limit in LIMITS.items()},
    CONTROLLER: "the congestion window is full, or the pacer makes the sender wait",
}
_SAMPLES = 8
"""Samples of each part; the commonest limit is shown."""
_LEAST = 0.1
"""What else limits for a smaller share of the time has no ribbon: each download awaits a last acknowledgement."""


def spans(flows: pl.DataFrame, end: float, buckets: int, calls: bool = False) -> pl.DataFrame:
    """Intervals in which one thing limits a sender: flow, limit, time_s, until_s.

    There are none where only its controller limits it, where its stack does not tell, and in a call
    (`calls`) that waits for its next frame.
    """
    told = flows.filter(pl.col("limited").cast(pl.String) != "") if "limited" in flows.columns else flows.clear()
    empty = pl.DataFrame(
        schema={"flow": pl.String, "limit": pl.String, "time_s": pl.Float64, "until_s": pl.Float64}
    )
    if told.is_empty():
        return empty
    parts = np.arange(buckets * _SAMPLES)
    grid = pl.DataFrame({"at": (parts + 0.5) * (end / len(parts)), "part": parts // _SAMPLES})
    found = [empty]
    for (flow,), rows in told.group_by("flow", maintain_order=True):
        limit = pl.col("limited").cast(pl.String).replace({"window": CONTROLLER, "pacing": CONTROLLER})
        own = rows.select(pl.col("time_s").alias("at"), limit=limit).sort("at")
        last = float(own["at"].to_numpy().max())
        sampled = grid.join_asof(own, on="at").drop_nulls("limit").filter(pl.col("at") <= last)
        usual = [CONTROLLER, "handshake"] + (["application"] if calls else [])
        rest = sampled.filter(~pl.col("limit").is_in(usual))
        if rest.height < _LEAST * sampled.height or rest.is_empty():
            continue
        commonest = sampled.group_by("part", maintain_order=True).agg(pl.col("limit").mode().sort().first())
        parted = commonest.with_columns(time_s=pl.col("part") * (end / buckets), flow=pl.lit(str(flow)))
        steps = changes(parted, "limit", ["flow"])
        spans = steps.select("flow", "limit", "time_s", until_s=pl.col("time_s").shift(-1).fill_null(last))
        found.append(spans.filter(pl.col("until_s") > pl.col("time_s")))
    return pl.concat(found)
