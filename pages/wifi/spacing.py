"""What a light flow waits, by how far its packets are apart: what is drawn for each packet, and what is not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pages.made import row
from thalweg.engine.scenario import Scenario
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
_SCENARIO = """\
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


def lines() -> Iterator[str]:
    """Mean and 99th percentile of round trips, above the least one."""
    heads = [f"{what}, {spacing * 1e3:g} ms" for spacing in SPACINGS_S for what in ("mean", "p99")]
    yield row("element", *heads, "largest mean over least")
    yield row(":--", *["--:"] * (len(heads) + 1))
    yield from map(line, ELEMENTS)


def line(name: str) -> str:
    """One element."""
    scenario = Scenario.from_toml(_SCENARIO.format(ELEMENTS[name]), "spacing")
    means, cells = [], []
    for spacing in SPACINGS_S:
        rtt = np.concatenate([simulate_probe(scenario, seed, spacing, _SPAN_S).rtt for seed in _SEEDS])
        delay = 1e3 * (rtt - np.nanmin(rtt))
        means.append(float(np.nanmean(delay)))
        cells += [f"{means[-1]:.2f} ms", f"{np.nanquantile(delay, 0.99):.0f} ms"]
    return row(name, *cells, f"{max(means) / min(means):.2f}")
