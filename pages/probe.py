"""Early end of CUBIC's slow start by jitter, and its repairs: the table and the figure of docs/how-to/probe.md.

One download of 10 MB at 50 Mbps and 40 ms, alone; the path holds 250 kB and its buffer 500 kB. Whatever ends slow
start below 250 kB ends it too early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import altair as alt
import numpy as np
import polars as pl

import thalweg
from pages.made import DOCS, fill, made, row
from thalweg.engine.outcome import Trial
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.downsample import downsample
from thalweg.pages.figures.theme import CONFIG, SERIES, WIDTH

TRIALS = 20
CONTROLLERS = {
    "cubic": "HyStart++",
    "cubic:start=classic": "only loss",
    "cubic:variant=picoquic": "filtered delay, repair",
}
WIFI = '{ model = "wifi", mean = "7 ms" }'
PATHS: dict[str, dict[str, str]] = {
    "no jitter": {},
    "7 ms, in order": {"path.jitter": WIFI},
    "7 ms, reordering": {"path.jitter": WIFI, "path.reorder": "true"},
}


@dataclass(frozen=True)
class SlowStart:
    """The slow start of one trial."""

    first_exit_bytes: float
    """The window when a state other than slow start was first entered."""
    returns: int
    """How often slow start was entered again."""
    completion_s: float


def play(path: str, controller: str, seed: int) -> Trial:
    """One trial, with its trace."""
    scenario = thalweg.Scenario.load(
        DOCS / "how-to" / "probe" / "slow-start.toml", PATHS[path], {"main": controller}
    )
    return scenario.run(seed, trace=True)


def slow_start(trial: Trial) -> SlowStart:
    """The slow start in a trace."""
    assert trial.trace is not None
    states = trial.trace.flows["state"].to_list()
    windows = trial.trace.flows["window_bytes"].to_list()
    first = next((at for at, state in enumerate(states) if state != "slow start"), len(states) - 1)
    returns = sum(before != after == "slow start" for before, after in pairwise(states))
    return SlowStart(float(max(windows[: first + 1])), returns, float(trial.flows["completion_s"][0]))


def line(path: str, controller: str) -> str:
    """A line of the table: medians of the trials, with the 5th and the 95th percentile."""
    found = [slow_start(play(path, controller, seed)) for seed in range(1, TRIALS + 1)]
    window = np.percentile([run.first_exit_bytes / 1e3 for run in found], [50, 5, 95])
    done = np.percentile([run.completion_s for run in found], [50, 5, 95])
    returns = np.median([run.returns for run in found])
    return row(
        path,
        f"`{controller}`",
        CONTROLLERS[controller],
        f"{window[0]:.0f} ({window[1]:.0f} to {window[2]:.0f})",
        f"{returns:g}",
        f"{done[0]:.2f} ({done[1]:.2f} to {done[2]:.2f})",
    )


def parts() -> list[tuple[str, Callable[[], str]]]:
    """All lines, by what they are about."""
    return [
        (f"{controller}, {path}", partial(line, path, controller)) for path in PATHS for controller in CONTROLLERS
    ]


def figure(seed: int) -> alt.VConcatChart:
    """Windows over time, a panel for each path."""
    panels = []
    colours = alt.Scale(domain=list(CONTROLLERS), range=SERIES[: len(CONTROLLERS)])
    for path in PATHS:
        parts = []
        for controller in CONTROLLERS:
            trace = play(path, controller, seed).trace
            assert trace is not None
            thin = downsample(trace.flows, "window_bytes", [], 250)
            kilobytes = (pl.col("window_bytes") / 1e3).alias("kB")
            parts.append(thin.select("time_s", kilobytes, pl.lit(controller).alias("label")))
        panels.append(
            alt.Chart(rows(pl.concat(parts)), width=WIDTH, height=130, title=path)
            .mark_line(interpolate="step-after", strokeWidth=1.4, clip=True)
            .encode(
                x=alt.X(
                    "time_s:Q",
                    title="time (s)",
                    scale=alt.Scale(domain=[0, 8], nice=False),
                    axis=alt.Axis(tickCount=8),
                ),
                y=alt.Y(
                    "kB:Q",
                    title="window (kB)",
                    scale=alt.Scale(type="log", domain=[2, 10_000]),
                    axis=alt.Axis(values=[10, 100, 1000]),
                ),
                color=alt.Color("label:N", title=None, scale=colours),
            )
        )
    chart: alt.VConcatChart = alt.vconcat(*panels)
    styled: alt.VConcatChart = chart.configure(**CONFIG)
    return styled


def make() -> None:
    """Measures the table and draws the figure."""
    head = (
        "| jitter | controller | end of slow start by | window at its first end, kB | returns | completion, s |\n"
        "| :-- | :-- | :-- | --: | --: | --: |"
    )
    lines = [head, *(measure() for _, measure in parts()), "", made("probe")]
    fill(DOCS / "how-to" / "probe.md", "slow start", "\n".join(lines))
    figure(4).save(str(DOCS / "images" / "probe" / "slow-start.png"), scale_factor=1)
