"""Scenarios: loading one, by name, path or text, and running its trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from thalweg import _native, audit
from thalweg.catalogue import Entry, find_scenario
from thalweg.errors import RequestError, did_you_mean
from thalweg.outcome import Description, Outcomes, Trial
from thalweg.trace import Trace

Settings: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while trials ran. `outcomes` holds the trials that were finished, None if there were none."""

    def __init__(self, outcomes: Outcomes | None) -> None:
        super().__init__("interrupted")
        self.outcomes = outcomes


class Scenario:
    """A path, flows and pass criteria, checked and ready to run.

    >>> import thalweg
    >>> scenario = thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"})
    >>> trial = scenario.run(seed=1)
    >>> trial.flows["flow"].to_list()
    ['main']
    """

    def __init__(self, native: _native.Scenario, name: str, suite: str | None = None) -> None:
        self._native = native
        self.description = Description.of(native, name, suite)

    @staticmethod
    def load(
        name_or_path: str | Path,
        overrides: Settings = (),
        controllers: Settings = (),
        allow_unseeded: bool = False,
    ) -> Scenario:
        """Reads a scenario by shipped name (`c4/bad-wifi`) or by path.

        `overrides` set keys of the file (`{"path.rate": "10 Mbps"}`), `controllers` bind flows to
        controllers (`{"main": "cubic"}`). `allow_unseeded` allows those whose trials do not repeat, as
        the key of that name does (`noq:bbr3`). Raises RequestError.

        >>> Scenario.load("c4/simple-20mbps", overrides={"path.rate": "10 Mbps"}).name
        'simple-20mbps'
        """
        unseeded = [("allow_unseeded", "true")] if allow_unseeded else []
        return Scenario.from_entry(find_scenario(name_or_path), unseeded + pairs(overrides), controllers)

    @staticmethod
    def from_entry(entry: Entry, overrides: Settings = (), controllers: Settings = ()) -> Scenario:
        """Reads a scenario of the catalogue. Raises RequestError."""
        return Scenario.from_toml(entry.read(), entry.name, overrides, controllers, str(entry.file), entry.suite)

    @staticmethod
    def from_toml(
        text: str | bytes,
        name: str,
        overrides: Settings = (),
        controllers: Settings = (),
        file: str | None = None,
        suite: str | None = None,
    ) -> Scenario:
        """Reads a scenario from the text of a file; `file` is the name that errors use. Raises RequestError."""
        source = text.encode() if isinstance(text, str) else text
        settings, bindings = pairs(overrides), pairs(controllers)
        try:
            if bindings:
                # The file may name controllers that run in real time only: others take their place here.
                path = _native.Scenario.path_from_toml(source, file or name, settings)
                flows = [str(flow["name"]) for flow in path.flows]
                for flow, _ in bindings:
                    if flow not in flows:
                        raise RequestError(f"{file or name} has no flow {flow!r}{did_you_mean(flow, flows)}")
            native = _native.Scenario.from_toml(source, file or name, settings, bindings)
        except _native.ScenarioError as error:
            raise RequestError(str(error)) from None
        return Scenario(native, name, suite)

    @property
    def name(self) -> str:
        """Its name within its suite, or the stem of its file."""
        return self.description.name

    @property
    def title(self) -> str:
        """What it is, for people."""
        return self.description.title

    @property
    def source(self) -> str | None:
        """The document that it comes from."""
        return self.description.source

    @property
    def note(self) -> str | None:
        """Where and why it departs from its source."""
        return self.description.note

    @property
    def toml(self) -> str:
        """The file as it runs, overrides included; `from_toml` reads it back."""
        return self.description.toml

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Per flow: name, controller, workload, start_s."""
        return self.description.flows

    @property
    def criteria(self) -> list[dict[str, Any]]:
        """Per pass criterion: flow, metric, at_most, unit, floor and source."""
        return self.description.criteria

    @property
    def floor_s(self) -> float | None:
        """Least completion time of the first flow that physics allows; None for an unbounded workload."""
        return self.description.floor_s

    def run(self, seed: int = 1, trace: bool = False, audit: bool | None = None) -> Trial:
        """One trial, under the auditor if `audit` says so or, by default, within `thalweg.audit.auditing`.

        Raises AuditError if the auditor finds that the trial contradicts physics.

        >>> a, b = (Scenario.load("c4/simple-20mbps").run(seed=7) for _ in range(2))
        >>> a.trace_hash == b.trace_hash
        True
        """
        try:
            native = self._native.run(seed, trace, _watched(audit))
        except _native.Cancelled:
            raise Interrupted(None) from None
        series = Trace.of(native.trace) if native.trace is not None else None
        return Trial(Outcomes.of(native.outcomes, self.description), series)

    def probe(self, seed: int, interval_ns: int, count: int, payload: int) -> dict[str, Any]:
        """What probes measure on its path while nobody else sends; see `thalweg.probe.simulated`."""
        return self._native.probe(seed, interval_ns, count, payload)

    def trials(
        self,
        n: int = 100,
        seed: int = 1,
        jobs: int = 0,
        on_progress: Callable[[int], None] | None = None,
        audit: bool | None = None,
    ) -> Outcomes:
        """Runs `n` trials with seeds `seed`, `seed + 1`, ... on `jobs` threads (0: all cores).

        `on_progress` hears the number of finished trials about ten times a second. Raises Interrupted
        within a second after Ctrl-C. `audit` as for `run`: a finding ends the run.

        >>> outcomes = Scenario.load("c4/simple-20mbps").trials(3, seed=10)
        >>> outcomes.trials["seed"].to_list()
        [10, 11, 12]
        >>> outcomes.verdict().criteria[0].n
        3
        """
        if n < 1:
            raise RequestError(f"{n} trials: at least 1 is needed")
        try:
            native = self._native.trials(range(seed, seed + n), jobs, on_progress, _watched(audit))
        except (_native.Cancelled, KeyboardInterrupt) as cancelled:
            finished = getattr(cancelled, "outcomes", None)
            outcomes = Outcomes.of(finished, self.description) if finished is not None else None
            raise Interrupted(outcomes if outcomes is not None and outcomes.n else None) from None
        return Outcomes.of(native, self.description)


def _watched(asked: bool | None) -> bool:
    return audit.is_on() if asked is None else asked


def pairs(settings: Settings) -> list[tuple[str, str]]:
    """Settings as a list, whichever form they came in."""
    return list(settings.items()) if isinstance(settings, Mapping) else list(settings)
