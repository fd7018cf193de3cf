"""Options of a controller as axes of a search: ranges of the registry, or what the user gives.

A number without a range of the user has the registry's; a duration or a rate, from a quarter of its default
to four times that; a switch or a word, all that it may be. A range over an order of magnitude is searched on the
scale of logarithms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import measure
from thalweg.engine.controllers.definition import is_of_file
from thalweg.experiments.hunt.elements import Suggest, drawn
from thalweg.experiments.sweep.axis import Axis, Value, range_of

_NUMBER = re.compile(r"a number from (\S+) to (\S+)")
_GIVEN = re.compile(r"(?P<name>\w+)(?:=(?P<values>.+))?")
_TIMES = 4
_WRITTEN_IN = {"s": (1e3, "ms"), "bps": (1e-6, "Mbps")}
_LOG_FROM = 10


@dataclass(frozen=True)
class Options:
    """What varies of a controller."""

    controller: str
    """With the options that do not vary."""
    axes: tuple[Axis, ...]

    def draw(self, suggest: Suggest) -> str:
        """The controller that is decided on: `c4:push=1.2`."""
        given = ",".join(
            f"{axis.key}={drawn(axis, axis.key, suggest).text.replace(' ', '')}" for axis in self.axes
        )
        return f"{self.controller}{',' if '=' in self.controller else ':'}{given}"


def read_options(controller: str, given: Sequence[str]) -> Options:
    """What varies: `push`, `push=1.1..1.5`, `trim=on|off`; with nothing given, all numbers, durations and rates.

    What the controller sets, as `c4:push=1.2` does, stays. Raises RequestError.
    """
    known, stays = _registered(controller), _set_by(controller)
    if not given and not known:
        raise RequestError(
            f"{controller} has no options with a range; accepted: --option NAME=LOW..HIGH, or NAME=A|B"
        )
    free = [name for name, option in known.items() if _range(option) is not None and name not in stays]
    if not given and not free:
        raise RequestError(f"{controller} sets all options that have a range; accepted: one that it leaves free")
    chosen = given or free
    axes: list[Axis] = []
    for words in chosen:
        match = _GIVEN.fullmatch(words)
        if match is None:
            raise RequestError(f"--option {words!r}: accepted: push, push=1.1..1.5, or trim=on|off")
        name, values = match["name"], match["values"]
        if known and name not in known:
            raise RequestError(f"--option {words!r}: {controller} has no such option{did_you_mean(name, known)}")
        if name in stays:
            raise RequestError(f"--option {words!r} cannot be combined with {controller}, which sets it")
        if any(axis.key == name for axis in axes):
            raise RequestError(f"--option {words!r}: it is given twice")
        axes.append(_given(name, values) if values else _of_registry(name, known.get(name), words))
    return Options(controller, tuple(axes))


def _set_by(controller: str) -> set[str]:
    """The options that a controller is given by its name. Raises RequestError for one that is there twice.

    >>> sorted(_set_by("c4:variant=draft-05,push=1.2")), sorted(_set_by("./mine.py:Mine:fast")), _set_by("cubic")
    (['push', 'variant'], ['Mine', 'fast'], set())
    """
    given = [part.partition("=")[0].strip() for text in controller.split(":")[1:] for part in text.split(",")]
    named = [name for name in given if name]
    for name in named:
        if named.count(name) > 1:
            raise RequestError(f"{controller}: option {name!r} is given twice")
    return set(named)


def _registered(controller: str) -> dict[str, dict[str, Any]]:
    """Options of the registry; none of a controller in Python, whose options have types and no ranges."""
    if is_of_file(controller):
        return {}
    name = controller.partition(":")[0]
    entries = {str(entry["name"]): entry for entry in _native.controllers()}
    if name not in entries:
        raise RequestError(f"no controller {name!r}{did_you_mean(name, entries)}")
    return {str(option["name"]): option for option in entries[name]["options"]}


def _given(name: str, values: str) -> Axis:
    low, dots, high = values.partition("..")
    try:
        if dots:
            return _between(name, low, high)
        return Axis(name, tuple(Value.of(word) for word in values.split("|")))
    except RequestError as error:
        raise RequestError(f"--option {name}={values}: {error}") from None


def _of_registry(name: str, option: dict[str, Any] | None, words: str) -> Axis:
    if option is None:
        raise RequestError(f"--option {words!r}: it has no range; accepted: {name}=LOW..HIGH, or {name}=A|B")
    bounds = _range(option)
    if bounds:
        return _between(name, *bounds)
    found = ["on", "off"] if option["accepted"] == "on, off" else str(option["accepted"]).split(", ")
    return Axis(name, tuple(Value.of(word) for word in found))


def _range(option: dict[str, Any]) -> tuple[str, str] | None:
    """The range of a number, a duration or a rate; None for words."""
    if match := _NUMBER.fullmatch(str(option["accepted"])):
        return match[1], match[2]
    default = measure(str(option["default"]))
    if default is None or default[1] not in _WRITTEN_IN:
        return None
    factor, unit = _WRITTEN_IN[default[1]]
    return f"{factor * default[0] / _TIMES:g} {unit}", f"{factor * default[0] * _TIMES:g} {unit}"


def _between(name: str, low: str, high: str) -> Axis:
    def number(text: str) -> str | float:
        try:
            return float(text)
        except ValueError:
            return text

    bounds = {"from": number(low.strip()), "to": number(high.strip())}
    linear = range_of(bounds)
    is_log = min(linear.low, linear.high) > 0 and max(linear.low, linear.high) >= _LOG_FROM * min(
        linear.low, linear.high
    )
    return Axis(name, (), range_of({**bounds, "scale": "log"}) if is_log else linear)
