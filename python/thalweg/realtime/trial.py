"""Trials in real time, of TCP and of QUIC: the outcomes and traces of the simulator, measured."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.base.errors import RealTimeError, ScenarioError
from thalweg.engine.catalogue import Entry
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.outcome import Description, FlowDescription, Outcomes, Trial
from thalweg.engine.scenario import Controllers, Scenario, Settings, bound, definitions_of, pairs
from thalweg.engine.trace import Trace
from thalweg.realtime.process import LiveProcess, LiveRequest
from thalweg.realtime.report import Report


@contextmanager
def _asked(process: LiveProcess, every_s: float | None) -> Iterator[None]:
    """Asks a process for statistics again and again, until it has answered; None: never."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(every_s):
            process.ask()

    asking = threading.Thread(target=ask, daemon=True)
    if every_s is not None:
        asking.start()
    try:
        yield
    finally:
        ended.set()
        if every_s is not None:
            asking.join()


@dataclass(frozen=True)
class Recording:
    """What is kept of a trial in addition to its outcome."""

    trace: bool = False
    logs: Path | None = None
    """An existing folder for what programs say, in a file of each end of a flow."""
    capture: Path | None = None
    """A file for the packets, as pcapng."""

    def task(self, trace: bool) -> dict[str, Any]:
        """What the process in real time is asked."""
        files = {"logs": self.logs, "capture": self.capture}
        named = {name: None if path is None else str(path.absolute()) for name, path in files.items()}
        return {"kind": "trial", "trace": trace or self.trace, **named}


@dataclass(frozen=True)
class LiveTrial:
    """One trial, and its report."""

    trial: Trial
    report: dict[str, Any]


class LiveScenario:
    """A scenario whose flows are of the kernel's TCP (`kernel:cubic`) or of the QUIC stack (all others)."""

    def __init__(self, native: _native.Scenario, name: str, suite: str | None, resolver: Resolver) -> None:
        self._native = native
        self.definitions = definitions_of(native, resolver)
        """Its controllers in Python, by the texts that name them."""
        self.description = Description.of(native, name, suite, self.definitions)

    @staticmethod
    def from_entry(
        entry: Entry, overrides: Settings = (), controllers: Controllers = (), resolver: Resolver | None = None
    ) -> LiveScenario:
        """Reads a scenario of the catalogue. Raises RequestError."""
        resolver = resolver or Resolver()
        controllers = Scenario.with_candidate(entry, overrides, controllers)
        try:
            native = _native.Scenario.live_from_toml(
                entry.read(), entry.source_name, pairs(overrides), bound(controllers, resolver), resolver
            )
        except _native.ScenarioError as error:
            raise ScenarioError(str(error)) from None
        return LiveScenario(native, entry.name, entry.suite, resolver)

    @staticmethod
    def from_toml(text: str, name: str) -> LiveScenario:
        """Reads a scenario from the text of a file. Raises RequestError."""
        resolver = Resolver()
        try:
            native = _native.Scenario.live_from_toml(text.encode(), name, [], [], resolver)
        except _native.ScenarioError as error:
            raise ScenarioError(str(error)) from None
        return LiveScenario(native, name, None, resolver)

    @property
    def toml(self) -> str:
        """The file as it runs."""
        return self.description.toml

    @property
    def flows(self) -> list[FlowDescription]:
        """Per flow: name, controller, workload, start_s."""
        return self.description.flows

    @property
    def has_programs(self) -> bool:
        """Whether it runs commands: the ends of a flow with `[flow.command]`."""
        return any(flow["controller"].startswith("command:") for flow in self.flows)

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.description.name

    @property
    def title(self) -> str:
        """Title, for people."""
        return self.description.title

    def run(
        self,
        seed: int = 1,
        trace: bool = False,
        realtime: bool = False,
        bound: str | None = None,
        on_statistics: Callable[[Report], None] | None = None,
        every_s: float = 1.0,
        recording: Recording | None = None,
    ) -> LiveTrial:
        """One trial, in real time; `on_statistics` hears reports so far, each `every_s` seconds.

        `recording` says what else is kept. Raises RequestError, and KeyboardInterrupt after Ctrl-C.
        """
        kept = recording or Recording()
        request = LiveRequest(self.description.toml, self.description.name, seed, realtime, bound)
        begin = os.times()
        process = LiveProcess(request, kept.task(trace), on_statistics=on_statistics)
        try:
            with _asked(process, every_s if on_statistics else None):
                answer = process.answer()["trial"]
            if answer["failure"]:
                raise RealTimeError(answer["failure"])
            measured = process.line()
            process.close()
        except BaseException:
            process.kill()
            raise
        end = os.times()
        core_s = end.children_user + end.children_system - begin.children_user - begin.children_system
        native = self._native.measured(measured, core_s)
        outcomes = Outcomes.of(native.outcomes, self.description)
        # What else the emulator says about each link, in the order of the table.
        more = pl.DataFrame(answer["report"]["links"]).select(pl.exclude("name", *outcomes.links.columns))
        outcomes = replace(outcomes, links=outcomes.links.hstack(more))
        series = Trace.of(native.trace) if native.trace else None
        return LiveTrial(Trial(outcomes, series), answer["report"])
