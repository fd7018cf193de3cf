"""Probe timeouts and their back-off, on a path that fails.

A server sends a frame each 100 ms, one packet each, and the path stops before its last. Nothing is acknowledged
from then on, so that all that is sent after the last frame are probes. The variation of the RTT is not in
traces: on a path without queues it has decayed below a quarter of a millisecond, where kGranularity takes its
place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from thalweg.engine.scenario_text import nanoseconds, scenario_text
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity, TrialRecord, around
from thalweg.experiments.studies.laws.scenarios import header
from thalweg.experiments.studies.runner.parameters import file_name
from thalweg.judging.statistics.interval import Values

LAW = "timeout"
_RTT_S = 0.04
_MAX_ACK_DELAY_S = 0.025
_GRANULARITY_S = 0.001
_FRAMES, _GAP_S = 50, 0.1
_BACKOFFS = 5
"""Doublings that are looked at."""
_TOLERANCE = 0.01
"""The tolerance of a timeout: the time that a packet takes to leave, and noise of wake-ups."""
_FLOW = "main"


def experiments(controllers: Sequence[str], stacks: Sequence[str], trials: int) -> Iterator[Experiment]:
    """Every controller on every stack."""
    for stack in stacks:
        for controller in controllers:
            yield experiment(controller, stack, trials)


def experiment(controller: str, stack: str, trials: int) -> Experiment:
    """One controller on a path that fails."""
    # Frames count from when the client is connected, a round trip and up to another of noise after the start.
    dead_s = _FRAMES * _GAP_S - 0.5 * _GAP_S
    length_s = dead_s + (2**_BACKOFFS + 2) * 0.1
    name = file_name("timeout", controller, stack)
    frames = {
        "name": "frames",
        "per_second": round(1 / _GAP_S),
        "duration": nanoseconds(_FRAMES * _GAP_S),
        "frame": "1000 B",
    }
    keys = header(name, length_s, 0.001) | {
        "path": {"rate": "1 Gbps", "rtt": nanoseconds(_RTT_S), "buffer": "1 MB"},
        "path.change": [{"at": nanoseconds(dead_s), "rate": "0 bps"}],
        "flow": [{"name": _FLOW, "controller": controller, "stack": stack, "media": [frames]}],
    }

    def numbers(record: TrialRecord) -> dict[str, float]:
        assert record.trace is not None
        return timeouts(record.trace, dead_s)

    def quantity(case: str, expected: float, arithmetic: str) -> Quantity:
        bounds = around(expected, _TOLERANCE)
        return Quantity(LAW, "RFC 9002 section 6.2.1", controller, stack, case, *bounds, "", arithmetic)

    quantities = {
        "first": quantity("first", 1.0, "over smoothed RTT + max(4 rttvar, 1 ms) + 25 ms, +-1 %"),
        "backoff": quantity("back-off", 2.0, "each timeout over the one before it, the mean; +-1 %"),
        "probes": Quantity(
            LAW,
            "RFC 9002 section 6.2.4: at least one packet, and up to two",
            controller,
            stack,
            "packets each",
            2.0,
            1.0,
            2.0,
            "packets",
            "mean over the timeouts",
        ),
    }
    return Experiment(name, scenario_text(keys), trials, True, numbers, quantities)


def timeouts(trace: Trace, dead_s: float) -> dict[str, float]:
    """The first timeout over what it is to be, the mean ratio of successive ones, and packets for each."""
    sent: Values = trace.packets.filter((pl.col("event") == "sent") & (pl.col("flow") == _FLOW))[
        "time_s"
    ].to_numpy()
    last = sent[sent >= dead_s]
    # Packets that leave within a tenth of the least timeout belong to one.
    moments = last[np.concatenate([[True], np.diff(last) > _GRANULARITY_S + _MAX_ACK_DELAY_S / 10])]
    counts = np.diff(np.append(np.searchsorted(last, moments), len(last)))
    gaps = np.diff(moments)[: _BACKOFFS + 1]
    known = trace.flows.filter((pl.col("flow") == _FLOW) & (pl.col("time_s") <= moments[0]))
    period_s = float(known["smoothed_rtt_s"][-1]) + _GRANULARITY_S + _MAX_ACK_DELAY_S
    return {
        "first": float(gaps[0] / period_s),
        "backoff": float((gaps[1:] / gaps[:-1]).mean()),
        "probes": float(counts[1 : _BACKOFFS + 1].mean()),
    }
