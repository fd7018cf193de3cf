"""Trials in real time, of TCP and of QUIC: the outcomes and traces of the simulator, measured."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from thalweg import _native
from thalweg.catalogue import Entry
from thalweg.errors import RequestError
from thalweg.live.process import LiveProcess, LiveRequest
from thalweg.outcome import Description, Outcomes, Trial
from thalweg.scenario import Settings, pairs
from thalweg.trace import PACKETS, Trace

_Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class LiveTrial:
    """One trial, and how honest it was."""

    trial: Trial
    report: dict[str, Any]


@dataclass(frozen=True)
class LiveSeries:
    """Series of one trial: bytes in bins, by flow and by link."""

    every_s: float
    sent: list[list[int]]
    received: list[list[int]]
    capacity_: list[list[int]]

    def series(self, trial: int, flow: int) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None:
        """Length of a bin in seconds, and what a flow (by number) sent and received in each."""
        if trial != 0:
            return None
        return (
            self.every_s,
            np.array(self.sent[flow], dtype=np.uint64),
            np.array(self.received[flow], dtype=np.uint64),
        )

    def capacity(self, trial: int, link: int) -> npt.NDArray[np.uint64] | None:
        """What a link (by number) could have carried in each bin."""
        return np.array(self.capacity_[link], dtype=np.uint64) if trial == 0 else None


class LiveScenario:
    """A scenario whose flows are of the kernel's TCP (`kernel:cubic`) or of the QUIC stack (all others)."""

    def __init__(self, native: _native.Scenario, name: str, suite: str | None) -> None:
        self.description = Description.of(native, name, suite)

    @staticmethod
    def from_entry(entry: Entry, overrides: Settings = (), controllers: Settings = ()) -> LiveScenario:
        """Reads a scenario of the catalogue. Raises RequestError."""
        try:
            native = _native.Scenario.live_from_toml(
                entry.read(), str(entry.file), pairs(overrides), pairs(controllers)
            )
        except _native.ScenarioError as error:
            raise RequestError(str(error)) from None
        return LiveScenario(native, entry.name, entry.suite)

    @staticmethod
    def from_toml(text: str, name: str) -> LiveScenario:
        """Reads a scenario from the text of a file. Raises RequestError."""
        try:
            return LiveScenario(_native.Scenario.live_from_toml(text.encode(), name, [], []), name, None)
        except _native.ScenarioError as error:
            raise RequestError(str(error)) from None

    @property
    def toml(self) -> str:
        """The file as it runs."""
        return self.description.toml

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Per flow: name, controller, workload, start_s."""
        return self.description.flows

    @property
    def title(self) -> str:
        """What it is, for people."""
        return self.description.title

    def run(
        self, seed: int = 1, trace: bool = False, realtime: bool = False, bound: str | None = None
    ) -> LiveTrial:
        """One trial, in real time. Raises RequestError, and KeyboardInterrupt after Ctrl-C."""
        request = LiveRequest(self.description.toml, self.description.name, seed, realtime, bound)
        begin = os.times()
        process = LiveProcess(request, {"kind": "trial", "trace": trace})
        try:
            answer = process.answer()["trial"]
            process.close()
        except BaseException:
            process.kill()
            raise
        end = os.times()
        core_s = end.children_user + end.children_system - begin.children_user - begin.children_system
        outcomes = self._outcomes(answer["outcome"], answer["report"], seed, core_s)
        rows = answer["outcome"]["trace"]
        series = self._trace(rows, outcomes.links["link"].to_list()) if rows else None
        return LiveTrial(Trial(outcomes, series), answer["report"])

    def _outcomes(self, outcome: dict[str, Any], report: dict[str, Any], seed: int, core_s: float) -> Outcomes:
        head = {"trial": 0, "seed": seed}
        for flow in outcome["flows"]:
            if flow["error"]:
                raise RequestError(f"flow {flow['flow']} failed: {flow['error']}")
        calls = [dict(flow["media"]) for flow in outcome["flows"]]
        # A flow without a stream of media has no values in its columns.
        media = {column: None for call in calls for column in call}
        flows = [
            {**head, **{key: flow[key] for key in flow if key not in ("error", "media")}, **media, **call}
            for flow, call in zip(outcome["flows"], calls, strict=True)
        ]
        links = [
            {**head, **asked, **{key: value for key, value in done.items() if key != "name"}}
            for asked, done in zip(outcome["links"], report["links"], strict=True)
        ]
        trial = {
            **head,
            "end_s": outcome["end_s"],
            "events": sum(link["offered_packets"] for link in report["links"]),
            "packets": outcome["packets"],
            "overlap_s": outcome["overlap_s"],
            "jain": outcome["jain"],
            "core_s": core_s,
            "trace_hash": "",
        }
        requests = [{**head, **request} for request in outcome["requests"]]
        bins = outcome["series"]
        names = ("every_s", "sent", "received", "capacity")
        return Outcomes(
            self.description,
            _frame(flows, media),
            _frame(links),
            _frame([trial]),
            _frame(requests),
            LiveSeries(*(bins[name] for name in names)) if bins else None,
        )

    def _trace(self, rows: dict[str, Any], links: list[str]) -> Trace:
        def named(part: _Rows) -> _Rows:
            return [{**row, "flow": rows["names"][row["flow"]]} for row in part]

        senders = rows["senders"]
        at_links = [{**row, "link": links[row["link"]]} for row in rows["links"]]
        drops = [{**row, "link": links[row["link"]]} for row in named(rows["drops"])]
        return Trace(
            _frame(named(senders["flows"])).select(_FLOW_SERIES),
            pl.DataFrame(named(senders["variables"]), schema=_VARIABLES),
            _frame(at_links),
            pl.DataFrame(drops, schema=_DROPS),
            pl.DataFrame(named(senders["packets"]), schema=PACKETS),
        )


_FLOW_SERIES = (
    "time_s",
    "flow",
    "event",
    "window_bytes",
    "in_flight_bytes",
    "smoothed_rtt_s",
    "latest_rtt_s",
    "pacing_bps",
    "delivery_bps",
    "delivered_bytes",
    "state",
)
_VARIABLES = {"time_s": pl.Float64, "flow": pl.String, "variable": pl.String, "value": pl.Float64}
_DROPS = {"time_s": pl.Float64, "link": pl.String, "flow": pl.String, "reason": pl.String}


def _frame(rows: _Rows, more: Iterable[str] = ()) -> pl.DataFrame:
    """A table of rows; a number that did not come to be is not a number, as in the tables of the simulator.

    `more` are columns of numbers whose names do not tell.
    """
    keys = rows[0] if rows else {}
    known = {*_SHARES, *more}
    numbers = {key: pl.Float64 for key in keys if key.endswith(("_s", "_bps")) or key in known}
    seeds = {"seed": pl.UInt64} if "seed" in keys else {}
    table = pl.DataFrame(rows, schema_overrides={**numbers, **seeds}, infer_schema_length=None)
    return table.with_columns(pl.col(list(numbers)).fill_null(float("nan")))


_SHARES = ("share", "jain", "utilisation", "requested_loss", "realised_loss")
