"""The average window against the loss rate, and bytes in flight against the window.

A flow on a path that is never full, with independent random loss. Its window is averaged over time from a fifth
of the trial on: slow start ends with the first loss, after about 1/p packets of some 100/p or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity, TrialRecord, around
from thalweg.experiments.studies.laws.scenarios import PACKET, bulk, header, path
from thalweg.experiments.studies.laws.window_law import average_window, cubic_table, reno_table
from thalweg.experiments.studies.runner.parameters import file_name

LAW = "window"
IN_FLIGHT = "in flight"
TOLERANCE = 0.1
"""The tolerance of the law: it counts round trips, where a sender counts packets and ACKs."""
FEWEST = 20.0
"""Packets of a window from which on the law is judged: below, a packet more or less is more than half the
tolerance."""
_FEW = (
    "a law of round trips does not know packets: computed packet by packet, counting whole windows of acked "
    "bytes (RFC 9002 section 7.3.3) alone takes half a packet from Reno"
)
_PROBES = "probes may exceed the window (RFC 9002 section 7.5): windows of a dozen packets meet probe timeouts"
_SOURCES = {
    "reno": "RFC 9002 section 7.3.3; RFC 5348 section 3.1; Mathis et al. 1997",
    "cubic": "RFC 9438 sections 4.3 and 5.1, tables 1 and 2",
}
_FLOW = "main"


def experiments(
    points: Sequence[tuple[float, float, int]], stacks: Sequence[str], trials: int
) -> Iterator[Experiment]:
    """For each point (loss rate, RTT in seconds, losses in a trial), Reno and CUBIC on each stack."""
    for loss, rtt_s, losses in points:
        for controller in _SOURCES:
            for stack in stacks:
                yield experiment(controller, stack, loss, rtt_s, losses, trials)


def experiment(controller: str, stack: str, loss: float, rtt_s: float, losses: int, trials: int) -> Experiment:
    """One controller at one loss rate."""
    window = average_window(controller, loss, rtt_s)
    packets = losses / loss
    duration_s = packets / window * rtt_s
    name = file_name("window", controller, stack, f"{loss:g}", f"{rtt_s * 1e3:g}ms")

    def numbers(record: TrialRecord) -> dict[str, float]:
        assert record.trace is not None
        return {
            "window": mean_window(record.trace.flows, duration_s / 5),
            "over": overshoot(record.trace.flows, record.trace.packets),
        }

    table = reno_table(loss) if controller == "reno" else cubic_table(loss, rtt_s)
    case = f"{loss:.2%}, {rtt_s * 1e3:g} ms".replace("%", " %")
    judged = window >= FEWEST
    quantities = {
        "window": Quantity(
            LAW,
            _SOURCES[controller],
            controller,
            stack,
            case,
            *around(window, TOLERANCE),
            "packets",
            f"round by round with independent losses {window:.1f}; RFC 9438 prints {table:.0f} for periodic loss; "
            f"+-{TOLERANCE:.0%}",
            judged=judged,
            reason="" if judged else _FEW,
            compared=True,
        ),
        "over": Quantity(
            IN_FLIGHT,
            "RFC 9002 section 7: MUST NOT send if bytes in flight would exceed the window",
            controller,
            stack,
            case,
            0.0,
            -1.0,
            0.0,
            "packets",
            "the most by which bytes in flight exceed the window at a sending: 0 at most, and a flow that has "
            "data comes within a packet of it",
            always=True,
            judged=judged,
            reason="" if judged else _PROBES,
        ),
    }
    keys = header(name, duration_s, rtt_s) | path(100e9, rtt_s, "1 GB", loss=loss)
    keys |= {"flow": [bulk(_FLOW, controller, stack)]}
    return Experiment(name, scenario_text(keys), trials, True, numbers, quantities)


def mean_window(flows: pl.DataFrame, begin_s: float) -> float:
    """The mean over time of the window from `begin_s` on, in full packets.

    >>> flows = pl.DataFrame({"time_s": [0.0, 1.0, 3.0], "window_bytes": [1440, 2880, 0]})
    >>> mean_window(flows, 0.0) == (1 * 1 + 2 * 2) / 3
    True
    """
    late = flows.filter(pl.col("time_s") >= begin_s)
    time_s, window = late["time_s"].to_numpy(), late["window_bytes"].to_numpy()
    spans = np.diff(time_s)
    return float((window[:-1] * spans).sum() / spans.sum() / PACKET)


def overshoot(flows: pl.DataFrame, packets: pl.DataFrame) -> float:
    """The most by which bytes in flight are above the window right after a packet was sent, in full packets.

    They are the bytes of the last sample, and what was sent since. Before the first packet is acknowledged they
    count bytes of the handshake, whose end is not a sample: the first flight is left out.
    """
    first_s = packets.filter(pl.col("event") == "acknowledged")["time_s"].min()
    flows = flows.filter(pl.col("time_s") >= first_s)
    sent = packets.filter(pl.col("event") == "sent").select("time_s", total=pl.col("size_bytes").cum_sum())
    samples = flows.select("time_s", "in_flight_bytes", "window_bytes").join_asof(sent, on="time_s")
    known = sent.join_asof(samples.rename({"total": "then"}), on="time_s")
    in_flight = known["in_flight_bytes"] + known["total"] - known["then"].fill_null(0)
    return float((in_flight - known["window_bytes"]).max() or 0) / PACKET  # type: ignore[arg-type]
