"""What is left of the window after two seconds in which nothing was delivered."""

from __future__ import annotations

import shlex

import polars as pl

from pages.league.contestants import FAMILIES, Contestant
from pages.league.rows import LAWS, Row
from pages.made import ROOT, row

SCENARIO = Row(str((LAWS / "outage.toml").relative_to(ROOT)), lambda _: "")
_SILENT_S = 0.345
"""The last acknowledgement has come: a round trip after the last packet that arrived."""


def table() -> str:
    """The table."""
    header = row("stack", "controller", "window before", "least window after", "replay")
    return "\n".join([header, "|:--|:--|--:|--:|:--|", *map(line, contestants())])


def contestants() -> list[Contestant]:
    """Who is in the table: not smoltcp, which tells no window."""
    return [one for family in ("CUBIC", "Reno") for one in FAMILIES[family] if one.stack != "smoltcp"]


def line(contestant: Contestant) -> str:
    """The line of a contestant."""
    trace = SCENARIO.scenario_of(contestant).run(1, trace=True).trace
    assert trace is not None
    flow = trace.flows.filter(pl.col("flow") == "main")
    before = int(flow.filter(pl.col("time_s") < _SILENT_S)["window_bytes"][-1])
    least = int(flow.filter(pl.col("time_s") > _SILENT_S)["window_bytes"].to_numpy().min())
    words = ["thalweg", "run", SCENARIO.scenario, *contestant.options(("main",)), "--plot", "outage.svg"]
    return row(contestant.title, contestant.controller, f"{before} B", f"{least} B", f"`{shlex.join(words)}`")
