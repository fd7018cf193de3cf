"""By what, where and when an experiment was made, and the head of its document, the same for all kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from thalweg import _native
from thalweg.base.files.document import FORMAT, Printed
from thalweg.results.host import host

TIMES = ("started", "wall_s", "core_s")
"""What differs between two runs of one experiment with the same command on the same host."""


@dataclass(kw_only=True)
class Provenance:
    """By what, where and when an experiment was made."""

    version: str = field(default_factory=_native.version)
    engine: str = field(default_factory=_native.engine)
    """The engine of its trials: trials of one engine are the same everywhere."""
    host: dict[str, Any] = field(default_factory=host)
    started: str = field(default_factory=lambda: datetime.now().astimezone().isoformat(timespec="seconds"))
    command: str = ""
    """What to type to run it again; empty where no command line ran it."""
    wall_s: float = 0.0

    def head(
        self,
        kind: Printed,
        name: str | None,
        title: str,
        source: str | None,
        seed: int,
        trials: int,
        core_s: float = 0.0,
    ) -> dict[str, Any]:
        """The head of the document of an experiment (`base/files/document.py`).

        `seed` is the seed of the first trial, `trials` how many each scenario, cell or point has, and `core_s` the
        processor time of all.
        """
        return {
            "format": FORMAT,
            "kind": kind,
            "name": name,
            "title": title,
            "source": source,
            "version": self.version,
            "engine": self.engine,
            "host": self.host,
            "started": self.started,
            "command": self.command,
            "seed": seed,
            "trials": trials,
            "wall_s": round(self.wall_s, 3),
            "core_s": round(core_s, 3),
        }


def repeatable(head: Mapping[str, Any]) -> dict[str, Any]:
    """A head without what differs between two runs of one command, on any host."""
    return {key: value for key, value in head.items() if key not in ("host", *TIMES)}


def provenance_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Provenance` that a document has."""
    return {field.name: document[field.name] for field in fields(Provenance)}
