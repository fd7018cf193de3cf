"""The plan of a sweep: a TOML file, or the same keys from Python, checked.

scenario = "c4/simple-20mbps"       # shipped, a file next to the plan, or a table with the scenario itself
trials = 20
seed = 1                            # of the first trial of each point
set = { "path.buffer" = "2 bdp" }   # the same at all points
design = "grid"                     # or { kind = "sobol", points = 64, seed = 1 }
tied = [["path.rate", "path.rtt"]]  # axes that go together
[axes]
"path.rate" = ["5 Mbps", "20 Mbps"]
"path.rtt" = { from = "10 ms", to = "320 ms", steps = 6, scale = "log" }
"controller.main" = ["cubic", "./mine.py"]
[[exclude]]
"path.rate" = "5 Mbps"
"path.rtt" = { from = "100 ms", to = "1 s" }
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.regular_file import read_regular
from thalweg.base.seeds import SET_SIZE
from thalweg.base.toml import read_toml
from thalweg.engine.catalogue import Entry, find_scenario
from thalweg.engine.controllers.definition import is_of_file
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.scenario_text import scenario_text, single
from thalweg.experiments.sweep.axis import CONTROLLER, Axis, Value, read_axis
from thalweg.experiments.sweep.design import Design, Space, read_condition, read_design
from thalweg.experiments.sweep.plan_file import PlanFile

KEYS = ("scenario", "trials", "seed", "set", "controllers", "design", "axes", "tied", "exclude")
INLINE = "scenario.toml"
"""What a scenario within a plan is called, and its file in a store."""
_LARGEST = 1 << 20
LARGEST_SEED = 2**63 - 1
_TRIALS = 100
MOST_OF_ALL = 10**12
"""Points of a grid: beyond, a mistake."""


@dataclass(frozen=True)
class Base:
    """The scenario that all points begin with."""

    name: str
    """As a plan names it, and a store: `c4/simple-20mbps`."""
    text: bytes
    file: str
    """The name that errors use; its traces are next to this file."""
    reference: str
    """The argument of `thalweg run`; of a scenario within the plan, its file in the store."""
    suite: str | None
    is_inline: bool = False


@dataclass(frozen=True)
class Plan:
    """What to run."""

    base: Base
    trials: int
    """Trials of each point."""
    seed: int
    """The seed of the first trial of each point."""
    settings: tuple[tuple[str, Value], ...]
    """Keys and values of all points; controllers with their prefix."""
    space: Space
    file: PlanFile
    folder: Path
    """Where files with controllers are, unless their name says."""
    resolver: Callable[[], Resolver] = Resolver
    """What finds controllers in Python."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """What varies."""
        return self.space.axes

    def controller(self, value: Value) -> Any:
        """A controller as scenarios take it: a file next to the plan by its path from here."""
        if not isinstance(value.given, str) or not is_of_file(value.given):
            return value.given
        file = Path(value.given.partition(".py")[0])
        return value.given if file.is_absolute() else str(self.folder / value.given)

    def argument(self, key: str, value: Value) -> str:
        """A value as the command line takes it."""
        given = self.controller(value) if key.startswith(CONTROLLER) else None
        return given if isinstance(given, str) else value.text

    @property
    def seeds(self) -> range:
        """The seeds of the trials of each point."""
        return range(self.seed, self.seed + self.trials)


def read_plan(file: Path) -> Plan:
    """The plan in a file. Raises RequestError with file, line, key and value."""
    document, text = read_document(file)
    return plan_of(document, PlanFile(str(file), text), file.parent)


def read_document(file: Path) -> tuple[dict[str, Any], str]:
    """What the file of a plan says, and its text. Raises RequestError."""
    data = read_regular(file, _LARGEST, f"a plan of at most {_LARGEST >> 20} MiB")
    return read_toml(data, str(file)), data.decode()


def plan_of(document: Mapping[str, Any], file: PlanFile, folder: Path, needs_axes: bool = True) -> Plan:
    """The plan that a document means, checked except for what only its points can tell. Raises RequestError."""
    file.check_keys(document, KEYS)
    trials = _number(document, "trials", _TRIALS, 1, SET_SIZE, file)
    seed = _number(document, "seed", 1, 0, LARGEST_SEED - SET_SIZE, file)
    try:
        design = read_design(document.get("design", "grid"))
    except RequestError as error:
        raise file.refusal(("design",), str(error)) from None
    axes = _axes(document, design, file) if needs_axes or document.get("axes") else ()
    space = Space(axes, _tied(document, axes, design, file), _exclusions(document, axes, file), design)
    if space.size > MOST_OF_ALL:
        raise file.refusal(("axes",), f"they span {space.size:.3g} points; accepted: at most {MOST_OF_ALL:.0e}")
    return Plan(_base(document, file, folder), trials, seed, _settings(document, axes, file), space, file, folder)


def _number(document: Mapping[str, Any], key: str, default: int, least: int, most: int, file: PlanFile) -> int:
    value = document.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise file.refusal((key,), f"accepted: a whole number, {least} to {most}", value)
    return value


def _table(document: Mapping[str, Any], key: str, example: str, file: PlanFile) -> Mapping[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, Mapping):
        raise file.refusal((key,), f"accepted: a table such as {example}", value)
    return value


def _axes(document: Mapping[str, Any], design: Design, file: PlanFile) -> tuple[Axis, ...]:
    given = _table(document, "axes", '"path.rate" = ["5 Mbps", "20 Mbps"]', file)
    if not given:
        raise file.refusal(("axes",), 'there is none; accepted: [axes] with "path.rate" = ["5 Mbps", "20 Mbps"]')
    for key in given:
        _check_key(("axes", key), key, file)
    return tuple(read_axis(key, value, file, design.kind == "grid") for key, value in given.items())


def _check_key(at: tuple[str, ...], key: str, file: PlanFile) -> None:
    parts = key.split(".")
    if parts[0] == "flow" and parts[-1] == "controller" and len(parts) == 3:
        raise file.refusal(at, f'accepted: "{CONTROLLER}{parts[1]}"')
    if not all(parts) or (parts[0] == "controller" and len(parts) < 2):
        raise file.refusal(at, f'accepted: a key such as "path.rate", or "{CONTROLLER}main" for the flow main')


def _settings(
    document: Mapping[str, Any], axes: tuple[Axis, ...], file: PlanFile
) -> tuple[tuple[str, Value], ...]:
    found = []
    controllers = _table(document, "controllers", '{ main = "cubic" }', file)
    entries = [
        (("set", key), key, value) for key, value in _table(document, "set", '"path.rtt" = "10 ms"', file).items()
    ]
    entries += [(("controllers", flow), f"{CONTROLLER}{flow}", value) for flow, value in controllers.items()]
    for at, key, value in entries:
        _check_key(at, key, file)
        if any(axis.key == key for axis in axes):
            raise file.refusal(at, "it cannot be combined with an axis of the same key")
        try:
            found.append((key, Value.of(value)))
        except RequestError as error:
            raise file.refusal(at, str(error), value) from None
    return tuple(found)


def _tied(
    document: Mapping[str, Any], axes: tuple[Axis, ...], design: Design, file: PlanFile
) -> tuple[tuple[int, ...], ...]:
    keys, groups = [axis.key for axis in axes], document.get("tied", [])
    accepted = 'accepted: lists of axes, such as [["path.rate", "path.rtt"]]'
    if not isinstance(groups, list | tuple):
        raise file.refusal(("tied",), accepted, groups)
    found: list[tuple[int, ...]] = []
    for group in groups:
        if not isinstance(group, list | tuple) or len(group) < 2 or not all(isinstance(key, str) for key in group):
            raise file.refusal(("tied",), accepted, group)
        for key in group:
            if key not in keys:
                raise file.refusal(("tied",), f"there is no such axis{did_you_mean(key, keys)}", key)
        numbers = tuple(keys.index(key) for key in group)
        if len(set(numbers)) < len(numbers) or set(numbers) & {axis for other in found for axis in other}:
            raise file.refusal(("tied",), "accepted: each axis once", group)
        lengths = {len(axes[number].values) for number in numbers}
        if len(lengths - {0}) > 1:  # a range without steps, which designs of points draw from, fits any
            counts = ", ".join(f"{keys[number]} {len(axes[number].values)}" for number in numbers)
            raise file.refusal(
                ("tied",), f"axes that go together have as many values each; they have {counts}", group
            )
        found.append(tuple(sorted(numbers)))
    return tuple(found)


def _exclusions(document: Mapping[str, Any], axes: tuple[Axis, ...], file: PlanFile) -> tuple[dict[int, Any], ...]:
    keys, found = [axis.key for axis in axes], []
    given = document.get("exclude", [])
    if not isinstance(given, list | tuple) or not all(isinstance(entry, Mapping) and entry for entry in given):
        raise file.refusal(
            ("exclude",), 'accepted: [[exclude]] with an axis, such as "path.rate" = "5 Mbps"', given
        )
    for number, entry in enumerate(given):
        conditions = {}
        for key, value in entry.items():
            at = ("exclude", str(number), key)
            if key not in keys:
                raise file.refusal(at, f"there is no such axis{did_you_mean(key, keys)}", value)
            try:
                conditions[keys.index(key)] = read_condition(value)
            except RequestError as error:
                raise file.refusal(at, str(error), value) from None
            axis = axes[keys.index(key)]
            if axis.values and not any(conditions[keys.index(key)](value) for value in axis.values):
                texts = ", ".join(value.text for value in axis.values[:10])
                raise file.refusal(at, f"no value of the axis is meant; it has {texts}", value)
        found.append(conditions)
    return tuple(found)


def _base(document: Mapping[str, Any], file: PlanFile, folder: Path) -> Base:
    given = document.get("scenario")
    if isinstance(given, Mapping):
        try:
            text = scenario_text(single(given)).encode()
        except TypeError:  # a date, or a time
            raise file.refusal(("scenario",), "accepted: texts, numbers, lists, tables") from None
        return Base("the plan's own", text, str(folder / INLINE), INLINE, None, True)
    if not isinstance(given, str):
        missing = "missing" if given is None else "no text and no table"
        problem = f'the scenario is {missing}; accepted: a shipped one such as "c4/bad-wifi", a file, or a table'
        raise file.refusal(("scenario",), problem)
    try:
        entry = _entry(given, folder)
        return Base(given, entry.read(), str(entry.file), entry.reference, entry.suite)
    except RequestError as error:
        raise file.refusal(("scenario",), str(error), given) from None


def _entry(name: str, folder: Path) -> Entry:
    """A scenario by its shipped name, or a file next to the plan. Raises RequestError."""
    file = Path(os.path.normpath(folder / name))
    return find_scenario(file if file.suffix == ".toml" else name)
