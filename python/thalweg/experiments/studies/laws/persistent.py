"""Persistent congestion: an outage that loses everything for long enough collapses the window.

A flow is in slow start on a path that is never full, and from then on every packet of data is lost; its
acknowledgements arrive. Packets leave for a round trip more, then probe timeouts follow at 1, 3 and 7 timeouts
after the last of them (RFC 9002 section 6.2.1). An outage that ends two timeouts after the last packet has lost
packets over a round trip and one timeout, which is less than three timeouts: the window is reduced once. One that
ends five timeouts after it has lost packets over a round trip and three timeouts: the window falls to its minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from thalweg.engine.scenario_text import nanoseconds, scenario_text
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity, TrialRecord, around
from thalweg.experiments.studies.laws.scenarios import PACKET, bulk, header
from thalweg.experiments.studies.runner.parameters import file_name

LAW = "outages"
KEPT = {"reno": 0.5, "cubic": 0.7}
"""What a loss leaves of the window (RFC 9002 section 7.3.2, RFC 9438 section 4.6). Others have no such law."""
_RTT_S = 0.04
_TIMEOUT_S = _RTT_S + 0.001 + 0.025
"""smoothed RTT + kGranularity + max_ack_delay (section 6.2.1): without queues the variation of the RTT decays."""
_DEAD_S = 0.3
"""The window is then far below the bandwidth-delay product, 5 MB."""
_MINIMUM_PACKETS = 2
"""kMinimumWindow (section 7.2)."""
_TOLERANCE = 0.01
_FLOW = "main"


def experiments(controllers: Sequence[str], stacks: Sequence[str], trials: int) -> Iterator[Experiment]:
    """Both outages for every controller that has the law, on every stack."""
    for stack in stacks:
        for controller in controllers:
            if controller in KEPT:
                yield experiment(controller, stack, trials, is_long=False)
                yield experiment(controller, stack, trials, is_long=True)


def experiment(controller: str, stack: str, trials: int, is_long: bool) -> Experiment:
    """One controller and one outage."""
    outage_s = _RTT_S + (5 if is_long else 2) * _TIMEOUT_S
    end_s = _DEAD_S + outage_s
    case = f"{1e3 * outage_s:.0f} ms lost"
    name = file_name("persistent", controller, stack, "long" if is_long else "short")
    keys = header(name, end_s + 1.0, 0.001) | {
        "path": {"rate": "1 Gbps", "rtt": nanoseconds(_RTT_S), "buffer": "10 MB"},
        "path.change": [
            {"at": nanoseconds(_DEAD_S), "loss": "100 %", "up_loss": "0 %"},
            {"at": nanoseconds(end_s), "loss": "0 %"},
        ],
        "flow": [bulk(_FLOW, controller, stack)],
    }

    def numbers(record: TrialRecord) -> dict[str, float]:
        assert record.trace is not None
        return windows(record.trace, _DEAD_S + _RTT_S)

    if is_long:
        source = "RFC 9002 section 7.6.2: the window MUST be reduced to kMinimumWindow"
        arithmetic = "2 packets, less what the ACK adds; losses span a round trip and 3 timeouts, more than 3"
        number, expected, unit = "packets", float(_MINIMUM_PACKETS), "packets"
    else:
        source = "RFC 9002 section 7.6.1"
        arithmetic = "one reduction; losses span a round trip and 1 timeout, less than 3"
        number, expected, unit = "kept", KEPT[controller], ""
    bounds = around(expected, _TOLERANCE)
    quantity = Quantity(LAW, source, controller, stack, case, *bounds, unit, arithmetic, always=True)
    return Experiment(name, scenario_text(keys), trials, True, numbers, {number: quantity})


def windows(trace: Trace, silent_s: float) -> dict[str, float]:
    """The least window after the last acknowledgement before an outage: in packets, and over the window then.

    The ACK that tells of the losses first sets the window to its minimum and then, in slow start again, adds what
    it acknowledges (RFC 9002 sections A.7, B.5 and B.8), so these bytes are not in the packets.
    """
    flow = trace.flows.filter(pl.col("flow") == _FLOW)
    times, window = flow["time_s"].to_numpy(), flow["window_bytes"].to_numpy()
    silent = int(np.searchsorted(times, silent_s, side="right"))
    least = silent + int(window[silent:].argmin())
    delivered = flow["delivered_bytes"].to_numpy()
    acknowledged = float(delivered[least] - delivered[least - 1])
    return {
        "packets": (float(window[least]) - acknowledged) / PACKET,
        "kept": float(window[least]) / float(window[silent - 1]),
    }
