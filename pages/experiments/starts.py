"""Rows of the fidelity page over phases and starts in place of one (docs/evidence/experiments/starts.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import polars as pl

import thalweg
from pages.experiments.experiment import Numbers, Part, Table
from pages.made import DOCS, ROOT, fill, made, row

PAGE = DOCS / "evidence" / "experiments" / "starts.md"
TRIALS = 5
"""Trials of each start."""
PEERS_SETTINGS = {"transport.mtu_fallback": "true", "noise.handshake": "0 B"}
"""As on the fidelity page."""
SHOWN = "{:.3f} s"


@dataclass(frozen=True)
class Sweep:
    """A scenario whose flow starts at several times."""

    name: str
    scenario: str
    flow: str
    """Which flow starts later; the time of the main one is shown, from its own start on."""
    starts_ms: range
    others: tuple[str, str] | None = None
    """Flow and controller next to the main one."""


EARLY = Sweep("wifi-suspension, two suspensions", "c4/wifi-suspension", "main", range(0, 1201, 100))
LATE = Sweep("wifi-suspension, three suspensions", "c4/wifi-suspension", "main", range(1300, 1800, 100))
STARTS_OF_CUBIC = range(900, 1101, 20)
CUBIC = ("background", "cubic:variant=picoquic")
LAST = Sweep(
    "cubic-long-background-last", "c4/cubic-long-background-last", "background", range(900, 1101, 20), CUBIC
)
CONTROLLERS = ("c4:variant=draft-04", "c4")


@cache
def times(sweep: Sweep, controller: str) -> Numbers:
    """The median completion time at each start, in seconds."""
    phase = {"noise.phase": "0 s"} if sweep.flow == "main" else {}
    found = []
    for start in sweep.starts_ms:
        scenario = thalweg.Scenario.load(
            sweep.scenario,
            overrides={**PEERS_SETTINGS, **phase, f"flow.{sweep.flow}.start": f"{start} ms"},
            controllers=dict([("main", controller), *([sweep.others] if sweep.others else [])]),
        )
        flows = scenario.trials(TRIALS).flows.filter(pl.col("flow") == "main")
        since = start / 1000 if sweep.flow == "main" else 0.0
        found.append(float(np.median(flows["completion_s"].to_numpy())) - since)
    return np.array(found)


def peer(sweep: Sweep, controller: str) -> str:
    """The median of the peer, at the start that it was measured with; `-` where there are no numbers of it."""
    if sweep is not EARLY:
        return "-"
    stored = ROOT / "tests" / "reference"
    if controller == "c4":
        medians = pl.read_csv(stored / "c4_05_peer.csv")
        median = medians.filter(test="wifi_suspension", main="c4")["time_median_us"].item()
        return SHOWN.format(median / 1e6)
    trials = pl.read_csv(stored / "peer_trials.csv")
    found = trials.filter(pl.col("spec") == "c4_wifi_suspension", pl.col("metric") == "completion_s")
    return SHOWN.format(found["median"].item())


def line(sweep: Sweep, controller: str) -> str:
    """A line of the table."""
    found = times(sweep, controller)
    first, last = sweep.starts_ms[0], sweep.starts_ms[-1]
    shown = [SHOWN.format(value) for value in (found.min(), float(np.median(found)), found.max())]
    share = f"{100 * (found.max() / found.min() - 1):.1f} %"
    starts = f"{first / 1000:g} to {last / 1000:g} s, {len(sweep.starts_ms)}"
    return row(sweep.name, controller, starts, peer(sweep, controller), *shown, share)


LINES = [(f"{s.name}, {c}", partial(line, s, c)) for s in (EARLY, LATE, LAST) for c in CONTROLLERS]
HEAD = ("test", "C4", "starts, how many", "the peer, at 0 s", "least", "median", "most", "range")
SWEPT = Table("starts", HEAD, 3, LINES)


def parts() -> Sequence[Part]:
    """All lines."""
    return LINES


def make() -> None:
    """Writes the page."""
    fill(PAGE, SWEPT.mark, f"{SWEPT.text()}\n\n{made('starts')}")
