"""Scenarios: loading one, by name, path or text, and running its trials."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import polars as pl

from thalweg import _native
from thalweg.base.columns import frame
from thalweg.base.described import Described, criterion_of, listed, path_of
from thalweg.base.errors import AuditError, RequestError, ScenarioError
from thalweg.base.executor import Executor, unheard
from thalweg.base.quantity import text
from thalweg.base.seeds import SET_SIZE
from thalweg.engine import audit
from thalweg.engine.audit import auditing
from thalweg.engine.catalogue import Entry, find_scenario
from thalweg.engine.controllers.definition import Definition
from thalweg.engine.controllers.failure import error_of
from thalweg.engine.controllers.resolver import Given, Reader, Resolver
from thalweg.engine.libraries import Library, given
from thalweg.engine.outcome import Description, FlowDescription, Outcomes, Trial
from thalweg.engine.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Value: TypeAlias = str | int | float | bool
Settings: TypeAlias = Mapping[str, Value] | Iterable[tuple[str, Value]]
Controllers: TypeAlias = Mapping[str, Given] | Mapping[str, str] | Iterable[tuple[str, Given]]
"""By flow: a name with options, a file (`./mine.py:Mine:beta=0.8`), a class, or a `partial` of one."""

_LARGEST_SEED = 2**64 - 1
_DIGEST = 16
"""Bytes of a fingerprint: no two scenarios share one by chance."""


class ProbeTimes(TypedDict):
    """When each probe was sent, echoed and received, in nanoseconds; -1 for what was lost before."""

    sent_ns: npt.NDArray[np.int64]
    echoed_ns: npt.NDArray[np.int64]
    received_ns: npt.NDArray[np.int64]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while trials ran. `outcomes` has the finished trials, None if there were none."""

    def __init__(self, outcomes: Outcomes | None) -> None:
        super().__init__("interrupted")
        self.outcomes = outcomes


class Scenario(Described):
    """A path, flows and pass criteria, checked and ready to run.

    >>> import thalweg
    >>> scenario = thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"})
    >>> trial = scenario.run(seed=1)
    >>> trial.flows["flow"].to_list()
    ['main']
    """

    def __init__(
        self, native: _native.Scenario, name: str, suite: str | None = None, resolver: Resolver | None = None
    ) -> None:
        self._native = native
        self._definitions = definitions_of(native, resolver)
        self.description = Description.of(native, name, suite, self._definitions)

    def described(self) -> Iterator[tuple[str, str]]:
        """Title, path, flows, what must hold."""
        yield "Scenario", f"{self.description.reference}: {self.title}"
        yield "path", path_of(self.toml)
        yield (
            "flows",
            listed([f"{flow['name']} ({flow['controller']}), {flow['workload']}" for flow in self.flows]),
        )
        yield "pass", listed([criterion_of(one) for one in self.criteria if not one.get("informative")])
        yield "floor", text(self.floor_s, "s")

    @staticmethod
    def load(
        name_or_path: str | Path,
        overrides: Settings = (),
        controllers: Controllers = (),
        allow_unseeded: bool = False,
        stack: str | Path | None = None,
    ) -> Scenario:
        """Reads a scenario by shipped name (`c4/bad-wifi`) or by path.

        `overrides` set keys of the file (`{"path.rate": "10 Mbps", "flow.main.streams": 4}`); a number that lacks
        its unit is refused. `controllers` bind flows to controllers (`{"main": "cubic"}`), of Thalweg or in Python
        (`"./mine.py"`, or a class). `allow_unseeded` allows those whose trials do not repeat, as the key of that
        name does (`noq:bbr3`). `stack` carries all flows: "model", "quic", or a library (`"./libmine.so"`) with
        controllers of its own. Raises RequestError.

        >>> Scenario.load("c4/simple-20mbps", overrides={"path.rate": "10 Mbps"}).name
        'simple-20mbps'
        """
        settings: Settings = overrides
        options: dict[str, Value] = {"allow_unseeded": True} if allow_unseeded else {}
        if stack is not None:
            options["flow.*.stack"] = given(stack)
        if options:
            if isinstance(settings, Mapping):
                settings = {**options, **dict(settings)}
            else:
                settings = [*options.items(), *settings]
        return Scenario.from_entry(find_scenario(name_or_path), settings, controllers)

    @staticmethod
    def from_entry(
        entry: Entry, overrides: Settings = (), controllers: Controllers = (), resolver: Resolver | None = None
    ) -> Scenario:
        """Reads a scenario of the catalogue; a controller of its candidate is of all flows that stand for it.

        Raises RequestError.
        """
        controllers = Scenario.with_candidate(entry, overrides, controllers)
        file, suite = entry.source_name, entry.suite
        return Scenario.from_toml(entry.read(), entry.name, overrides, controllers, file, suite, resolver)

    @staticmethod
    def with_candidate(entry: Entry, overrides: Settings, controllers: Controllers) -> Controllers:
        """The controllers of flows, also of the other flows that stand for the candidate.

        They are named in the suite (`candidate`), have the controller of its first flow in the scenario, and none
        of their own here. Raises RequestError.
        """
        first, *others = entry.candidate or ("",)
        chosen = dict(_items(controllers, '{"main": "cubic"}'))
        if not others or first not in chosen:
            return controllers
        own = {str(flow["name"]): flow["controller"] for flow in Scenario.path_flows(entry, overrides)}
        alike = [flow for flow in others if first in own and own.get(flow) == own[first]]
        return {**dict.fromkeys(alike, chosen[first]), **chosen}

    @staticmethod
    def flow_names(entry: Entry, overrides: Settings = ()) -> list[str]:
        """The names of the flows of a scenario of the catalogue. Raises RequestError."""
        return [str(flow["name"]) for flow in Scenario.path_flows(entry, overrides)]

    @staticmethod
    def path_flows(entry: Entry, overrides: Settings = ()) -> list[FlowDescription]:
        """The flows of a scenario of the catalogue, whatever carries them. Raises RequestError."""
        settings = pairs(overrides)
        try:
            path = _native.Scenario.path_from_toml(entry.read(), entry.source_name, settings, Reader())
        except _native.ScenarioError as error:
            raise ScenarioError.of(error, _in_python(str(error), settings, overrides, ())) from None
        return path.flows

    @staticmethod
    def from_toml(
        text: str | bytes,
        name: str,
        overrides: Settings = (),
        controllers: Controllers = (),
        file: str | None = None,
        suite: str | None = None,
        resolver: Resolver | None = None,
    ) -> Scenario:
        """Reads a scenario from the text of a file; `file` is the name that errors use. Raises RequestError.

        `resolver` finds controllers in Python; by default any file may have one.
        """
        source = text.encode() if isinstance(text, str) else text
        resolver = resolver or Resolver()
        settings, bindings = pairs(overrides), bound(controllers, resolver)
        try:
            native = _native.Scenario.from_toml(source, file or name, settings, bindings, resolver)
        except _native.ScenarioError as error:
            raise ScenarioError.of(error, _in_python(str(error), settings, overrides, controllers)) from None
        scenario = Scenario(native, name, suite, resolver)
        if native.libraries and not all(one.source for one in scenario.definitions.values()):
            raise ScenarioError(
                "the stack of a library cannot be combined with a controller that is a class without a file"
            )
        return scenario

    @property
    def native(self) -> _native.Scenario:
        """What the native module plays."""
        return self._native

    @cached_property
    def libraries(self) -> list[Library]:
        """The shared libraries that are stacks of its flows: path, SHA-256, and what each says about itself."""
        return self.native.libraries

    @property
    def definitions(self) -> dict[str, Definition]:
        """Its controllers in Python, by the texts that name them."""
        return self._definitions

    @property
    def name(self) -> str:
        """Its name within its suite, or the stem of its file."""
        return self.description.name

    @property
    def title(self) -> str:
        """Title, for people."""
        return self.description.title

    @property
    def source(self) -> str | None:
        """The document that it comes from."""
        return self.description.source

    @property
    def note(self) -> str | None:
        """Where and why it deviates from its source."""
        return self.description.note

    @property
    def toml(self) -> str:
        """The file as it runs, overrides included; `from_toml` reads it back."""
        return self.description.toml

    @cached_property
    def fingerprint(self) -> str | None:
        """Identifies trials of this scenario, with their seed and the engine; None if nothing does.

        It is a hash of all that a trial depends on. A controller in Python counts by the text of its file and
        of the files next to it that it imports. A class of this process has none: no later run can identify it.
        """
        resolved = self.native.resolved
        for named, definition in self.definitions.items():
            if definition.source is None:
                return None
            name, options = definition.controller.__name__, sorted(definition.options.items())
            imported = sorted(definition.source.imported().items())
            file = f"{definition.source.sha256} {imported}" if imported else definition.source.sha256
            resolved = resolved.replace(f"({named})", f"({file} {name} {options})")
        return hashlib.blake2b(resolved.encode(), digest_size=_DIGEST).hexdigest()

    @property
    def flows(self) -> list[FlowDescription]:
        """Per flow: name, controller, workload, start_s, awaited."""
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
        """One trial, under the auditor if `audit` says so or, by default, within `thalweg.engine.audit.auditing`.

        Raises AuditError if the auditor finds that the trial contradicts physics, ControllerError if a controller
        in Python fails.

        >>> a, b = (Scenario.load("c4/simple-20mbps").run(seed=7) for _ in range(2))
        >>> a.trace_hash == b.trace_hash
        True
        """
        _check_seed(seed)
        if self.libraries:
            from thalweg import play_alone  # noqa: PLC0415 - executors play scenarios

            return play_alone(self, seed, trace, _watched(audit))
        try:
            with findings():
                native = self._native.run(seed, trace, _watched(audit))
        except _native.Cancelled:
            raise Interrupted(None) from None
        except _native.ControllerFailed as failed:
            raise error_of(failed, self._definitions) from failed.__cause__
        series = Trace.of(native.trace) if native.trace is not None else None
        return Trial(Outcomes.of(native.outcomes, self.description), series)

    def packets(self, seed: int = 1, from_s: float = 0.0, most: int = 1_000_000) -> pl.DataFrame:
        """The way of each packet through each link in one trial: entered, marked, left the queue, sent, arrived.

        At most `most` rows, of packets that are on a link at `from_s` or later, in the order of their entry. If
        there are more, none is left out up to the `entered_s` of the last row, and what entered later has no row.
        A time that never came is NaN. `left_s` of a packet that the queue dropped is when it was dropped. Raises
        RequestError, ControllerError.

        >>> packets = Scenario.load("c4/simple-20mbps").packets(seed=7, most=1000)
        >>> packets.height <= 1000, sorted(packets["fate"].unique())
        (True, ['delivered', 'queue'])
        """
        _check_seed(seed)
        if not (0 <= from_s < math.inf and 0 <= most < 2**32):
            raise RequestError(f"packets from {from_s} s, {most} at most: accepted: a time and a number from 0 on")
        if self.libraries:
            raise RequestError("the log of packets cannot be combined with the stack of a library")
        try:
            packets, *_ = self._native.packets(seed, from_s, most)
        except _native.Cancelled:
            raise Interrupted(None) from None
        except _native.ControllerFailed as failed:
            raise error_of(failed, self._definitions) from failed.__cause__
        return frame(packets)

    def probe(self, seed: int, interval_ns: int, count: int, payload: int) -> ProbeTimes:
        """Probes on its otherwise idle path; see `thalweg.probe.simulated`."""
        try:
            return self._native.probe(seed, interval_ns, count, payload)
        except _native.ScenarioError as error:
            raise ScenarioError(f"{self.name}: {error}") from None

    def trials(
        self,
        n: int = 100,
        seed: int = 1,
        jobs: int = 0,
        on_progress: Callable[[int], None] | None = None,
        audit: bool | None = None,
        executor: Executor | None = None,
    ) -> Outcomes:
        """Runs `n` trials with seeds `seed`, `seed + 1`, ... on `jobs` threads (0: all cores).

        With controllers in Python they run in as many processes, or one after the other in this one if a
        controller is a class that no file can be read for (of a notebook). Raises ControllerError if one fails.

        `on_progress` hears the number of finished trials about ten times a second. Raises Interrupted
        within a second after Ctrl-C. `audit` as for `run`: a finding ends the run. An `executor` runs them
        somewhere else: `thalweg.trials.cluster`.

        >>> outcomes = Scenario.load("c4/simple-20mbps").trials(3, seed=10)
        >>> outcomes.trials["seed"].to_list()
        [10, 11, 12]
        >>> outcomes.verdict().criteria[0].n
        3
        """
        if not _is_whole(n) or not 1 <= n <= SET_SIZE:
            raise RequestError(f"n = {n!r:.40}: a number of trials; accepted: 1 to {SET_SIZE}")
        if not _is_whole(jobs) or jobs < 0:
            raise RequestError(f"jobs = {jobs!r}: a number of threads; accepted: 1 or more, 0 for all cores")
        _check_seed(seed, n)
        from thalweg import run_trials  # noqa: PLC0415 - executors play scenarios

        with auditing(_watched(audit)):
            return run_trials(self, range(seed, seed + n), executor, jobs, on_progress or unheard)


def definitions_of(native: _native.Scenario, resolver: Resolver | None) -> dict[str, Definition]:
    """The controllers in Python of a scenario, by the texts that name them."""
    used = [flow["controller"] for flow in native.flows]
    found = resolver.definitions if resolver else {}
    return {text: definition for text, definition in found.items() if text in used}


@contextmanager
def findings() -> Iterator[None]:
    """What the auditor finds within is an error of this package."""
    try:
        yield
    except _native.AuditError as finding:
        raise AuditError(str(finding)) from None


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_seed(seed: int, n: int = 1) -> None:
    """Refuses seeds that no trial can have. Raises RequestError."""
    if not _is_whole(seed) or not 0 <= seed <= _LARGEST_SEED + 1 - n:
        raise RequestError(f"seed = {seed!r}: accepted: a whole number, 0 to 2^64 - {n}")


def _watched(asked: bool | None) -> bool:
    return audit.is_on() if asked is None else asked


def pairs(settings: Settings) -> list[tuple[str, str]]:
    """Keys and values as texts, whichever form they came in. Raises RequestError.

    >>> pairs({"path.rate": "10 Mbps", "flow.main.streams": 4, "path.reorder": True})
    [('path.rate', '10 Mbps'), ('flow.main.streams', '4'), ('path.reorder', 'true')]
    """
    texts = []
    for key, value in _items(settings, '{"path.rate": "10 Mbps"}'):
        if isinstance(value, str):
            texts.append((key, value))
        elif isinstance(value, (bool, int, float)):
            texts.append((key, str(value).lower()))  # as TOML writes them
        else:
            raise RequestError(f'{key} = {value!r}: accepted: a text such as "10 Mbps", a number, true or false')
    return texts


def bound(controllers: Controllers, resolver: Resolver) -> list[tuple[str, str]]:
    """Flows and their controllers, whichever form they came in. Raises RequestError."""
    texts = []
    for flow, controller in _items(controllers, '{"main": "cubic"}'):
        if not isinstance(controller, (str, type, partial)):
            raise RequestError(
                f'{flow} = {controller!r}: accepted: the name of a controller, such as "cubic", or a class'
            )
        texts.append((flow, resolver.text_of(controller)))
    return texts


def _in_python(
    message: str, settings: Iterable[tuple[str, str]], overrides: Settings, controllers: Controllers
) -> str:
    """A message about what a program has given, without the options of the command line."""
    if isinstance(overrides, Mapping):
        for key, value in settings:
            message = message.replace(f" --set {key}={value}", f', overrides["{key}"] = "{value}"')
    if isinstance(controllers, Mapping):
        for flow, controller in controllers.items():
            message = message.replace(f"--controller {flow}={controller}:", f'controllers["{flow}"]:')
    return message


def _items(settings: Settings | Controllers, example: str) -> list[tuple[str, Any]]:
    """The two sides of each setting. Raises RequestError."""
    refusal = f"{settings!r:.60}: accepted: a mapping such as {example}, or pairs"
    if isinstance(settings, str):
        raise RequestError(refusal)
    try:
        items = [(key, value) for key, value in (settings.items() if isinstance(settings, Mapping) else settings)]
    except (TypeError, ValueError):
        raise RequestError(refusal) from None
    if not all(isinstance(key, str) for key, _ in items):
        raise RequestError(refusal)
    return items
