"""One side of a bench: programs that a file names, or a controller of ours or of the kernel."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError
from thalweg.base.quantity import size, text
from thalweg.engine.catalogue import Entry
from thalweg.engine.scenario import Scenario
from thalweg.experiments.bench.certificate import make_certificate
from thalweg.experiments.bench.stack_file import Room, StackFile
from thalweg.realtime import LiveScenario
from thalweg.realtime.kernel import in_kernel

LARGEST = 4 * 10**9
"""Bytes of a download: servers serve a file."""


@dataclass(frozen=True)
class Side:
    """What plays the main flow of a condition."""

    name: str
    """In tables, unique."""
    stack: StackFile | None = None
    controller: str | None = None

    def scenario(self, entry: Entry, overrides: Sequence[tuple[str, str]], room: Room) -> LiveScenario:
        """A condition with this side as its first flow, and neighbours of the kernel where it has them.

        Raises RequestError.
        """
        main, *others = Scenario.path_flows(entry, overrides)
        name = str(main["name"])
        bound = [(str(flow["name"]), in_kernel(flow["controller"])) for flow in others]
        if self.stack is None:
            return LiveScenario.from_entry(entry, overrides, [(name, str(self.controller)), *bound])
        size = _download(str(main["workload"]))
        if size is None:
            raise RequestError(f"{entry.reference}: {name}: programs of a stack file take a download")
        if not main.get("awaited", True):
            raise RequestError(f"{entry.reference}: {name}: programs of a stack file cannot be in the background")
        if size > LARGEST:
            raise RequestError(
                f"{entry.reference}: {name}: {main['workload']} is too much for programs of a stack file; "
                f"accepted: at most {text(LARGEST, 'B')}"
            )
        self._prepare(room, size)
        table = self.stack.command(room, size)
        inline = ", ".join(f"{key} = {_quoted(value)}" for key, value in table.items())
        named = ((f"flow.{name}.command", f"{{ {inline} }}"), *overrides)
        return LiveScenario.from_entry(entry, named, [(name, f"command:{self.name}"), *bound])

    def _prepare(self, room: Room, size: int) -> None:
        """Makes the folders, the file to serve and the certificate, and empties what a run has left."""
        for folder in (room.www, room.certificates):
            folder.mkdir(parents=True, exist_ok=True)
        for folder in (room.downloads, room.qlog):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        served = room.www / str(size)
        if not served.exists():
            # Zeros, which take no room on the disk.
            with served.open("wb") as file:
                file.truncate(size)
        certificate = room.certificates / "cert.pem"
        if self.stack and self.stack.needs_certificate and not certificate.exists():
            make_certificate(certificate, room.certificates / "priv.key")

    def document(self) -> dict[str, Any]:
        """This side as JSON."""
        return {"name": self.name, "controller": self.controller, "stack": self.stack and self.stack.name}


def _quoted(value: str) -> str:
    """A string as TOML has it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _download(workload: str) -> int | None:
    """The bytes of a download in words.

    >>> _download("download 1.472 kB"), _download("download 6 MB"), _download("upload 6 MB")
    (1472, 6000000, None)
    """
    kind, _, amount = workload.partition(" ")
    return size(amount, workload) if kind == "download" else None


def side_of(argument: str, taken: Sequence[str] = ()) -> Side:
    """A side of an argument: the file of a stack, or a controller. Raises RequestError."""
    if argument.endswith(".toml") or "/" in argument:
        stack = StackFile.read(Path(argument))
        side = Side(stack.name, stack)
    else:
        side = Side(argument, controller=argument)
    if side.name not in taken:
        return side
    number = 2
    while f"{side.name} {number}" in taken:
        number += 1
    return Side(f"{side.name} {number}", side.stack, side.controller)
