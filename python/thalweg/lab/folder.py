"""The one folder whose files the lab may read: its scenarios, and what these name.

Scenarios come from a page, and a page may have them from a stranger. What they name, delivery traces and
controllers in Python, is looked up before the engine reads it, and refused outside of the folder. To find a
controller is to run its file: that is done only for who has asked for it.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.files.regular_file import read_regular
from thalweg.base.toml import named_files, read_toml
from thalweg.engine.controllers.definition import Definition, file_of
from thalweg.engine.controllers.resolver import Resolver

NO_LIBRARIES = "is the file of a library, none of which the lab runs"
_LARGEST = 1 << 20
_MOST_FILES = 500
_CLASS = re.compile(rb"^class\s+\w+\s*\([^)]*\bController\b", re.MULTILINE)
_LARGEST_IN_ALL = 16 << 20
"""Bytes of all scenarios that are offered at once."""


@dataclass(frozen=True)
class Folder:
    """A folder, by its real path."""

    path: Path
    runs_python: bool = False
    """Whether a scenario may have controllers in Python of files here."""

    @classmethod
    def at(cls, path: Path, runs_python: bool = False) -> Folder:
        """Raises RequestError."""
        try:
            real = path.resolve()
        except (RuntimeError, OSError):  # links in a circle
            real = None
        if real is None or not real.is_dir():
            raise RequestError(f"{path}: there is no such folder; accepted: a folder with scenarios")
        return cls(real, runs_python)

    def inside(self, name: str) -> Path:
        """The file of this name. Raises RequestError if it is not in the folder, by links either."""
        try:
            file = (self.path / name).resolve()
        except (ValueError, RuntimeError, OSError):  # a zero byte, links in a circle, too long
            raise RequestError(f"{name!r} is not a name of a file; accepted: a file in {self.path}") from None
        if not file.is_relative_to(self.path):
            raise RequestError(f'"{name}" is outside of the folder of the lab; accepted: a file in {self.path}')
        return file

    def scenarios(self) -> dict[str, str]:
        """The texts of scenario files here, by name; plans, and what cannot be read, are left out."""
        found: dict[str, str] = {}
        left = _LARGEST_IN_ALL
        for file in heapq.nsmallest(_MOST_FILES, self.path.glob("*.toml")):
            try:
                data = read_regular(self.inside(file.name), min(_LARGEST, left), "a scenario")
                text = data.decode()
            except (RequestError, OSError, UnicodeDecodeError):
                continue
            if _is_plan(text):
                continue
            found[file.name] = text
            left -= len(data)
        return found

    def controllers(self) -> list[str]:
        """How scenarios name the files here that look like controllers in Python, where these may run.

        None is run to find out: a class of controllers is seen in its text.
        """
        found = []
        for file in heapq.nsmallest(_MOST_FILES, self.path.glob("*.py")) if self.runs_python else ():
            try:
                text = read_regular(self.inside(file.name), _LARGEST, "a controller")
            except (RequestError, OSError):
                continue
            if _CLASS.search(text):
                found.append(f"./{file.name}")
        return found

    def checked(self, text: str, sets: Mapping[str, str], name: str = "the scenario") -> list[str]:
        """The names of files in a scenario, all of them here. `name` is its own in errors.

        Raises RequestError if one is outside, or if the scenario cannot be looked through.
        """
        named = list(named_files(read_toml(text, name)))
        for key, value in sets.items():
            last = key.rsplit(".", 1)[-1].strip()
            named += named_files(_value(value, f"--set {key}"), last)
        for _, file in named:
            self.inside(file)
        return [file for _, file in named]

    def resolver(self) -> Resolver:
        """Finds controllers only in files of this folder, if they may run."""
        return _Confined(self)


def _is_plan(text: str) -> bool:
    """Whether this is the plan of a sweep or a hunt: these name a scenario, which no scenario does."""
    try:
        return "scenario" in read_toml(text, "")
    except ScenarioError:  # half written
        return False


class _Confined(Resolver):
    def __init__(self, folder: Folder) -> None:
        super().__init__()
        self._folder = folder

    def __call__(self, text: str) -> Definition | None:
        file = file_of(text)
        if file is not None:
            self._folder.inside(file)
            if not self._folder.runs_python:
                raise RequestError(
                    f'"{text}": a controller in Python requires thalweg lab --python, and a file in its folder'
                )
        return super().__call__(text)


def _value(text: str, option: str) -> object:
    """What the engine takes a value of `--set` for (crates/sim/src/scenario/overrides.rs): TOML, or else a text.

    What only begins as TOML is refused and no text. Numbers remain texts here: the engine reads one that is too
    large for it as a text.
    """
    try:
        value = read_toml(f"v = {text}", option)["v"]
    except RequestError:
        if text.lstrip()[:1] not in ('"', "'", "[", "{"):
            return text
        raise
    return value if isinstance(value, str | dict | list) else text
