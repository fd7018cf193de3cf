"""What hosts change: the same downloads between ideal hosts and between Linux ones, and beside the kernel's TCP.

The kernel's half was measured once in real time and is kept in tables/live_tables.toml; the model's is measured
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pages.made import DOCS, fill, made, row
from pages.tables import live_tables
from thalweg import Scenario

PAGE = DOCS / "evidence" / "hosts.md"
TRIALS = 10
CONTROLLERS = ("cubic", "reno", "bbr", "bbr1", "c4", "prague")
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
"""Of a trial on these paths; a download does not end before."""
KERNEL: dict[str, tuple[Line, str]] = {
    "20 Mbps, 80 ms, 1 BDP": (("20 Mbps", "80 ms", 'buffer = "1 bdp"'), "10 MB"),
    "100 Mbps, 10 ms, 21 packets": (("100 Mbps", "10 ms", 'buffer = "21 packets"'), "50 MB"),
    "20 Mbps, 40 ms, 1 % of loss": (("20 Mbps", "40 ms", 'buffer = "1 bdp"\nloss = "1 %"'), "10 MB"),
    "10 Mbps, 200 ms, 1 BDP": (("10 Mbps", "200 ms", 'buffer = "1 bdp"'), "10 MB"),
    "50 Mbps, 20 ms, half a BDP": (("50 Mbps", "20 ms", 'buffer = "0.5 bdp"'), "30 MB"),
}
"""Paths and downloads that the kernel's TCP has had in real time."""
MODELS = {"cubic": "cubic:variant=linux", "reno": "reno", "bbr": "bbr1"}
"""The kernel's controllers, here."""


def scenario(path: Line, controller: str, host: str, size: str, end: str) -> Scenario:
    """One download that ends the trial, unless its time is over before."""
    rate, rtt, lines = path
    text = f"""title = "One download"
time_limit = "{end}"
[path]
rate = "{rate}"
rtt = "{rtt}"
{lines}
[[flow]]
name = "main"
controller = "{controller}"
host = {host}
download = "{size}"
"""
    return Scenario.from_toml(text, "hosts")


def changed(name: str, controller: str) -> list[str]:
    """A line of the table of hosts."""
    cells, rates = [], []
    for host in (IDEAL, LINUX):
        flows = scenario(PATHS[name], controller, host, "2 GB", TIME).trials(TRIALS).flows
        rates.append(float(np.median(flows["mean_rate_bps"])) / 1e6)
        lost = float(np.median(flows["packets_lost"] / flows["packets_sent"]))
        delay = float(np.median(flows["mean_queue_delay_s"])) * 1e3
        cells += [f"{rates[-1]:.3g} Mbps", f"{100 * lost:.2g} %", f"{delay:.2g} ms"]
    return [row(name, f"`{controller}`", *cells, f"{100 * (rates[1] / rates[0] - 1):+.1f} %")]


def beside_the_kernel(name: str, controller: str) -> list[str]:
    """A line of the table of the kernel."""
    path, size = KERNEL[name]
    live = np.array(live_tables.kept_of("hosts")["rows"][f"{name} {controller}"])
    cells = []
    for host in (IDEAL, LINUX):
        flows = scenario(path, MODELS[controller], host, size, "120 s").trials(TRIALS).flows
        middle = float(np.median(flows["completion_s"]))
        cells += [f"{middle:.2f} s", f"{100 * (middle / np.median(live) - 1):+.1f} %"]
    times = " ".join(f"{time:.2f}" for time in np.sort(live))
    return [row(name, f"`kernel:{controller}`", f"{times} s", *cells)]


def parts() -> list[tuple[str, Callable[[], list[str]]]]:
    """All lines."""
    hosts = [
        (f"{name}, {controller}", partial(changed, name, controller))
        for name in PATHS
        for controller in CONTROLLERS
    ]
    kernel = [
        (f"{name}, kernel's {controller}", partial(beside_the_kernel, name, controller))
        for name in KERNEL
        for controller in MODELS
    ]
    return [*hosts, *kernel]


def make() -> None:
    """Measures all lines, and fills the page."""
    lines = [measure() for _, measure in parts()]
    count = len(PATHS) * len(CONTROLLERS)
    fill(PAGE, "hosts", "\n".join([*_head(2, 7, HEAD), *_flat(lines[:count]), "", made("hosts")]))
    kept = live_tables.kept_of("hosts")
    said = f"In real time: `{kept['command']}`, {kept['machine']}."
    kernel = [*_head(2, 5, KERNEL_HEAD), *_flat(lines[count:]), "", said, "", made("hosts")]
    fill(PAGE, "kernel", "\n".join(kernel))


HEAD = ("path", "controller", "ideal: rate", "lost", "queue", "Linux: rate", "lost", "queue", "change")
KERNEL_HEAD = ("path", "kernel", "in real time", "ideal host", "difference", "Linux host", "difference")


def _head(words: int, numbers: int, names: tuple[str, ...]) -> list[str]:
    return [row(*names), row(*[":--"] * words, *["--:"] * numbers)]


def _flat(lines: list[list[str]]) -> Iterator[str]:
    for line in lines:
        yield from line
