"""Measures the tables of docs/l4s.md, prints them, and draws its figure.

    .venv/bin/python docs/l4s.py [TRIALS]

The scenarios are in docs/l4s.
"""

from __future__ import annotations

import sys
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import thalweg
from thalweg.plots.output import save
from thalweg.plots.theme import BLUE, CONFIG, GREEN, VERMILION

DOCS = Path(__file__).resolve().parent
SCENARIOS = DOCS / "l4s"
CONTROLLERS = ("prague", "cubic", "c4")
QUEUES = ("dualpi2", "codel", "fq-codel")
PAIRS = (
    ("prague", "cubic"),
    ("c4", "cubic"),
    ("prague", "prague"),
    ("cubic", "cubic"),
    ("c4", "c4"),
    ("prague:classic_fallback=on", "cubic"),
    ("prague:classic_fallback=on,loss=cubic", "cubic"),
)


def scenario(name: str, queue: str, **controllers: str) -> thalweg.Scenario:
    """A scenario with another queue and other controllers."""
    return thalweg.Scenario.load(
        str(SCENARIOS / f"{name}.toml"), overrides={"path.queue.model": queue}, controllers=controllers
    )


def one_flow(trials: int) -> None:
    """The table of single flows."""
    print("| queue | controller | utilisation | mean queue delay, ms | marked | dropped |")
    print("|---|---|--:|--:|--:|--:|")
    for queue in QUEUES:
        for controller in CONTROLLERS:
            outcomes = scenario("one-flow", queue, main=controller).trials(trials)
            link = outcomes.links.filter(pl.col("link") == "down")
            waited = outcomes.flows["mean_queue_delay_s"].mean()
            marked = 100 * link["marked_packets"].sum() / link["delivered_packets"].sum()
            print(
                f"| {queue} | {controller} | {100 * link['utilisation'].mean():.1f} % | {1e3 * waited:.1f}"
                f" | {marked:.2f} % | {link['dropped_packets'].mean():.0f} |",
            )


def two_flows(trials: int) -> None:
    """The table of pairs, the first flow 5 s ahead."""
    print("\n| queue | first | second | share of the first | queue delay of the first, ms | of the second |")
    print("|---|---|---|--:|--:|--:|")
    for queue in QUEUES:
        for first, second in PAIRS:
            outcomes = scenario("two-flows", queue, first=first, second=second).trials(trials)
            by_name = {name: outcomes.flows.filter(pl.col("flow") == name) for name in ("first", "second")}
            waits = [f"{1e3 * flow['mean_queue_delay_s'].mean():.1f}" for flow in by_name.values()]
            share = by_name["first"]["share"].mean()
            print(f"| {queue} | {first} | {second} | {100 * share:.0f} % | {' | '.join(waits)} |")


def queue_delay(name: str, queue: str, controller: str, span_s: tuple[float, float], bin_s: float) -> pl.DataFrame:
    """Queue delay of the bottleneck over time, in bins."""
    controllers = {flow["name"]: controller for flow in scenario(name, queue).flows}
    trace = scenario(name, queue, **controllers).run(seed=1, trace=True).trace
    down = trace.links.filter((pl.col("link") == "down") & pl.col("time_s").is_between(*span_s))
    bins = (down["time_s"].to_numpy() // bin_s) * bin_s
    return (
        pl.DataFrame({"time_s": bins, "delay_ms": 1e3 * down["queue_delay_s"].to_numpy()})
        .group_by("time_s")
        .mean()
        .sort("time_s")
        .with_columns(pl.lit(controller).alias("controller"))
    )


def panel(title: str, data: pl.DataFrame, scale: alt.Scale) -> alt.Chart:
    """One panel of the figure."""
    colour = alt.Scale(domain=list(CONTROLLERS), range=[BLUE, GREEN, VERMILION])
    return (
        alt.Chart(alt.Data(values=data.to_dicts()), title=title, width=380, height=240)
        .mark_line(strokeWidth=1.4)
        .encode(
            x=alt.X("time_s:Q", title="time (s)", scale=alt.Scale(nice=False)),
            y=alt.Y("delay_ms:Q", title="queue delay (ms)", scale=scale),
            color=alt.Color("controller:N", title=None, scale=colour),
        )
    )


def figure() -> None:
    """Queue delay over time: one flow over DualPI2, two flows behind CoDel."""
    alone = pl.concat([queue_delay("one-flow", "dualpi2", name, (10, 14), 0.02) for name in CONTROLLERS])
    twins = pl.concat([queue_delay("two-flows", "codel", name, (0, 60), 0.25) for name in CONTROLLERS])
    twins = twins.with_columns(pl.col("delay_ms").clip(lower_bound=0.1))
    left = panel("One flow over DualPI2", alone, alt.Scale())
    log = alt.Scale(type="log", domain=[0.1, float(np.ceil(twins["delay_ms"].max()))])
    right = panel("Two flows of one controller behind CoDel, the second from 5 s", twins, log)
    save(alt.hconcat(left, right).resolve_scale(color="shared").configure(**CONFIG), DOCS / "images" / "l4s.svg")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    one_flow(count)
    two_flows(count)
    figure()
