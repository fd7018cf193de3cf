"""The states of controllers: how long each lasted, its colour, and what it means.

A state has one colour in all figures, and no two states share one. What a state means is said here in a few
words; the documents that define it are cited where the controller is.
"""

from __future__ import annotations

import polars as pl

from thalweg.plots.downsample import changes
from thalweg.plots.theme import GREY

_MOST_SPANS = 1500

STATES: dict[str, tuple[str, str]] = {
    "slow start": ("#a6d4f2", "the window grows by what is acknowledged: it doubles in a round trip"),
    "conservative slow start": ("#c2b0e6", "the delay has risen: the window grows at a quarter of the pace"),
    "congestion avoidance": ("#b9e0a5", "the window grows slowly until packets are lost or marked"),
    "avoidance": ("#9fd3a0", "the window grows slowly until packets are lost or marked"),
    "recovery": (
        "#f4a07e",
        "the window was reduced after a loss; it rests until what was sent then is acknowledged",
    ),
    "congestion window reduced": ("#e58fa0", "the window was reduced after marks; it rests for a round trip"),
    "Startup": ("#86b2e0", "the rate doubles in a round trip until more brings no more"),
    "Startup_RESUME": ("#6d9bd8", "starts at the rate that a connection before had"),
    "Startup_LONG_RTT": ("#7f8fd0", "starts on a path whose round trip is long, with a window that doubles"),
    "Drain": ("#e6cb94", "sends slowly until the queue that the start has left is empty"),
    "ProbeBW": ("#8fd6a8", "sends at the estimated bandwidth, a little more and a little less in turn"),
    "ProbeBW_DOWN": ("#d8e79a", "sends less than the estimated bandwidth, to empty the queue"),
    "ProbeBW_CRUISE": ("#a9e2c4", "sends at the estimated bandwidth"),
    "ProbeBW_REFILL": ("#7fcfc4", "fills the path before it tries for more"),
    "ProbeBW_UP": ("#f4b4d4", "sends more than the estimated bandwidth, to see whether there is more"),
    "ProbeRTT": ("#c9a27c", "sends little, to see the round-trip time without a queue"),
    "Initial": ("#5f93d6", "the start: the rate doubles in a round trip until more brings no more"),
    "Recovery": ("#f28f86", "sends less for an era, lets the queue drain, and judges what came before"),
    "Cruising": ("#9cdcb9", "sends at the estimated rate"),
    "Probing": ("#cfa9e6", "sends a little more than the estimated rate, to see whether there is more"),
    "Pushing": ("#fbbf78", "sends more than the estimated rate: goes for the capacity that a probe has found"),
    "Resuming": ("#79b8b0", "starts with the window that an earlier connection over the path had"),
    "Slowdown": ("#eadb7c", "sends less, to see the round-trip time without a queue"),
    "Checking": ("#bdbd74", "looks whether the slowdown has lowered the round-trip time"),
    "open": ("#c8eab8", "nothing is amiss"),
    "disorder": ("#f3eaa0", "packets may be missing"),
    "window reduced": ("#f6c9b0", "the window was reduced after marks"),
    "loss": ("#e8705f", "a timer has fired: the window restarts"),
}
"""Colour and meaning."""


def spans(flows: pl.DataFrame) -> pl.DataFrame:
    """Intervals in which a controller stays in one state: flow, state, time_s, until_s."""
    steps = changes(flows, "state", ["flow"]).select("time_s", "flow", "state")
    found = steps.with_columns(pl.col("time_s").shift(-1).over("flow").alias("until_s"))
    return found.filter(pl.col("until_s").is_not_null() & (pl.col("until_s") > pl.col("time_s"))).head(_MOST_SPANS)


def colours(names: list[str]) -> list[str]:
    """The colour of each state; states without a description are grey."""
    return [STATES[name][0] if name in STATES else GREY for name in names]


def meanings(names: list[str]) -> dict[str, str]:
    """The descriptions of those states that have one."""
    return {name: STATES[name][1] for name in names if name in STATES}
