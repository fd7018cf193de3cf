"""Quantiles of the delay of access: ours next to the ones of ns-3, whose cell `cell.cc` builds.

The package `ns3` of PyPI is not among the packages of the project. `NS3_PYTHON` names an interpreter that has
it; without one, the page keeps its table, and says so when it is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

import numpy as np

from pages.made import row
from thalweg.base.quantity import percent
from thalweg.engine.scenario import Scenario
from thalweg.probe.series import Floats
from thalweg.probe.wire import SIZE

Runs: TypeAlias = list[Floats]
"""Delays in seconds of the packets that arrived, of each run."""
Ratio: TypeAlias = tuple[float, float, float]
"""With its interval: the lower end, the ratio, the upper end."""
QUANTILES = (0.5, 0.9, 0.99)
_GOAL = 0.1
NS3_SEEDS, OUR_SEEDS = range(1, 17), range(1, 121)
SPAN_S = 8.0
"""Virtual time of a run."""
_WAY_S = 1.5e-3
_OVERHEAD = 28
"""IP and UDP, which a scenario adds to a datagram."""
_MODES = {
    ("a", 12.0): "OfdmRate12Mbps",
    ("a", 54.0): "OfdmRate54Mbps",
    ("ac", 13.0): "VhtMcs1",
    ("ac", 65.0): "VhtMcs7",
    ("ax", 68.823529): "HeMcs5",
}
"""ns-3's names of rates at 20 MHz, one stream, the guard interval of our symbols."""


@dataclass(frozen=True)
class Neighbours:
    """Stations with packets of so many bytes, always or for exponential times."""

    count: int
    payload: int
    heard: str = "both"
    on_s: float = 0.0
    off_s: float = 0.0


@dataclass(frozen=True)
class Setting:
    """A cell; `"a"` has the distributed coordination function, the others have best effort."""

    phy: str
    rate_mbps: float
    neighbours: tuple[Neighbours, ...]
    attempts: int = 7
    interval_s: float = 0.02

    @property
    def access(self) -> str:
        """Its way to contend."""
        return "dcf" if self.phy == "a" else "best-effort"


SETTINGS = {
    "five saturated, 802.11ac": Setting("ac", 65.0, (Neighbours(5, 1500),), interval_s=0.008),
    "five saturated, 802.11a": Setting("a", 54.0, (Neighbours(5, 1500),), interval_s=0.008),
    "twelve bursty": Setting("ac", 13.0, (Neighbours(12, 1500, "both", 0.02, 0.18),)),
    "a saturated and eight bursty, 802.11ax": Setting(
        "ax", 68.823529, (Neighbours(1, 1500), Neighbours(8, 1500, "both", 0.02, 0.06)), interval_s=0.008
    ),
    "hidden from the client": Setting("ac", 13.0, (Neighbours(1, 1500, "access-point", 0.02, 0.06),), 30),
    "hidden from the access point, 802.11a": Setting("a", 12.0, (Neighbours(1, 1500, "client", 0.02, 0.06),), 30),
}


PAIRS = {
    "802.11a, 54 Mbps": Setting("a", 54.0, (Neighbours(1, 1500, "access-point"),), interval_s=1.0),
    "802.11ac, 65 Mbps": Setting("ac", 65.0, (Neighbours(1, 1500, "access-point"),), interval_s=1.0),
}
"""The client always has a frame, and so has a station that it does not hear; the access point receives both."""


def tables() -> dict[str, list[str]]:
    """All that needs ns-3, by the part of the page; empty without the package."""
    theirs = _ns3([*SETTINGS.values(), *PAIRS.values()])
    if theirs is None:
        return {}
    return {
        "access": list(_delays(theirs[: len(SETTINGS)])),
        "pair": list(_pairs([runs["frames"] for runs in theirs[len(SETTINGS) :]])),
    }


def _delays(theirs: list[dict[str, Runs]]) -> Iterator[str]:
    """Each quantile of each setting, from the client up and from the access point down, and how many are near."""
    found = []
    yield row("setting", "direction", "quantile", "ours", "ns-3", "ratio", "95 %")
    yield row(":--", ":--", *["--:"] * 5)
    for (name, setting), reference in zip(SETTINGS.items(), theirs, strict=True):
        ours = _ours(setting)
        for way in ("up", "down"):
            for quantile in QUANTILES:
                mine, other = (np.quantile(np.concatenate(runs[way]), quantile) for runs in (ours, reference))
                low, high = _interval(ours[way], reference[way], quantile)
                delays = (f"{1e3 * delay:.3f} ms" for delay in (mine, other))
                ratio = mine / other
                found.append((low, ratio, high))
                yield row(name, way, f"{100 * quantile:g} %", *delays, f"{ratio:.3f}", f"{low:.3f} to {high:.3f}")
    near, whole, far = (sum(map(is_so, found)) for is_so in (_is_near, _is_whole, _is_far))
    yield ""
    said = (
        f"Of {len(found)} ratios {near} are within {percent(_GOAL)} of 1, {whole} of them with all of the "
        f"interval; outside with all of it: {far}, and for the others this many runs do not tell."
    )
    yield from wrap(said, 105)


def _is_near(ratio: Ratio) -> bool:
    return abs(ratio[1] - 1) <= _GOAL


def _is_whole(ratio: Ratio) -> bool:
    return ratio[0] >= 1 - _GOAL and ratio[2] <= 1 + _GOAL


def _is_far(ratio: Ratio) -> bool:
    return ratio[2] < 1 - _GOAL or ratio[0] > 1 + _GOAL


def _pairs(theirs: list[Runs]) -> Iterator[str]:
    """Frames of the client that arrive in a second, next to a saturated station that it does not hear."""
    yield row("setting", "ours", "ns-3", "ratio", "95 %")
    yield row(":--", *["--:"] * 4)
    for (name, setting), runs in zip(PAIRS.items(), theirs, strict=True):
        # Both stations of ns-3 count, which are alike.
        ours = _flooded(setting)
        mine, other = (float(np.mean(np.concatenate(one))) for one in (ours, runs))
        low, high = _interval(ours, runs, 0.5)
        yield row(name, f"{mine:.1f}", f"{other:.1f}", f"{mine / other:.3f}", f"{low:.3f} to {high:.3f}")


def _flooded(setting: Setting) -> Runs:
    """What arrives in a second of packets of which the client always has one, in each run."""
    kind = setting.neighbours[0]
    rest = f"attempts = {setting.attempts}, neighbours = [{_table(setting, kind)}]"
    text = _text(
        setting,
        setting.access,
        rest,
        f"""\
[[traffic]]
name = "flood"
rate = "{setting.rate_mbps} Mbps"
from = "client"
packet = "{kind.payload} B"
on = [["0 s", "{SPAN_S} s"]]
""",
    )
    overrides = {
        "time_limit": f'"{SPAN_S} s"',
        "flow.main.start": f'"{2 * SPAN_S} s"',
        "flow.main.background": "true",
    }
    links = Scenario.from_toml(text, "pair", overrides).trials(len(OUR_SEEDS)).links
    delivered = links.filter(links["link"] == "up")["delivered_packets"].to_numpy() / SPAN_S
    return [np.array([frames]) for frames in delivered.tolist()]


def _interval(ours: Runs, theirs: Runs, quantile: float) -> tuple[float, float]:
    """The interval of a ratio of quantiles: runs are drawn with replacement (percentile bootstrap)."""
    random = np.random.default_rng(1)

    def drawn(runs: Runs) -> float:
        chosen = random.integers(0, len(runs), len(runs))
        return float(np.quantile(np.concatenate([runs[index] for index in chosen]), quantile))

    ratios = [drawn(ours) / drawn(theirs) for _ in range(400)]
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(low), float(high)


def _ns3(settings: list[Setting]) -> list[dict[str, Runs]] | None:
    """The same in ns-3; none without the package."""
    python = os.environ.get("NS3_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import ns"], capture_output=True, check=False).returncode:
        print(
            f"SKIPPED: the table of delays of access, since {python} does not have the package ns3 of PyPI; "
            "NS3_PYTHON names an interpreter that has it. The page keeps the table that it has.",
            file=sys.stderr,
            flush=True,
        )
        return None
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda setting: _cell_of_ns3(python, setting), settings))


def _cell_of_ns3(python: str, setting: Setting) -> dict[str, Runs]:
    kinds = [
        {"count": kind.count, "payload": kind.payload, "on": kind.on_s, "off": kind.off_s, "heard": kind.heard}
        for kind in setting.neighbours
    ]
    given = {
        "phy": setting.phy,
        "mode": _MODES[setting.phy, setting.rate_mbps],
        "attempts": setting.attempts,
        "interval": setting.interval_s,
        "probes": _probes(setting),
        "size": SIZE + _OVERHEAD,
        "flood": setting.neighbours[0].payload if setting in PAIRS.values() else 0,
        "seeds": list(NS3_SEEDS),
        "neighbours": kinds,
    }
    # On standard error it says that parts of its own headers were not compiled, in any case.
    done = subprocess.run(
        [python, Path(__file__).with_name("cell.py")],
        input=json.dumps(given),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    runs = json.loads(done.stdout)
    return {what: [_arrived(run[what]) for run in runs] for what in ("up", "down", "frames")}


def _probes(setting: Setting) -> int:
    return round(SPAN_S / setting.interval_s)


def _arrived(delays: Any) -> Floats:
    every = np.asarray(delays, np.float64)
    return every[every >= 0]


def _ours(setting: Setting) -> dict[str, Runs]:
    kinds = ", ".join(_table(setting, kind) for kind in setting.neighbours)
    scenario = _scenario(setting, setting.access, f"attempts = {setting.attempts}, neighbours = [{kinds}]")
    found: dict[str, Runs] = {"up": [], "down": []}
    for seed in OUR_SEEDS:
        columns = scenario.probe(seed, round(setting.interval_s * 1e9), _probes(setting), SIZE)
        sent, echoed, received = columns["sent_ns"], columns["echoed_ns"], columns["received_ns"]
        for way, began, ended in (("up", sent, echoed), ("down", echoed, received)):
            found[way].append(_arrived(np.where(ended < 0, -1.0, (ended - began) * 1e-9 - _WAY_S)))
    return found


def _table(setting: Setting, kind: Neighbours) -> str:
    bursts = f', on = "{kind.on_s:.6f} s", off = "{kind.off_s:.6f} s"' if kind.off_s else ""
    airtime = f"{1e6 * _frame_s(setting, kind.payload):.3f} us"
    place = f'heard = "{kind.heard}", access = "{setting.access}"'
    return f'{{ count = {kind.count}, airtime = "{airtime}", {place}{bursts} }}'


def _frame_s(setting: Setting, payload: int) -> float:
    """How long a frame with a packet of so many bytes takes, found by sending one in an empty cell."""
    scenario = _scenario(setting, "best-effort", "attempts = 1")
    columns = scenario.probe(1, 10**9, 1, payload - _OVERHEAD)
    return float(columns["echoed_ns"][0] - columns["sent_ns"][0]) * 1e-9 - _WAY_S


def _scenario(setting: Setting, access: str, rest: str) -> Scenario:
    return Scenario.from_toml(_text(setting, access, rest), "access")


def _text(setting: Setting, access: str, rest: str, more: str = "") -> str:
    return f"""\
title = "access"
[path]
rate = "{setting.rate_mbps} Mbps"
rtt = "{2e3 * _WAY_S} ms"
buffer = "10 MB"
medium = {{ model = "wifi", phy = "{setting.phy}", access = "{access}", packets = 1, {rest} }}
[[flow]]
name = "main"
controller = "c4"
download = "1 MB"
{more}"""
