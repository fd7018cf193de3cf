"""What `loopback` measures: transfers over sockets of this machine, and the row of a variant."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from thalweg.base.errors import RequestError
from thalweg.experiments.studies.loopback.parameters import LARGEST, Cell
from thalweg.experiments.studies.runner.result import Row
from thalweg.realtime.quic import Identity, QuicError, QuicServer, Request, ServerOptions, fetch

_PILOT = 2_000_000
"""Bytes of the first attempt to find out how fast a variant is."""
_TELLING_S = 0.25
"""A transfer that takes this long tells the rate well enough to choose the size of the others."""


@dataclass(frozen=True)
class Run:
    """One transfer."""

    goodput_bps: float
    packets_sent: int
    packets_lost: int
    mean_rtt_s: float
    elapsed_s: float

    @property
    def loss(self) -> float:
        """Share of packets that were declared lost."""
        return self.packets_lost / max(self.packets_sent, 1)


@dataclass
class VariantRuns:
    """One variant: the bytes of each of its runs, and the runs in the order of the rounds."""

    size: int
    runs: list[Run] = field(default_factory=list)


def row(cell: Cell, of: VariantRuns, cubic: Sequence[Run]) -> Row:
    """The row of a variant, compared with the runs of CUBIC."""
    runs = of.runs
    return {
        "variant": cell.name,
        "controller": cell.controller,
        "goodput_bps": median(run.goodput_bps for run in runs),
        "lowest_bps": min(run.goodput_bps for run in runs),
        "highest_bps": max(run.goodput_bps for run in runs),
        "to_cubic": ratio(runs, cubic),
        "loss": loss(runs),
        "packets_lost": sum(run.packets_lost for run in runs),
        "packets_sent": sum(run.packets_sent for run in runs),
        "mean_rtt_s": median(run.mean_rtt_s for run in runs),
        "bytes_per_run": of.size,
    }


def ratio(runs: Sequence[Run], others: Sequence[Run]) -> float:
    """The median over the rounds of a goodput over another of the same round."""
    return median(run.goodput_bps / other.goodput_bps for run, other in zip(runs, others, strict=True))


def loss(runs: Sequence[Run]) -> float:
    """Share of the packets of all runs that were declared lost."""
    return sum(run.packets_lost for run in runs) / max(sum(run.packets_sent for run in runs), 1)


def transfer(identity: Identity, controller: str, size: int) -> Run:
    """One download over 127.0.0.1. Raises RequestError."""
    server = QuicServer("127.0.0.1", 0, identity, ServerOptions(controller, idle_s=30))
    thread = threading.Thread(target=server.serve, args=(lambda report, trace: None,))
    thread.start()
    try:
        address, port = server.address
        wanted = Request(address, port, server.fingerprint, "download", size, "cubic", idle_s=30)
        summary = fetch(wanted).summary
    except QuicError as error:
        raise RequestError(f"a transfer with {controller} has failed: {error}") from None
    finally:
        server.stop()
        thread.join()
    sender = summary["server_sender"]
    return Run(
        summary["goodput_bps"],
        sender["packets_sent"],
        sender["packets_lost"],
        sender["mean_rtt_s"],
        summary["elapsed_s"],
    )


def pilot_size(identity: Identity, controller: str, run_s: float) -> int:
    """The bytes that a variant moves in about `run_s`."""
    size = _PILOT
    while True:
        pilot = transfer(identity, controller, size)
        if pilot.elapsed_s >= min(_TELLING_S, run_s) or size >= LARGEST:
            return max(min(round(pilot.goodput_bps / 8 * run_s), LARGEST), _PILOT // 10)
        size *= 8
