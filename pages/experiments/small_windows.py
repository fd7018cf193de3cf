"""Windows that are too small for the jitter of a path (docs/evidence/experiments/small-windows.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

import thalweg
from pages.experiments.experiment import HERE, TRIALS, Claim, Numbers, Part, Table, median, write
from pages.made import row

BDP_BYTES = 50_000
"""20 Mbps times 20 ms."""
WINDOWS = (1, 2, 4, 8)
"""In bandwidth-delay products."""
JITTERS = ("0 ms", "1 ms", "7 ms", "15 ms")
CONTROLLERS = ("c4", "bbr", "bbr1", "cubic", "reno", "prague")
SETTLED = 100
"""Bins of 50 ms before the measurement begins: 5 s."""


@dataclass(frozen=True)
class Flow:
    """What each trial shows."""

    stalled: Numbers
    """Share of the time, in bins of 50 ms, in which nothing is sent."""
    used: Numbers
    """Share of the link."""


@cache
def measure(controller: str, jitter: str) -> Flow:
    """Plays the trials."""
    model = "{ model = 'none' }" if jitter == "0 ms" else f"{{ model = 'wifi', mean = '{jitter}' }}"
    outcomes = thalweg.Scenario.load(
        str(HERE / "small-windows.toml"), overrides={"path.jitter": model}, controllers={"main": controller}
    ).trials(TRIALS)
    series = [outcomes.series(trial, "main") for trial in range(TRIALS)]
    stalled = [float((one.sent[SETTLED:] == 0).mean()) for one in series]
    used = [float(8 * one.received[SETTLED:].mean() / one.every_s / 20e6) for one in series]
    return Flow(np.array(stalled), np.array(used))


def constant(bdp: float) -> str:
    """A controller with this window."""
    return f"{HERE / 'window.py'}:Window:size={bdp * BDP_BYTES:.0f}"


def line(name: str, controller: str, jitter: str) -> str:
    """A line of the table."""
    found = measure(controller, jitter)
    return row(name, jitter, median(100 * found.stalled, "{:.1f} %"), median(100 * found.used, "{:.1f} %"))


HEAD = ("window", "mean jitter", "time without a packet", "link used")
WINDOW_LINES = [
    (f"{w} BDP at {jitter}", partial(line, f"{w} BDP", constant(w), jitter)) for jitter in JITTERS for w in WINDOWS
]
CONTROLLER_LINES = [(f"{c} at {jitter}", partial(line, c, c, jitter)) for jitter in JITTERS for c in CONTROLLERS]


def parts() -> list[Part]:
    """All lines."""
    return [*WINDOW_LINES, *CONTROLLER_LINES]


def claims() -> Sequence[Claim]:
    """Small windows stall under jitter, without it they do not, and large ones do not; C4 stalls least."""
    jitter = "7 ms"
    one, eight, still = measure(constant(1), jitter), measure(constant(8), jitter), measure(constant(1), "0 ms")
    claims = [
        Claim("jitter stalls a window of 1 BDP", 100 * (one.stalled - still.stalled), 1, "{:.1f} points"),
        Claim("of 8 BDP less than of 1", 100 * (one.stalled - eight.stalled), 1, "{:.1f} points"),
        Claim("a window of 1 BDP loses link", 100 * (still.used - one.used), 5, "{:.1f} points"),
    ]
    c4 = measure("c4", jitter)
    return claims + [
        Claim(f"C4 stalls less than {c}", 100 * (measure(c, jitter).stalled - c4.stalled), 0, "{:.1f} points")
        for c in CONTROLLERS[1:]
    ]


def make() -> None:
    """Writes the page."""
    controllers = ("controller", *HEAD[1:])
    write(
        "small-windows",
        [Table("windows", HEAD, 2, WINDOW_LINES), Table("controllers", controllers, 2, CONTROLLER_LINES)],
        claims,
    )
