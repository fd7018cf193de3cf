"""The cycles of BBRv3 and BBRv1: gains, lengths of phases, and when ProbeRTT comes.

One flow by itself at 20 Mbps and 80 ms with 2 BDP of buffer. At 80 ms, 63 round trips take 5 s, so the wait of
ProbeBW is the random one of 2 to 3 s; it is counted where ProbeRTT does not cut it short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from thalweg.engine.scenario_text import scenario_text
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity, TrialRecord, around
from thalweg.experiments.studies.laws.scenarios import bulk, header, path
from thalweg.experiments.studies.runner.parameters import file_name

_RATE_BPS, _RTT_S = 20e6, 0.08
_FLOW = "main"
_V3 = "draft-ietf-ccwg-bbr-06"
_V1 = "draft-cardwell-iccrg-bbr-congestion-control-00"


@dataclass(frozen=True)
class Phase:
    """A stretch of time in one state."""

    state: str
    begin_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """How long it lasts."""
        return self.end_s - self.begin_s


def experiments(stacks: Sequence[str], trials: int, length_s: float) -> Iterator[Experiment]:
    """Both versions on every stack."""
    for stack in stacks:
        yield _experiment("bbr", stack, trials, length_s)
        yield _experiment("bbr1", stack, trials, length_s)


def _experiment(controller: str, stack: str, trials: int, length_s: float) -> Experiment:
    name = file_name("cycle", controller, stack)
    buffer = f"{2 * _RATE_BPS * _RTT_S / 8:.0f} B"
    keys = header(name, length_s, _RTT_S) | path(_RATE_BPS, _RTT_S, buffer)
    keys |= {"flow": [bulk(_FLOW, controller, stack)]}

    def numbers(record: TrialRecord) -> dict[str, float]:
        assert record.trace is not None
        return _V[controller](record.trace)

    quantities = {
        number: Quantity("cycle", source, controller, stack, case, *bounds, unit, arithmetic, always=True)
        for number, (case, bounds, unit, source, arithmetic) in _LAWS[controller].items()
    }
    return Experiment(name, scenario_text(keys), trials, True, numbers, quantities)


def phases(flows: pl.DataFrame) -> list[Phase]:
    """The states of a flow one after the other.

    >>> flows = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 3.0], "state": ["a", "a", "b", "b"]})
    >>> phases(flows)
    [Phase(state='a', begin_s=0.0, end_s=2.0), Phase(state='b', begin_s=2.0, end_s=3.0)]
    """
    return runs(flows["time_s"].to_list(), flows["state"].to_list())


def runs(times_s: Sequence[float], values: Sequence[str]) -> list[Phase]:
    """Stretches of one value."""
    starts = [0, *(index for index in range(1, len(values)) if values[index] != values[index - 1])]
    ends = [*starts[1:], len(values) - 1]
    return [Phase(values[start], times_s[start], times_s[end]) for start, end in zip(starts, ends, strict=True)]


def version_3(trace: Trace) -> dict[str, float]:
    """Measurements of BBRv3: pacing of each phase over CRUISE's in its cycle, the wait, REFILL, ProbeRTT."""
    flows = trace.flows.filter((pl.col("flow") == _FLOW) & pl.col("state").is_not_null())
    each = phases(flows)
    pacing = {
        state: float(flows.filter(pl.col("state") == state)["pacing_bps"].median())  # type: ignore[arg-type]
        for state in ("ProbeBW_UP", "ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeBW_REFILL")
    }
    cruise = flows.filter(pl.col("state") == "ProbeBW_CRUISE")
    bw = trace.variables.filter((pl.col("flow") == _FLOW) & (pl.col("variable") == "bw"))
    known = np.searchsorted(bw["time_s"].to_numpy(), cruise["time_s"].to_numpy(), side="right") - 1
    margin = float(np.median(cruise["pacing_bps"].to_numpy() / bw["value"].to_numpy()[known]))
    waits = probe_waits(each)
    refills = [
        refill.length_s
        for refill, later in pairwise(each)
        if (refill.state, later.state) == ("ProbeBW_REFILL", "ProbeBW_UP")
    ]
    return {
        "up": pacing["ProbeBW_UP"] / pacing["ProbeBW_CRUISE"],
        "down": pacing["ProbeBW_DOWN"] / pacing["ProbeBW_CRUISE"],
        "refill_gain": pacing["ProbeBW_REFILL"] / pacing["ProbeBW_CRUISE"],
        "margin": margin,
        "least_wait": min(waits),
        "most_wait": max(waits),
        "refill": float(np.mean(refills)),
        **_probe_rtt(each),
    }


def probe_waits(each: Sequence[Phase]) -> list[float]:
    """From the start of the probing clock to REFILL: it starts with DOWN, and again when ProbeRTT ends.

    >>> names = "ProbeBW_DOWN ProbeBW_CRUISE ProbeBW_REFILL ProbeRTT ProbeBW_CRUISE ProbeBW_REFILL".split()
    >>> probe_waits([Phase(name, float(at), at + 1.0) for at, name in enumerate(names)])
    [2.0, 1.0]
    """
    begins = {"ProbeBW_DOWN": 0, "ProbeRTT": 1}
    return [
        refill.begin_s - (before, cruise)[begins[before.state]].begin_s
        for before, cruise, refill in zip(each, each[1:], each[2:], strict=False)
        if before.state in begins and (cruise.state, refill.state) == ("ProbeBW_CRUISE", "ProbeBW_REFILL")
    ]


def version_1(trace: Trace) -> dict[str, float]:
    """Measurements of BBRv1: the gains and length of a cycle, ProbeRTT."""
    flows = trace.flows.filter((pl.col("flow") == _FLOW) & pl.col("state").is_not_null())
    each = phases(flows)
    gain = trace.variables.filter((pl.col("flow") == _FLOW) & (pl.col("variable") == "pacing_gain"))
    steps = runs(gain["time_s"].to_list(), [f"{value:g}" for value in gain["value"]])
    # From one probe to the next, within one stretch of ProbeBW.
    probes = [phase.begin_s for phase in steps if phase.state == "1.25"]
    steady = [phase for phase in each if phase.state == "ProbeBW"]
    cycles = [
        later - sooner
        for sooner, later in pairwise(probes)
        if any(phase.begin_s <= sooner and later <= phase.end_s for phase in steady)
    ]
    later = [
        phase for phase in steps if phase.begin_s > steady[0].begin_s and phase.state in ("1.25", "0.75", "1")
    ]
    order = {phase.state for phase in later}
    return {
        "gains": float(order == {"1.25", "0.75", "1"}),
        "cycle": float(np.median(cycles)),
        **_probe_rtt(each),
    }


def _probe_rtt(each: Sequence[Phase]) -> dict[str, float]:
    """From the end of one ProbeRTT to the next, and how long they take."""
    found = [phase for phase in each[:-1] if phase.state == "ProbeRTT"]
    between = [later.begin_s - sooner.end_s for sooner, later in pairwise(found)]
    return {"interval": float(np.mean(between)), "probe_rtt": float(np.mean([phase.length_s for phase in found]))}


_V = {"bbr": version_3, "bbr1": version_1}
_PACING, _WAIT = "pacing over CRUISE, +-1 %", "2 to 3 s, seen by ACKs"
_Law = tuple[str, tuple[float, float, float], str, str, str]
"""Case, expected value with its bounds, unit, clause, arithmetic."""
_LAWS: dict[str, dict[str, _Law]] = {
    "bbr": {
        "up": ("gain of UP", around(1.25, 0.01), "", f"{_V3} section 5.6.1", _PACING),
        "down": ("gain of DOWN", around(0.9, 0.01), "", f"{_V3} section 5.6.1", _PACING),
        "refill_gain": ("gain of REFILL", around(1.0, 0.01), "", f"{_V3} section 5.6.1", _PACING),
        "margin": (
            "pacing margin",
            (0.99, 0.985, 0.995),
            "",
            f"{_V3} section 2.5",
            "pacing of CRUISE over bw: 1 - 1 %",
        ),
        "least_wait": ("least wait", (2.0, 2.0, 3.0 + _RTT_S), "s", f"{_V3} section 5.3.3.8", _WAIT),
        "most_wait": ("most wait", (3.0, 2.0, 3.0 + _RTT_S), "s", f"{_V3} section 5.3.3.8", _WAIT),
        "refill": (
            "REFILL",
            (_RTT_S, _RTT_S, 1.5 * _RTT_S),
            "s",
            f"{_V3} section 5.3.3.3",
            "one round trip; up to half a BDP may wait in the queue",
        ),
        "interval": (
            "ProbeRTT gap",
            (5.0, 5.0, 5.0 + 2 * _RTT_S),
            "s",
            f"{_V3} section 5.3.4",
            "ProbeRTTInterval 5 s since the last sample of the minimum, seen by ACKs: 2 round trips at the most",
        ),
        "probe_rtt": (
            "ProbeRTT takes",
            (0.2 + _RTT_S / 2, 0.2, 0.2 + 2 * _RTT_S),
            "s",
            f"{_V3} section 5.3.4",
            "ProbeRTTDuration 200 ms from when the pipe is down, a round trip at the least, and that to get there",
        ),
    },
    "bbr1": {
        "gains": (
            "gains",
            (1.0, 1.0, 1.0),
            "",
            f"{_V1} section 4.3.4.2",
            "1 if they are 1.25, 0.75 and 1, and no others",
        ),
        "cycle": (
            "cycle of eight",
            (8 * _RTT_S, 7 * _RTT_S, 9.5 * _RTT_S),
            "s",
            f"{_V1} section 4.3.4",
            "8 phases of an RTprop; draining may end early (7), probing lasts until 1.25 BDP are in flight, and a "
            "phase is seen to end by ACKs",
        ),
        "interval": (
            "ProbeRTT gap",
            (10.0, 10.0, 10.0 + 10 * _RTT_S),
            "s",
            f"{_V1} section 4.1.2",
            "RTpropFilterLen 10 s since the last sample that was no larger than the minimum: until a probe "
            "fills the queue again, up to 8 phases of an RTprop later, and 2 for ACKs to tell",
        ),
        "probe_rtt": (
            "ProbeRTT takes",
            (0.2 + _RTT_S, 0.2, 0.2 + 3 * _RTT_S),
            "s",
            f"{_V1} section 4.3.5",
            "200 ms and a round trip, from when four packets are in flight",
        ),
    },
}
