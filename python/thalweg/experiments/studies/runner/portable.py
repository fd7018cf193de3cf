"""Scenarios that play in the folder of a study, wherever it is moved: the files that they name are in it.

    controllers/mine.py     a controller in Python, with the files next to it that it imports
    stacks/libmine.so       a library with a stack

Names of controllers are relative to the folder of the study, from which its commands run, and names of libraries
to the scenario. Limits: what a controller reads otherwise than by `import`, and what a library loads, is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from itertools import count
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError
from thalweg.base.toml import read_toml
from thalweg.engine.controllers.definition import Definition, file_of
from thalweg.engine.controllers.source import Source
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import toml_value
from thalweg.realtime import LiveScenario

CONTROLLERS, STACKS = "controllers", "stacks"
_KEYS = ("controller", "stack")
"""Keys of flows, whose values may name files."""
Files = MutableMapping[str, bytes]
"""What is in them, by their names in the folder of the study."""


def portable(scenario: Scenario | LiveScenario, files: Files) -> str:
    """The text of a scenario that names files of the folder; adds these to `files`. Raises RequestError."""
    names = dict(_controllers(scenario.definitions.values(), files))
    if isinstance(scenario, Scenario):
        for path, *_ in scenario.libraries:
            names[path] = f"../{_put(STACKS, {Path(path).name: _content(Path(path))}, files)}/{Path(path).name}"
    return _renamed(scenario.toml, names) if names else scenario.toml


def _controllers(definitions: Iterable[Definition], files: Files) -> Iterator[tuple[str, str]]:
    """The name of each controller in Python, and its name in the folder."""
    for definition in definitions:
        source = definition.source
        if source is None:
            continue
        home = _put(CONTROLLERS, _sources(source), files)
        file = file_of(definition.text)
        given = definition.text if file is None else definition.text.removeprefix(file)
        rest = given if file is not None else f":{definition.controller.__name__}"
        yield definition.text, f"{home}/{source.file.name}{rest}"


def _sources(source: Source) -> dict[str, bytes]:
    """The text of a controller and of what it imports from below its folder."""
    folder = source.file.resolve().parent
    imported = {name: _content(folder / name) for name in source.imported()}
    return {source.file.name: source.text.encode(), **imported}


def _put(home: str, contents: Mapping[str, bytes], files: Files) -> str:
    """The first of `home`, `home/2`, `home/3`, ... that has no other file of these names: they are in it then."""
    for number in count(1):
        place = home if number == 1 else f"{home}/{number}"
        named = {f"{place}/{name}": content for name, content in contents.items()}
        if all(files.get(name, content) == content for name, content in named.items()):
            files.update(named)
            return place
    raise AssertionError


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise RequestError(f"cannot read {file}: {error.strerror}") from None


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text of a scenario whose flows have other controllers and stacks, in whichever quotes these stand."""
    wanted = _replaced(read_toml(text, "scenario"), names)
    for name, other in names.items():
        quoted = "|".join(re.escape(one) for one in (toml_value(name), f"'{name}'"))
        given = re.compile(rf"(\b(?:{'|'.join(_KEYS)})\s*=\s*)(?:{quoted})")
        text = given.sub(lambda at, other=other: at[1] + toml_value(other), text)  # type: ignore[misc]
    assert read_toml(text, "scenario") == wanted, text
    return text


def _replaced(value: Any, names: Mapping[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _replaced(inner, names, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, names) for inner in value]
    return names.get(value, value) if key in _KEYS else value
