"""A sender that is busy, quiet and busy again: which rate it keeps, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import polars as pl

import thalweg
from pages.experiments.experiment import HERE, TRIALS, Claim, Numbers, Part, Table, median, write
from pages.made import row

CONTROLLERS = ("c4", "bbr", "bbr1", "cubic", "reno", "prague")
RATES = ("20 Mbps", "5 Mbps", "80 Mbps")
"""Rates of the link after the quiet time; 20 Mbps before."""
RTT_S = 0.04
CHUNK_BYTES = 2_500_000


@dataclass(frozen=True)
class Restart:
    """What each trial shows."""

    kept: Numbers
    """The rate at which the sender may send when it becomes busy again, over the rate of the link before."""
    first: Numbers
    """How long the first chunk takes, over the least possible time."""
    second: Numbers
    """The same of the chunk after the quiet time."""
    lost: Numbers
    """Packets that the link drops of the second chunk."""


@cache
def measure(controller: str, rate: str) -> Restart:
    """Plays the trials."""
    scenario = thalweg.Scenario.load(
        str(HERE / "stop-and-go.toml"), overrides={"path.change.0.rate": rate}, controllers={"main": controller}
    )
    trials = [_trial(scenario, seed, float(rate.split(maxsplit=1)[0]) * 1e6) for seed in range(1, TRIALS + 1)]
    return Restart(*(np.array(numbers) for numbers in zip(*trials, strict=True)))


def _trial(scenario: thalweg.Scenario, seed: int, rate_bps: float) -> tuple[float, float, float, float]:
    trace = scenario.run(seed=seed, trace=True).trace
    assert trace is not None
    frames = trace.frames
    due = float(frames["time_s"][10])
    before = trace.flows.filter(pl.col("time_s") < due).tail(1).to_dicts()[0]
    pacing = before["pacing_bps"] or np.inf
    kept = min(pacing, 8 * before["window_bytes"] / before["smoothed_rtt_s"]) / 20e6
    lost = trace.drops.filter(pl.col("time_s") >= due).height
    return kept, _ratio(frames["delay_s"][0], 20e6), _ratio(frames["delay_s"][10], rate_bps), float(lost)


def _ratio(delay_s: float | None, rate_bps: float) -> float:
    return np.inf if delay_s is None else delay_s / (8 * CHUNK_BYTES / rate_bps + RTT_S / 2)


def line(controller: str, rate: str) -> str:
    """A line of the table."""
    found = measure(controller, rate)
    return row(
        controller,
        rate,
        median(100 * found.kept, "{:.0f} %"),
        median(found.first, "{:.2f}"),
        median(found.second, "{:.2f}"),
        median(found.lost, "{:.0f}"),
    )


HEAD = ("controller", "link afterwards", "rate kept", "first chunk", "second chunk", "its drops")


def parts() -> list[Part]:
    """All lines."""
    return [(f"{c} before {rate}", partial(line, c, rate)) for rate in RATES for c in CONTROLLERS]


def claims() -> Sequence[Claim]:
    """C4 keeps its rate, and restarts on the link as it was faster than it started."""
    kept = [
        Claim(f"{c} keeps at least 90 % of the rate", 100 * measure(c, RATES[0]).kept, 90, "{:.0f} %")
        for c in CONTROLLERS
    ]
    faster = [
        Claim(
            f"{c}: the second chunk is faster than the first",
            measure(c, RATES[0]).second / measure(c, RATES[0]).first,
            1,
            "{:.3f}",
            is_above=False,
        )
        for c in CONTROLLERS
    ]
    more = [
        Claim(
            f"{c}: more drops where the link has become slower",
            measure(c, RATES[1]).lost - measure(c, RATES[0]).lost,
            0,
            "{:.0f}",
        )
        for c in CONTROLLERS
    ]
    return [*kept, *faster, *more]


def make() -> None:
    """Writes the page."""
    write("stop-and-go", [Table("measured", HEAD, 2, parts())], claims)
