"""Gaps in the arrival of packets, and what each controller makes of them (docs/evidence/experiments/gaps.md)."""

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
GAPS_MS = (50, 100, 200, 400, 1000)
GAP_AT_S = 4.0
FULL = 0.9


@dataclass(frozen=True)
class Gap:
    """What each trial shows."""

    window: Numbers
    """The least window in the second after the gap, over the window before it."""
    second: Numbers
    """Share of the link in the second after the gap, over the share in the second before it."""
    full_s: Numbers
    """How long after the gap 90 % of the link are delivered in a quarter of a second, since its end."""
    lost: Numbers
    spurious: Numbers
    timeouts: Numbers


@cache
def measure(controller: str, gap_ms: int) -> Gap:
    """Plays the trials, to the gap and beyond. They are the same up to it, so that counts may be subtracted."""
    end = GAP_AT_S + gap_ms / 1e3

    def scenario(time_limit: str) -> thalweg.Scenario:
        overrides = {"path.change.1.at": f"{end} s", "time_limit": time_limit}
        return thalweg.Scenario.load(
            str(HERE / "gaps.toml"), overrides=overrides, controllers={"main": controller}
        )

    before, after = (scenario(limit).trials(TRIALS).flows for limit in (f"{GAP_AT_S} s", f"{end + 1} s"))
    counts = (
        after[column].to_numpy() - before[column].to_numpy()
        for column in ("packets_lost", "spurious_losses", "timeouts")
    )
    trials = [_trial(scenario("12 s"), seed, end) for seed in range(1, TRIALS + 1)]
    return Gap(*(np.array(numbers) for numbers in zip(*trials, strict=True)), *counts)


def _trial(scenario: thalweg.Scenario, seed: int, end: float) -> tuple[float, float, float]:
    trace = scenario.run(seed=seed, trace=True).trace
    assert trace is not None
    samples = trace.flows
    before = float(samples.filter(pl.col("time_s") <= GAP_AT_S)["window_bytes"][-1])
    least = float(samples.filter(pl.col("time_s").is_between(end, end + 1))["window_bytes"].to_numpy().min())
    links = trace.links.filter(pl.col("link") == "down")
    times, delivered = links["time_s"].to_numpy(), links["delivered_bytes"].to_numpy()

    def moved(begin: Numbers, length: float) -> Numbers:
        found: Numbers = np.interp(begin + length, times, delivered) - np.interp(begin, times, delivered)
        return found

    second, usual = moved(np.array([end, GAP_AT_S - 1]), 1)
    begins = np.arange(end, 11.5, 0.01)
    is_full = 8 * moved(begins, 0.25) / 0.25 >= FULL * 20e6
    full = float(begins[is_full.argmax()]) - end if is_full.any() else np.inf
    return least / before, float(second / usual), full


def line(controller: str, gap_ms: int) -> str:
    """A line of the table."""
    found = measure(controller, gap_ms)
    return row(
        controller,
        f"{gap_ms} ms",
        median(100 * found.window, "{:.0f} %"),
        median(100 * found.second, "{:.0f} %"),
        median(1e3 * found.full_s, "{:.0f}"),
        median(found.lost, "{:.0f}"),
        median(found.spurious, "{:.0f}"),
        median(found.timeouts, "{:.0f}"),
    )


HEAD = (
    "controller",
    "gap",
    "least window",
    "rate of the next second",
    "link full after, ms",
    "declared lost",
    "of these spurious",
    "probe timeouts",
)


def parts() -> list[Part]:
    """All lines."""
    return [(f"{c}, {gap} ms", partial(line, c, gap)) for gap in GAPS_MS for c in CONTROLLERS]


def claims() -> Sequence[Claim]:
    """A gap of 200 ms costs each controller something else."""
    gap_ms = 200
    shown = "{:.0f} %"
    seconds = [
        Claim(f"{c} has 90 % of its rate in the next second", 100 * measure(c, gap_ms).second, 90, shown)
        for c in CONTROLLERS
    ]
    windows = [
        Claim(f"{c} keeps half of its window", 100 * measure(c, gap_ms).window, 50, shown) for c in CONTROLLERS
    ]
    timeouts = [
        Claim(f"{c} has a probe timeout", measure(c, gap_ms).timeouts.astype(float), 0, "{:.0f}")
        for c in CONTROLLERS
    ]
    return [*seconds, *windows, *timeouts]


def make() -> None:
    """Writes the page."""
    write("gaps", [Table("measured", HEAD, 2, parts())], claims)
