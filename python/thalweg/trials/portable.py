"""A scenario as plain data, so that another process, here or elsewhere, can play trials of it.

Controllers in Python go along as the text of their files: what is played is what the caller has read, and a file
that changes meanwhile changes nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thalweg import _native
from thalweg.base.errors import AuditError, ControllerError, ScenarioError, StackError
from thalweg.engine import libraries
from thalweg.engine.controllers.failure import error_of
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.scenario import Scenario

TrialRecord = tuple[int, str, float]
"""The number of a trial among the seeds, its outcome as text that loses nothing, and its processor time in s."""


def is_portable(scenario: Scenario) -> bool:
    """Whether another process can play it: a class that is in no file lives only in this process."""
    return all(definition.source for definition in scenario.definitions.values())


def document_of(scenario: Scenario, audited: bool) -> dict[str, Any]:
    """A scenario as JSON has it."""
    sources = [definition.source for definition in scenario.definitions.values() if definition.source]
    return {
        "toml": scenario.toml,
        "name": scenario.name,
        "audited": audited,
        "sources": {str(source.file): source.text for source in sources},
        "folders": [str(source.file.resolve().parent) for source in sources],
        "libraries": scenario.libraries,
        "patience_s": libraries.PATIENCE_S,
    }


@dataclass(frozen=True)
class Portable:
    """A scenario that came from another process, ready to run."""

    native: _native.Scenario
    resolver: Resolver
    audited: bool
    libraries: tuple[str, ...] = ()
    """Stacks of its flows, for messages."""

    @staticmethod
    def of(document: dict[str, Any]) -> Portable:
        """Reads it. Raises ScenarioError."""
        sys.path += [folder for folder in document["folders"] if folder not in sys.path]
        resolver = Resolver(document["sources"])
        if document["libraries"]:
            libraries.remember(document["libraries"])
        try:
            native = _native.Scenario.from_toml(document["toml"].encode(), document["name"], [], [], resolver)
        except _native.ScenarioError as error:
            raise ScenarioError(str(error)) from None
        names = tuple(libraries.shown(path) for path, *_ in document["libraries"])
        return Portable(native, resolver, document["audited"], names)

    def record(self, seed: int, traced: bool = False) -> tuple[str, float]:
        """Plays a trial: its outcome as text, and its processor time. Raises what a trial fails with.

        With its trace, the text is one that `_native.Scenario.measured` reads.
        """
        try:
            play = self.native.traced_record if traced else self.native.record
            return play(seed, self.audited)
        except _native.ControllerFailed as failed:
            raise error_of(failed, self.resolver.definitions) from None
        except _native.StackFailed as failed:
            raise StackError(failed.args[0]) from None

    def answer(self, seed: int, traced: bool = False) -> dict[str, Any]:
        """The same as JSON, with what a trial failed with."""
        try:
            text, core_s = self.record(seed, traced)
        except (ControllerError, _native.Panicked, _native.AuditError) as error:
            return {"failed": type(error).__name__, "error": str(error)}
        return {"record": text, "core_s": core_s}


_KINDS: dict[str, type[Exception]] = {
    "ControllerError": ControllerError,
    "StackError": StackError,
    "Panicked": _native.Panicked,
    "AuditError": AuditError,
}


def read_answer(answer: dict[str, Any]) -> tuple[str, float]:
    """What `Portable.answer` has recorded. Raises what the trial failed with."""
    if "failed" in answer:
        raise _KINDS[answer["failed"]](answer["error"])
    return answer["record"], answer["core_s"]


def gathered(scenario: Scenario, records: Sequence[TrialRecord]) -> _native.Outcomes:
    """The outcomes of trials that others have played."""
    return scenario.native.gathered(sorted(records))


def line_of(document: dict[str, Any]) -> str:
    """A document on one line."""
    return json.dumps(document) + "\n"
