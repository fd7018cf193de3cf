"""The suite `bbr-draft` over rates and round-trip times: the second part of its page.

The draft wants its cases "over a range of RTTs and bandwidths". A scenario of the suite is for one path, so that here
everything in it that belongs to that path is derived from the rate and the round-trip time of a cell: `scaled` says how.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pages.made import row
from thalweg.base.quantity import text
from thalweg.cli.tables import criterion_text
from thalweg.engine.catalogue import Suite, find_scenario
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.judging.verdict import Statistics

RATES = {"64 kbps": 64e3, "1 Mbps": 1e6, "10 Mbps": 1e7, "100 Mbps": 1e8, "1 Gbps": 1e9}
RTTS = {"1 ms": 0.001, "10 ms": 0.01, "40 ms": 0.04, "200 ms": 0.2, "1 s": 1.0}
MOST_PACKETS = 6e6
"""A cell that sends more in its time is left out."""
PACKET = 1440.0
LEAST_PACKETS = 20
"""The least buffer in packets, as in case 14: of a sub-packet BDP, four hold none."""
TIED = ("22-refill-app-limited",)
"""Scenarios whose stimulus is tied to a moment of their own path."""
_BASE_RTT_S, _BASE_BPS = 0.04, 1e7
_LATE_S = 2.0
"""Times of a scenario from here on lie in ProbeBW, earlier ones in Startup."""
Document = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A path of the grid."""

    rate: str
    rtt: str

    @property
    def bps(self) -> float:
        return RATES[self.rate]

    @property
    def rtt_s(self) -> float:
        return RTTS[self.rtt]

    @property
    def bdp(self) -> float:
        """The bandwidth-delay product in bytes."""
        return self.bps * self.rtt_s / 8

    @property
    def startup_s(self) -> float:
        """What Startup takes beyond that of 10 Mbps and 40 ms: a round trip for each doubling."""
        return max(0.0, math.log2(self.bdp / (_BASE_BPS * _BASE_RTT_S / 8))) * self.rtt_s

    @property
    def inflight(self) -> float:
        """The most in flight with a gain of 1: the BDP with a tenth, or three send quanta or four packets, and two packets."""
        rate = self.bps / 8
        quantum = min(max(rate * 0.001, 2 * PACKET), 64 * 1024)
        return max(1.1 * self.bdp, 3 * quantum, 4 * PACKET) + 2 * PACKET

    def time(self, at_s: float) -> float:
        """A time of the file on this path. In Startup times count round trips, and later ones leave 50 of them more."""
        if at_s < _LATE_S:
            return at_s * self.rtt_s / _BASE_RTT_S + self.startup_s
        return at_s + 50 * max(0.0, self.rtt_s - _BASE_RTT_S) + self.startup_s


CELLS = [Cell(rate, rtt) for rtt in RTTS for rate in RATES]


def applies(name: str, cell: Cell) -> bool:
    """Whether the case is one on this path."""
    if name.startswith("14"):
        return cell.bdp < 1200
    if name.startswith("20"):
        # Startup must outlast the 5 s of ProbeRTTInterval.
        return cell.rtt_s * math.log2(max(1.0, cell.bdp / PACKET / 10)) > 6
    return True


def scaled(name: str, document: Document, cell: Cell) -> Document:
    """The scenario for the path of a cell.

    Rates are multiplied by the ratio to the rate of the file. Lengths of time (bursts, losses, pauses of the link) and
    bounds on stays count round trips. Times of changes: `Cell.time`.
    """
    keys: Document = dict(document)
    path = dict(keys["path"])
    base = bps_of(path["rate"])
    ratio = cell.bps / base
    rounds = cell.rtt_s / (seconds_of(path["rtt"]) if not name.startswith(("14", "20")) else cell.rtt_s)
    buffer = max(float(path["buffer"].split()[0]) * cell.bdp, LEAST_PACKETS * PACKET)
    path |= {"rate": bps(cell.bps), "rtt": seconds(cell.rtt_s), "buffer": f"{buffer:.0f} B"}
    if "policer" in path:
        burst = max(100e3 * ratio * rounds, 2 * PACKET)
        path["policer"] = {"rate": bps(1e7 * ratio), "burst": f"{burst:.0f} B"}
    if "up" in path:
        every = seconds_of(path["up"]["jitter"]["every"]) * rounds
        path["up"] = {"jitter": {"model": "bursts", "every": seconds(every)}}
    if name.startswith("14"):
        keys.pop("transport", None)
    began, last = {}, 0.0
    changes = []
    for change in path.get("change", []):
        change = dict(change)
        if "rate" in change:
            change["rate"] = bps(bps_of(change["rate"]) * ratio)
        if "at" in change and "when" in change:
            change["at"] = seconds(seconds_of(change["at"]) * rounds)
        elif "at" in change:
            at = seconds_of(change["at"])
            lasts = name.startswith("19") and "first" in began
            last = began["first"] + 0.4 * rounds if lasts else cell.time(at)
            began.setdefault("first", last)
            change["at"] = seconds(last)
        changes.append(change)
    path["change"] = changes or None
    flow = dict(keys["flow"][0])
    if "app_rate" in flow:
        flow["app_rate"] = bps(bps_of(flow["app_rate"]) * ratio)
    if "pauses" in flow:
        flow["pauses"] = [[seconds(cell.time(seconds_of(at))) for at in pause] for pause in flow["pauses"]]
    passes = [bounded(name, dict(criterion), cell, rounds, last) for criterion in keys["pass"]]
    times = [seconds_of(one[key]) for one in passes for key in ("from", "until") if key in one]
    limit = max([cell.time(30.0), last, *times]) + 20 * cell.rtt_s
    return keys | {"time_limit": seconds(limit), "path": path, "flow": [flow], "pass": passes}


def bounded(name: str, criterion: Document, cell: Cell, rounds: float, last: float) -> Document:
    """A criterion of the file on this path; `last`: the time of the last change."""
    rtt, buffer_s = cell.rtt_s, 4 * cell.rtt_s
    for key in ("from", "until"):
        if key in criterion:
            criterion[key] = seconds(cell.time(seconds_of(criterion[key])))
    if name.startswith("15"):
        # 3 s until it probes, ten doublings and three rounds, and as much again.
        criterion["from"] = seconds(last + 3 + max(2.0, 26 * rtt))
    if name.startswith("16") and "until" in criterion:
        # Four round trips of 11, since the buffer of the old rate is 10 round trips of the new one.
        criterion |= {"from": seconds(last + 0.24 + 44 * rtt), "until": seconds(last + 0.24 + max(1.0, 25 * rtt) + 44 * rtt)}
    elif name.startswith("16"):
        # Three cycles of at most 3 s and 75 round trips, and the queue.
        criterion["from"] = seconds(last + 9 + max(9.0, 225 * rtt))
    if name.startswith("19") and "from" in criterion:
        criterion["from"] = seconds(last + 0.1 * rounds)
    if criterion["metric"] == "variable" and criterion["variable"] == "in_flight":
        criterion["at_most"] = f"{cell.inflight:.0f} B"
    if criterion["metric"] == "variable" and criterion["variable"] == "window" and name.startswith("14"):
        criterion["at_least"] = f"{4 * PACKET:.0f} B"
    if criterion.get("state") == "ProbeRTT" and "at_most" in criterion and criterion["metric"] == "stay":
        # 200 ms, and round trips with the queue until half a BDP is in flight and has been for one.
        criterion["at_most"] = seconds(0.2 + 2.5 * (rtt + buffer_s / 4) + 8 * PACKET * 8 / cell.bps)
    if name.startswith("02"):
        criterion["at_most"] = seconds(1.0 * rounds + cell.startup_s)
    if name.startswith("17"):
        for key in ("at_least", "at_most"):
            if "bps" in criterion.get(key, ""):
                criterion[key] = bps(bps_of(criterion[key]) * cell.bps / 1e8)
    return criterion


def bps_of(rate: str) -> float:
    """A rate of a scenario file in bits per second."""
    number, unit = rate.split()
    return float(number) * {"bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}[unit]


def bps(rate: float) -> str:
    return f"{rate:.0f} bps"


def seconds_of(time: str) -> float:
    """A time of a scenario file in seconds."""
    number, unit = time.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def seconds(time_s: float) -> str:
    return f"{time_s * 1e6:.0f} us"


@dataclass(frozen=True)
class Played:
    """A case in a cell: the criteria that failed, or None if it was not played."""

    failed: tuple[Statistics, ...] | None
    why: str = ""


def document_of(name: str) -> Document:
    """The keys of a scenario of the suite."""
    return tomllib.loads(find_scenario(f"bbr-draft/{name}").read().decode())


def play(name: str, cell: Cell, seed: int) -> Played:
    """One trial of a case on the path of a cell."""
    if not applies(name, cell):
        return Played(None, "n/a")
    keys = scaled(name, document_of(name), cell)
    most = cell.bps * (10 if name.startswith("15") else 1)
    if seconds_of(keys["time_limit"]) * most / 8 / PACKET > MOST_PACKETS:
        return Played(None, "-")
    scenario = Scenario.from_toml(scenario_text(keys), f"{name} at {cell.rate}, {cell.rtt}")
    verdict = scenario.trials(1, seed=seed).verdict()
    return Played(tuple(one for one in verdict.criteria if one.failures and not one.informative))
