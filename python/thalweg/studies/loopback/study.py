"""How fast controllers are where a round trip takes less than the timers of the host: bulk data over 127.0.0.1.

The blog of C4 (January 2026) found that C4 was slow there, why, and what helps: a floor of 1 ms under the
nominal max RTT, since the window is made of it, and pacing a little above the nominal rate, since waiting always
takes longer than what was asked for. C4 as it is has both; its options take them away again.

A server on one thread sends to a client on another, over sockets of the same kind as `thalweg quic`. Variants take
turns, so that what else the machine does meets all of them; each run moves what its variant moves in `run_s`, or a
size that is the same for all (the blog: 10 GB), as far as the variant gets in `run_s`. Contention for the
processor, which the blog suspects behind its numbers, can be added (`contention.py`).
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from thalweg.errors import RequestError
from thalweg.progress import Progress, silent
from thalweg.quantity import text
from thalweg.quic import Identity, QuicError, QuicServer, Request, ServerOptions, fetch
from thalweg.studies.loopback.checks import checks, findings
from thalweg.studies.loopback.contention import contention
from thalweg.studies.runner.result import StudyResult

SOURCE = "blog of C4, January 2026 (loopback)"

VARIANTS = {
    "c4-before": "c4:rtt_floor=off,submillisecond_bonus=0",
    "c4-floor": "c4:submillisecond_bonus=0",
    "c4-1/32": "c4:submillisecond_bonus=1/32",
    "c4-3/64": "c4",
    "c4-1/16": "c4:submillisecond_bonus=1/16",
    "cubic": "cubic",
    "bbr": "bbr",
}
"""What the study compares: name in its table, and controller."""

_PILOT = 2_000_000
"""Bytes of the first attempt to find out how fast a variant is."""
_TELLING_S = 0.25
"""A transfer that takes this long tells the rate well enough to choose the size of the others."""
_LARGEST = 10**11


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
class Loopback:
    """What a study has measured."""

    result: StudyResult
    runs: dict[str, list[Run]] = field(default_factory=dict)
    """Of each variant, in the order of the rounds."""
    complete: bool = True

    def save(self, folder: Path, on_progress: Progress = silent) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.loopback.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


def run(
    rounds: int,
    run_s: float,
    on_progress: Progress = silent,
    size: int | None = None,
    load: int = 0,
) -> Loopback:
    """Runs the study; Ctrl-C keeps the rounds that are complete. Raises RequestError.

    With a `size`, each run moves so many bytes, but no more than its variant moves in `run_s`. `load` processes
    compete for the processor all the while.
    """
    preset = f"{run_s:g} s a run" if size is None else f"{text(size, 'B')} a run, at most {run_s:g} s"
    preset += f", {load} busy processes" if load else ""
    result = StudyResult("loopback", "Throughput over 127.0.0.1", SOURCE, preset, rounds, 0)
    with contention(load):
        return _run(result, run_s, _LARGEST if size is None else size, on_progress)


def _run(result: StudyResult, run_s: float, most: int, on_progress: Progress) -> Loopback:
    rounds = result.trials
    wall, core = time.perf_counter(), time.process_time()
    study = Loopback(result, {name: [] for name in VARIANTS})
    identity = Identity.make()
    sizes: dict[str, int] = {}
    total = len(VARIANTS) * (rounds + 1)
    try:
        for number in range(rounds + 1):
            measured: dict[str, Run] = {}
            for place, (name, controller) in enumerate(VARIANTS.items()):
                on_progress(f"{name}, run {number}", number * len(VARIANTS) + place, total)
                if number == 0:
                    sizes[name] = min(_size(identity, controller, run_s), most)
                else:
                    measured[name] = transfer(identity, controller, sizes[name])
            for name, one in measured.items():
                study.runs[name].append(one)
    except KeyboardInterrupt:
        study.complete = False
    result.wall_s, result.core_s = time.perf_counter() - wall, time.process_time() - core
    done = {name: runs for name, runs in study.runs.items() if runs}
    result.trials = len(next(iter(done.values()), []))
    result.rows = [
        {
            "variant": name,
            "controller": VARIANTS[name],
            "goodput_bps": median(one.goodput_bps for one in runs),
            "lowest_bps": min(one.goodput_bps for one in runs),
            "highest_bps": max(one.goodput_bps for one in runs),
            "to_cubic": ratio(runs, done["cubic"]),
            "loss": loss(runs),
            "packets_lost": sum(one.packets_lost for one in runs),
            "packets_sent": sum(one.packets_sent for one in runs),
            "mean_rtt_s": median(one.mean_rtt_s for one in runs),
            "bytes_per_run": sizes[name],
        }
        for name, runs in done.items()
    ]
    if study.complete:
        goodputs = {name: [one.goodput_bps for one in runs] for name, runs in done.items()}
        losses = {name: [one.loss for one in runs] for name, runs in done.items()}
        result.checks = checks(goodputs, losses)
        result.findings = findings(goodputs, losses)
    return study


def ratio(runs: list[Run], others: list[Run]) -> float:
    """The median over the rounds of a goodput over another of the same round."""
    return median(one.goodput_bps / other.goodput_bps for one, other in zip(runs, others, strict=True))


def loss(runs: list[Run]) -> float:
    """Share of the packets of all runs that were declared lost."""
    return sum(one.packets_lost for one in runs) / max(sum(one.packets_sent for one in runs), 1)


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


def _size(identity: Identity, controller: str, run_s: float) -> int:
    """The bytes that a variant moves in about `run_s`."""
    size = _PILOT
    while True:
        pilot = transfer(identity, controller, size)
        if pilot.elapsed_s >= min(_TELLING_S, run_s) or size >= _LARGEST:
            return max(min(round(pilot.goodput_bps / 8 * run_s), _LARGEST), _PILOT // 10)
        size *= 8
