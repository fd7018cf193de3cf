"""What hosts change: the same downloads between ideal hosts and between Linux ones (docs/evidence/hosts.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from pages.made import DOCS, fill, made, row
from thalweg import Scenario

PAGE = DOCS / "evidence" / "hosts.md"
TRIALS = 10
CONTROLLERS = ("cubic", "reno", "bbr", "bbr1", "c4", "prague")
HEAD = ("path", "controller", "ideal: rate", "lost", "queue", "Linux: rate", "lost", "queue", "change")
IDEAL, LINUX = '"ideal"', '"linux"'
Line = tuple[str, str, str]
"""Rate and round-trip time of a path, and its further lines."""
PATHS: dict[str, Line] = {
    "100 Mbps, 20 ms, 1 BDP": ("100 Mbps", "20 ms", 'buffer = "1 bdp"'),
    "100 Mbps, 10 ms, 21 packets": ("100 Mbps", "10 ms", 'buffer = "21 packets"'),
    "the same, bundles whole": ("100 Mbps", "10 ms", 'buffer = "21 packets"\nsplits = false'),
    "50 Mbps, 200 ms, 1 BDP": ("50 Mbps", "200 ms", 'buffer = "1 bdp"'),
    "20 Mbps, 40 ms, 1 % of loss": ("20 Mbps", "40 ms", 'buffer = "1 bdp"\nloss = "1 %"'),
    "30 Mbps, 40 ms, Wi-Fi jitter of 7 ms": (
        "30 Mbps",
        "40 ms",
        'buffer = "100 ms"\njitter = { model = "wifi", mean = "7 ms" }',
    ),
    "100 Mbps, 20 ms, DualPI2": ("100 Mbps", "20 ms", 'buffer = "250 ms"\nqueue = "dualpi2"'),
    "1 Gbps, 5 ms, 1 BDP": ("1 Gbps", "5 ms", 'buffer = "1 bdp"'),
}
TIME = "10 s"
"""The length of a trial; a download does not end before."""


def scenario(path: Line, controller: str, host: str) -> Scenario:
    """One download, which the end of the trial cuts off."""
    rate, rtt, lines = path
    text = f"""title = "One download"
time_limit = "{TIME}"
[path]
rate = "{rate}"
rtt = "{rtt}"
{lines}
[[flow]]
name = "main"
controller = "{controller}"
host = {host}
download = "2 GB"
"""
    return Scenario.from_toml(text, "hosts")


def changed(name: str, controller: str) -> list[str]:
    """A line of the table of hosts."""
    cells, rates = [], []
    for host in (IDEAL, LINUX):
        flows = scenario(PATHS[name], controller, host).trials(TRIALS).flows
        rates.append(float(np.median(flows["mean_rate_bps"])) / 1e6)
        lost = float(np.median(flows["packets_lost"] / flows["packets_sent"]))
        delay = float(np.median(flows["mean_queue_delay_s"])) * 1e3
        cells += [f"{rates[-1]:.3g} Mbps", f"{100 * lost:.2g} %", f"{delay:.2g} ms"]
    return [row(name, f"`{controller}`", *cells, f"{100 * (rates[1] / rates[0] - 1):+.1f} %")]


def parts() -> list[tuple[str, Callable[[], Iterable[str]]]]:
    """All lines."""
    return [
        (f"{name}, {controller}", partial(changed, name, controller))
        for name in PATHS
        for controller in CONTROLLERS
    ]


def make() -> None:
    """Measures all lines, and fills the page."""
    lines = [line for _, measure in parts() for line in measure()]
    head = [row(*HEAD), row(*[":--"] * 2, *["--:"] * 7)]
    fill(PAGE, "hosts", "\n".join([*head, *lines, "", made("hosts")]))
