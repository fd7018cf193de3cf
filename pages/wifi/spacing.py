"""What a light flow waits, by how far its packets are apart: what is drawn for each packet, and what is not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pages.made import row
from thalweg.engine.scenario import Scenario
from thalweg.probe.series import Floats
from thalweg.probe.simulated import simulate_probe

SPACINGS_S = (0.1, 0.02, 0.0012)
_SPAN_S, _SEEDS = 60.0, range(1, 6)
_MEAN = 'model = "wifi", mean = "7 ms"'
ELEMENTS = {
    "the draft's jitter, 7 ms": f"jitter = {{ {_MEAN} }}",
    "the same, drawn each 20 ms": f'jitter = {{ {_MEAN}, every = "20 ms" }}',
    **{
        f"`{preset}`": f'medium = {{ model = "wifi", preset = "{preset}" }}'
        for preset in ("home", "apartment", "office", "hidden", "scan")
    },
}
SCENARIO = """\
title = "spacing"
[path]
rate = "65 Mbps"
rtt = "3 ms"
buffer = "1 MB"
{}
[[flow]]
name = "main"
controller = "c4"
download = "1 MB"
"""
"""The path with an element, on which only probes are sent."""

_NEIGHBOURS = {
    "home": ("", '{ count = 3, airtime = "1 ms", on = "20 ms", off = "80 ms" }'),
    "apartment": ("", '{ count = 9, airtime = "3 ms", on = "30 ms", off = "570 ms" }'),
    "office": ("", '{ count = 20, airtime = "0.3 ms", on = "10 ms", off = "190 ms" }'),
    "hidden": (
        "attempts = 30, ",
        '{ airtime = "2 ms", heard = "access-point", on = "20 ms", off = "180 ms" }',
    ),
}
"""The presets, written out as docs/reference/wifi.md has them."""
_LOADS = {
    "two": '{ count = 2, airtime = "60 us", on = "1 us", off = "1.2 ms" }',
    "forty": '{ count = 40, airtime = "60 us", on = "1 us", off = "24 ms" }',
}
"""Stations that have a frame when so long has passed since the last one, so at most the two each 1.2 ms that
probes and echoes are. Two are as many as the ends, and fall behind them while they wait for the medium, as the
ends do not, which put what waits into one frame. Forty do not fall behind, and each that waits contends. A frame
is as long as one of a probe at 65 Mbps: 72 bytes with 28 of IP and UDP and 38 of the air are 1174 bits with
delimiter, padding and service, five symbols after 40 us."""


def lines() -> Iterator[str]:
    """Mean and 99th percentile of round trips, above the least one."""
    heads = [f"{what}, {spacing * 1e3:g} ms" for spacing in SPACINGS_S for what in ("mean", "p99")]
    yield row("element", *heads, "largest mean over least")
    yield row(":--", *["--:"] * (len(heads) + 1))
    yield from map(line, ELEMENTS)


def line(name: str) -> str:
    """One element."""
    means, cells = [], []
    for spacing in SPACINGS_S:
        delay = _delays_ms(ELEMENTS[name], spacing)
        means.append(float(np.nanmean(delay)))
        cells += [f"{means[-1]:.2f} ms", f"{np.nanquantile(delay, 0.99):.0f} ms"]
    return row(name, *cells, f"{max(means) / min(means):.2f}")


def loaded() -> Iterator[str]:
    """Means next to the presets, and next to these and stations that have the frames of the closest probes."""
    own = [f"{spacing * 1e3:g} ms" for spacing in SPACINGS_S]
    loaded = [f"100 ms, {name} more" for name in _LOADS]
    over = [f"1.2 ms over {head}" for head in ("100 ms", *loaded)]
    yield row("preset", *own, *loaded, *over)
    yield row(":--", *["--:"] * (len(own) + len(loaded) + len(over)))
    yield from map(loaded_line, _NEIGHBOURS)


def loaded_line(name: str) -> str:
    """One preset."""
    settings, kind = _NEIGHBOURS[name]

    def mean(spacing: float, more: str) -> float:
        element = f'medium = {{ model = "wifi", {settings}neighbours = [{kind}{more}] }}'
        return float(np.nanmean(_delays_ms(element, spacing)))

    own = [mean(spacing, "") for spacing in SPACINGS_S]
    loaded = [mean(SPACINGS_S[0], f", {load}") for load in _LOADS.values()]
    ratios = (own[-1] / other for other in (own[0], *loaded))
    return row(
        f"`{name}`", *(f"{value:.2f} ms" for value in (*own, *loaded)), *(f"{ratio:.2f}" for ratio in ratios)
    )


def _delays_ms(element: str, spacing_s: float) -> Floats:
    """Round trips above the least one, of all seeds."""
    scenario = Scenario.from_toml(SCENARIO.format(element), "spacing")
    rtt = np.concatenate([simulate_probe(scenario, seed, spacing_s, _SPAN_S).rtt for seed in _SEEDS])
    delay: Floats = 1e3 * (rtt - np.nanmin(rtt))
    return delay
