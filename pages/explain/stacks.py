"""Stacks that others wrote, played as libraries, and the controllers that their packets are named as.

A library does not say which packets were acknowledged or declared lost. On a path that keeps the order of packets
both follow from outside: when a packet arrived at the other end, and when what that end sent next came back; and
RFC 9002 section 6.1, by whose thresholds all of these stacks declare losses. `tests/foreign/test_from_outside.py`
holds that against the stack of the engine, which says both.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from pages.explain.measure import FLOW, Case
from pages.explain.paths import make
from pages.made import ROOT
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.file import limits_and_who
from thalweg.foreign.inference.who import Who
from thalweg.foreign.reading.view import Counts, Floats

_HEADERS = 28
"""IPv4 and UDP, which the sizes of packets do not have."""
_REORDERING = 3
"""RFC 9002 section 6.1.1."""
_THRESHOLD = 9 / 8
"""RFC 9002 section 6.1.2."""
_COLUMNS = ("time_s", "flow", "event", "first_packet", "last_packet", "size_bytes")
_SOON_S = 1e-6


@dataclass(frozen=True)
class Played:
    """A controller of a stack, and the families of ours that it is of; none if ours has no such version."""

    stack: str
    controller: str
    families: tuple[str, ...]

    @property
    def library(self) -> str:
        """What a scenario calls the stack."""
        return self.stack if self.stack == "quic" else str(ROOT / "target" / "stacks" / f"lib{self.stack}.so")

    @property
    def is_built(self) -> bool:
        """Whether it can be played here."""
        return self.stack == "quic" or Path(self.library).exists()


PLAYED = (
    Played("quic", "noq:cubic", ("cubic",)),
    Played("quic", "noq:newreno", ("reno",)),
    Played("quic", "noq:bbr3", ("bbr",)),
    Played("quinn", "cubic", ("cubic",)),
    Played("quinn", "new-reno", ("reno",)),
    Played("quinn", "bbr", ("bbr1",)),
    Played("ngtcp2", "cubic", ("cubic",)),
    Played("ngtcp2", "reno", ("reno",)),
    Played("ngtcp2", "bbr", ("bbr1",)),
    Played("ngtcp2", "bbr2", ()),
    Played("quiche", "cubic", ("cubic",)),
    Played("quiche", "reno", ("reno",)),
    Played("quiche", "bbr2", ()),
    Played("aioquic", "cubic", ("cubic",)),
    Played("aioquic", "reno", ("reno",)),
)
"""BBR of quinn and of ngtcp2 is the first version; bbr2 of ngtcp2 and of quiche is the second, none of ours."""
MOST_BPS = 10e6
"""Paths that are faster are left out: a stack in Python takes its time."""


def seeds(first: int, count: int) -> list[int]:
    """The first seeds, from one on, with such a path."""
    slow = (seed for seed in itertools.count(first) if make("wired", seed).rate_bps <= MOST_BPS)
    return list(itertools.islice(slow, count))


def case(of: Played, seed: int) -> Case:
    """One transfer over a path of its own, as the engine knows it."""
    made = make("wired", seed, of.controller)
    keys = {f"flow.{FLOW}.stack": of.library, "allow_unseeded": "true"}
    trace = Scenario.from_toml(made.text, made.kind, keys).run(seed, trace=True).trace
    assert trace is not None, "asked for"
    return Case(made, trace)


def named(of: Played, seed: int) -> Who:
    """Who its sender seems to be, only from its packets."""
    return limits_and_who(outside(case(of, seed)).packets())[1]


def outside(of: Case) -> Case:
    """The case with acknowledgements and losses as one sees them from outside."""
    sent = of.trace.packets.filter((pl.col("flow") == FLOW) & (pl.col("event") == "sent")).sort("first_packet")
    left, sizes = sent["time_s"].to_numpy(), sent["size_bytes"].to_numpy()
    arrived = _arrivals(of, left, sizes)
    came = np.unique(of.trace.flows.filter(pl.col("flow") == FLOW)["time_s"].to_numpy())
    # What comes back was half a round trip on its way, and says what had arrived when it left.
    by = np.searchsorted(came - of.made.rtt_s / 2, arrived + _SOON_S)
    acked = np.append(came, np.inf)[np.where(np.isfinite(arrived), by, came.size)]
    lost = _losses(left, acked)
    parts = [sent.select(_COLUMNS)]
    for event, times in (("acknowledged", acked), ("lost", lost)):
        numbers = np.flatnonzero(np.isfinite(times))
        rows = sent[numbers].select(_COLUMNS)
        parts.append(rows.with_columns(time_s=pl.Series(times[numbers]), event=pl.lit(event)))
    # At one instant, answers come before what they release.
    order = pl.col("event").replace_strict({"acknowledged": 0, "lost": 1, "sent": 2}, return_dtype=pl.Int8)
    packets = pl.concat(part.with_columns(pl.col("event").cast(pl.String)) for part in parts)
    return replace(of, trace=replace(of.trace, packets=packets.sort("time_s", order, "first_packet")))


def _arrivals(of: Case, left: Floats, sizes: Counts) -> Floats:
    """When each packet arrived at the other end, in the order in which they left; infinite if it was dropped."""
    drops = of.trace.drops.filter((pl.col("flow") == FLOW) & (pl.col("link") == "down"))
    reasons = drops["reason"].cast(pl.String)
    is_gone = np.zeros(left.size, bool)
    # A full queue drops the last of those that leave at one instant.
    times, counts = np.unique(drops.filter(reasons == "queue")["time_s"].to_numpy(), return_counts=True)
    for time, count in zip(times, counts, strict=True):
        end = int(np.searchsorted(left, time + _SOON_S))
        is_gone[end - count : end] = True
    took = (sizes + _HEADERS) * 8 / of.made.rate_bps
    ends, free = np.full(left.size, np.inf), 0.0
    for place in np.flatnonzero(~is_gone):
        free = ends[place] = max(free, left[place]) + took[place]
    for time in drops.filter(reasons == "loss")["time_s"].to_numpy():
        ends[int(np.argmin(np.abs(ends - time)))] = np.inf
    return np.asarray(ends + of.made.rtt_s / 2)


def _losses(left: Floats, acked: Floats) -> Floats:
    """When each packet is declared lost: by the third that was sent after it, or by an older one after a time."""
    lost = np.full(left.size, np.inf)
    best = np.minimum.accumulate(acked[::-1])[::-1]
    for place in np.flatnonzero(~np.isfinite(acked)):
        third = best[place + _REORDERING] if place + _REORDERING < left.size else np.inf
        later = np.flatnonzero(np.isfinite(acked[place + 1 : place + _REORDERING])) + place + 1
        waited = acked[later] if later.size else np.zeros(0)
        slow = [
            max(time, left[place] + _THRESHOLD * (time - left[one]))
            for one, time in zip(later, waited, strict=True)
        ]
        lost[place] = min([third, *slow])
    return lost
