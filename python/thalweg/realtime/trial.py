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
from thalweg.engine.scenario import Controllers, Settings, bound, definitions_of, pairs
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


def _files(**named: Path | None) -> dict[str, str | None]:
    """Files and folders for the process in real time."""
    return {name: None if path is None else str(path.absolute()) for name, path in named.items()}


@dataclass(frozen=True)
class LiveTrial:
    """One trial, and its report."""

    trial: Trial
    report: dict[str, Any]


class LiveScenario:
    """A scenario whose flows are of the kernel's TCP (`kernel:cubic`) or of the QUIC stack (all others)."""

    def __init__(self, native: _native.Scenario, name: str, suite: str | None, resolver: Resolver) -> None:
        self._native = native
        self.description = Description.of(native, name, suite, definitions_of(native, resolver))

    @staticmethod
    def from_entry(entry: Entry, overrides: Settings = (), controllers: Controllers = ()) -> LiveScenario:
        """Reads a scenario of the catalogue. Raises RequestError."""
        resolver = Resolver()
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
        logs: Path | None = None,
        capture: Path | None = None,
    ) -> LiveTrial:
        """One trial, in real time; `on_statistics` hears reports so far, each `every_s` seconds.

        What programs say goes to files of the folder `logs`, which exists, and packets to the file `capture`.
        Raises RequestError, and KeyboardInterrupt after Ctrl-C.
        """
        request = LiveRequest(self.description.toml, self.description.name, seed, realtime, bound)
        begin = os.times()
        process = LiveProcess(request, {"kind": "trial", "trace": trace, **_files(logs=logs, capture=capture)}, on_statistics=on_statistics)
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
        # What the emulator says of each link besides, in the order of the table.
        more = pl.DataFrame(answer["report"]["links"]).select(pl.exclude("name", *outcomes.links.columns))
        outcomes = replace(outcomes, links=outcomes.links.hstack(more))
        series = Trace.of(native.trace) if native.trace else None
        return LiveTrial(Trial(outcomes, series), answer["report"])
