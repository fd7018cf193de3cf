"""The scenarios of `bbr-draft` over rates and round-trip times.

The draft wants its cases over a range of both. A scenario of the suite is for one path: everything in it that
belongs to that path is derived here from the rate and the round-trip time of a cell; `scaled` says how.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from thalweg.engine.catalogue import find_scenario
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.judging.verdict import Statistics

RATES = {"64 kbps": 64e3, "1 Mbps": 1e6, "10 Mbps": 1e7, "100 Mbps": 1e8}
RTTS = {"1 ms": 0.001, "10 ms": 0.01, "40 ms": 0.04, "200 ms": 0.2, "1 s": 1.0}
MOST_PACKETS = 1e6
"""A cell that sends more in its time is left out."""
PACKET = 1440.0
LEAST_PACKETS = 20
"""The least buffer in packets, as in case 14: of a sub-packet BDP, four hold none."""
_BASE_RTT_S, _BASE_BPS = 0.04, 1e7
_SUSPENDED_S = 0.4
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
        """The rate in bits per second."""
        return RATES[self.rate]

    @property
    def rtt_s(self) -> float:
        """The round-trip time."""
        return RTTS[self.rtt]

    @property
    def bdp(self) -> float:
        """The bandwidth-delay product in bytes."""
        return self.bps * self.rtt_s / 8

    @property
    def startup_s(self) -> float:
        """What Startup takes beyond the Startup of 10 Mbps and 40 ms: a round trip for each doubling."""
        return max(0.0, math.log2(self.bdp / (_BASE_BPS * _BASE_RTT_S / 8))) * self.rtt_s

    @property
    def inflight(self) -> float:
        """The most in flight with a gain of 1: 1.1 BDP, three send quanta or four packets, and two packets."""
        rate = self.bps / 8
        quantum = min(max(rate * 0.001, 2 * PACKET), 64 * 1024)
        return max(1.1 * self.bdp, 3 * quantum, 4 * PACKET) + 2 * PACKET

    @property
    def round_s(self) -> float:
        """A round trip, or the time of the packets that 10 Mbps and 40 ms have in one: losses need packets."""
        return max(self.rtt_s, _BASE_BPS * _BASE_RTT_S / self.bps)

    def time(self, at_s: float) -> float:
        """A time of the file here. Those in Startup count rounds, and later ones leave 50 round trips more."""
        if at_s < _LATE_S:
            return at_s * self.round_s / _BASE_RTT_S + self.startup_s
        return at_s + 50 * max(0.0, self.rtt_s - _BASE_RTT_S) + self.startup_s


CELLS = [Cell(rate, rtt) for rtt in RTTS for rate in RATES]


def applies(name: str, cell: Cell) -> bool:
    """Whether the case is one on this path."""
    if name.startswith("14"):
        return cell.bdp < PACKET
    if name.startswith("20"):
        # Startup must outlast the 5 s of ProbeRTTInterval.
        return cell.rtt_s * math.log2(max(1.0, cell.bdp / PACKET / 10)) > 6
    return True


def scaled(name: str, document: Document, cell: Cell) -> Document:
    """The scenario for the path of a cell.

    Rates are multiplied by the ratio to the rate of the file. Lengths of bursts, losses and suspensions and bounds
    on stays count round trips. Times of changes: `Cell.time`.
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
    changes, last = _changes(name, path.get("change", []), cell, ratio, rounds)
    path["change"] = changes or None
    flow = dict(keys["flow"][0])
    if "app_rate" in flow:
        flow["app_rate"] = bps(bps_of(flow["app_rate"]) * ratio)
    if "pauses" in flow:
        flow["pauses"] = [[seconds(cell.time(seconds_of(at))) for at in pause] for pause in flow["pauses"]]
    passes = [bounded(name, dict(criterion), cell, rounds, last) for criterion in keys["pass"]]
    if name.startswith(("06", "07-up")):
        last = max(last, cell.time(1.0)) + 30
    times = [seconds_of(one[key]) for one in passes for key in ("from", "until") if key in one]
    limit = max([cell.time(30.0), last, *times]) + 20 * cell.rtt_s
    return keys | {"time_limit": seconds(limit), "path": path, "flow": [flow], "pass": passes}


def _changes(
    name: str, given: list[Document], cell: Cell, ratio: float, rounds: float
) -> tuple[list[Document], float]:
    """The changes of a path, and the time of the last one that has one."""
    changes = []
    first = last = 0.0
    for one in given:
        change = dict(one)
        when = change.get("when")
        if "rate" in change:
            change["rate"] = bps(bps_of(change["rate"]) * ratio)
        if when and when.get("enters") == "ProbeBW_DOWN":
            change["when"] = when | {"entry": 1 + shows_down(cell)}
        if "at" in change and when:
            change["at"] = seconds(seconds_of(change["at"]) * cell.round_s / _BASE_RTT_S)
        elif "at" in change:
            # The suspension of case 19 has its length in round trips.
            ends = name.startswith("19") and bool(first)
            last = first + _SUSPENDED_S * rounds if ends else cell.time(seconds_of(change["at"]))
            first = first or last
            change["at"] = seconds(last)
        changes.append(change)
    return changes, last


def bounded(name: str, criterion: Document, cell: Cell, rounds: float, last: float) -> Document:
    """A criterion of the file on this path; `last`: the time of the last change."""
    for key in ("from", "until"):
        if key in criterion:
            criterion[key] = seconds(cell.time(seconds_of(criterion[key])))
    window = _window(name[:2], criterion, cell, rounds, last)
    return criterion | window | _bound(name[:2], criterion, cell, rounds)


def _window(case: str, criterion: Document, cell: Cell, rounds: float, last: float) -> Document:
    """The times of a criterion that follow from the last change."""
    rtt = cell.rtt_s
    if case == "11" and "until" in criterion:
        # From its beginning, since ProbeRTT may come before; 2 s after its end the next one is not due.
        return {"from": seconds(cell.time(3.0)), "until": seconds(cell.time(9.0) + 2)}
    if case == "15":
        # 3 s until it probes, ten doublings and three rounds, and as much again.
        return {"from": seconds(last + 3 + max(2.0, 26 * rtt))}
    if case == "16" and "until" in criterion:
        # Four round trips of 11, since the buffer of the old rate is 10 round trips of the new one.
        start = last + 0.24 + 44 * rtt
        return {"from": seconds(start), "until": seconds(start + max(1.0, 25 * rtt))}
    if case == "16":
        # Three cycles of at most 3 s and 75 round trips, and the queue.
        return {"from": seconds(last + 9 + max(9.0, 225 * rtt))}
    if case == "19" and "from" in criterion:
        return {"from": seconds(last + 0.1 * rounds)}
    return {}


def _bound(case: str, criterion: Document, cell: Cell, rounds: float) -> Document:
    """The bound of a criterion, where it is of the path of the file."""
    metric, variable = criterion["metric"], criterion.get("variable")
    bound: Document = {}
    if variable == "in_flight":
        return {"at_most": f"{cell.inflight:.0f} B"}
    if (case, variable) == ("14", "window"):
        return {"at_least": f"{4 * PACKET:.0f} B"}
    if metric == "stay" and criterion["state"] == "ProbeRTT" and "at_most" in criterion:
        # 200 ms, and round trips with the queue until half a BDP is in flight and has been for one.
        return {"at_most": seconds(0.2 + 5 * cell.rtt_s + 8 * PACKET * 8 / cell.bps)}
    if case == "02":
        return {"at_most": seconds(1.0 * cell.round_s / _BASE_RTT_S + cell.startup_s)}
    if case == "17":
        sides = [key for key in ("at_least", "at_most") if "bps" in criterion.get(key, "")]
        return {key: bps(bps_of(criterion[key]) * cell.bps / 1e8) for key in sides}
    if case == "19" and metric == "rate":
        # Nothing is delivered while the link is suspended, nor much in Startup: a round trip a doubling, and two.
        idle_s = _SUSPENDED_S * rounds + cell.startup_s + 2 * cell.rtt_s
        bound["at_least"] = bps(0.9 * cell.bps * (1 - idle_s / cell.time(30.0)))
    return bound


def bps_of(rate: str) -> float:
    """A rate of a scenario file in bits per second."""
    number, unit = rate.split()
    return float(number) * {"bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}[unit]


def bps(rate: float) -> str:
    """A rate as a scenario file has it."""
    return f"{rate:.0f} bps"


def seconds_of(time: str) -> float:
    """A time of a scenario file in seconds."""
    number, unit = time.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def seconds(time_s: float) -> str:
    """A time as a scenario file has it."""
    return f"{time_s * 1e6:.0f} us"


@cache
def shows_down(cell: Cell) -> bool:
    """Whether ProbeBW_DOWN follows Drain for long enough to be seen, before the one that follows ProbeBW_UP."""
    keys = scaled("03-drain-inflight", document_of("03-drain-inflight"), cell)
    entered = {"flow": "main", "metric": "entries", "state": "ProbeBW_DOWN", "after": "Drain", "at_least": "1"}
    scenario = Scenario.from_toml(scenario_text(keys | {"pass": [entered]}), "ProbeBW_DOWN after Drain")
    return scenario.trials(1, seed=1).verdict().criteria[0].failures == 0


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
