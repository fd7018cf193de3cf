"""How fast windows grow at the start of a flow (docs/evidence/experiments/first-growth.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import polars as pl

import thalweg
from pages.experiments.experiment import HERE, TRIALS, Claim, Numbers, Part, Table, median, write
from pages.made import row

LOSS_BASED = ("reno:start=classic", "cubic:start=classic", "reno", "cubic")
CONTROLLERS = (*LOSS_BASED, "bbr1", "bbr", "c4")
BUFFERS = ("40 packets", "100 packets")
PACINGS = ("true", "false")
RTT_S = 0.05
ROUNDS = (2, 4, 6, 8)
"""Round trips after the first packet of data."""
FULL = 0.9


@dataclass(frozen=True)
class Start:
    """What each trial shows."""

    windows: dict[int, Numbers]
    """Window over the initial one, by round trips since the first data."""
    full_s: Numbers
    """When 90 % of the link are delivered for a quarter of a second; since the first data."""
    lost: Numbers
    """Packets dropped in the first two seconds."""


@cache
def measure(controller: str, buffer: str, pacing: str) -> Start:
    """Plays the trials."""
    scenario = thalweg.Scenario.load(
        str(HERE / "first-growth.toml"),
        overrides={"path.buffer": buffer, "transport.pacing": pacing},
        controllers={"main": controller},
    )
    trials = [_trial(scenario, seed) for seed in range(1, TRIALS + 1)]
    windows = {n: np.array([trial[0][n] for trial in trials]) for n in ROUNDS}
    return Start(windows, *(np.array([trial[i] for trial in trials]) for i in (1, 2)))


def _trial(scenario: thalweg.Scenario, seed: int) -> tuple[dict[int, float], float, float]:
    trace = scenario.run(seed=seed, trace=True).trace
    assert trace is not None
    samples = trace.flows
    began = float(samples.filter(pl.col("in_flight_bytes") > 5_000)["time_s"][0])
    initial = float(samples["window_bytes"][0])
    windows = {
        n: float(samples.filter(pl.col("time_s") <= began + n * RTT_S)["window_bytes"][-1]) / initial
        for n in ROUNDS
    }
    times, delivered = samples["time_s"].to_numpy(), samples["delivered_bytes"].to_numpy()
    ends = np.arange(began + 0.25, 10, 0.01)
    moved = np.interp(ends, times, delivered) - np.interp(ends - 0.25, times, delivered)
    # 12 Mbps carry packets of 1440 B as 1468 B.
    is_full = 8 * moved / 0.25 >= FULL * 12e6 * 1440 / 1468
    full = float(ends[is_full.argmax()]) - began if is_full.any() else np.inf
    lost = trace.drops.filter(pl.col("time_s") < began + 2).height
    return windows, full, float(lost)


def line(controller: str, buffer: str, pacing: str) -> str:
    """A line of the table."""
    found = measure(controller, buffer, pacing)
    grown = (median(found.windows[n], "{:.1f}") for n in ROUNDS)
    paced = "as usual" if pacing == "true" else "only by the controller"
    return row(
        controller, buffer, paced, *grown, median(1e3 * found.full_s, "{:.0f}"), median(found.lost, "{:.0f}")
    )


HEAD = (
    "controller",
    "buffer",
    "paced",
    *(f"window after {n} round trips, over the first" for n in ROUNDS),
    "link full after, ms",
    "drops in 2 s",
)


def parts() -> list[Part]:
    """All lines."""
    return [
        (f"{c}, {buffer}, pacing {pacing}", partial(line, c, buffer, pacing))
        for buffer in BUFFERS
        for pacing in PACINGS
        for c in CONTROLLERS
        if pacing == "true" or c in LOSS_BASED
    ]


def claims() -> Sequence[Claim]:
    """Loss-based windows grow faster than BBR's, in the small buffer."""
    compared = (("reno", "true"), ("cubic", "true"), *((c, "false") for c in LOSS_BASED[:2]))
    return [
        Claim(
            f"{c}{'' if pacing == 'true' else ', unpaced,'} grows faster than {other} in {n} round trips",
            measure(c, BUFFERS[0], pacing).windows[n] / measure(other, BUFFERS[0], "true").windows[n],
            1,
            "{:.2f}",
        )
        for c, pacing in compared
        for other in ("bbr1", "bbr")
        for n in (4, 6)
    ]


def make() -> None:
    """Writes the page."""
    write("first-growth", [Table("measured", HEAD, 3, parts())], claims)
