"""Elements of a scenario of which a hunt decides how many there are: changes of the path, flows, links of media.

[[elements]]
list = "path.change"                  # a list of tables in the scenario
most = 4                              # up to so many, in addition to the scenario's own
optional = ["rtt", "buffer"]          # keys that an entry may lack
[elements.keys]                       # as the axes of a sweep
at = { from = "0 s", to = "8 s" }
rtt = { from = "10 ms", to = "300 ms", scale = "log" }
buffer = ["5 packets", "1 bdp"]

Entries with `at` are put in the order of time. Flows and media that have no name get one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from thalweg.base.errors import RequestError, ScenarioError, did_you_mean
from thalweg.base.quantity import measure
from thalweg.experiments.sweep.axis import Axis, Value, read_axis
from thalweg.experiments.sweep.plan_file import PlanFile

KEYS = ("list", "most", "optional", "keys")
_MOST = 20
_NAMED = ("flow", "media", "link")
"""Lists whose entries need a name."""


class Suggest(Protocol):
    """Who decides on a scenario of a space: a sampler, which hears what came of it."""

    def share(self, name: str) -> float:
        """A number from 0 to 1."""

    def step(self, name: str, count: int) -> int:
        """One of `count` in an order, from 0."""

    def choice(self, name: str, count: int) -> int:
        """One of `count` without an order, from 0."""


@dataclass(frozen=True)
class Elements:
    """One list, and what its entries may be."""

    name: str
    """The name of its list; with a number if others have the same list: `path.change#2`."""
    of: str
    """The list, as `path.change`."""
    most: int
    optional: frozenset[str]
    axes: tuple[Axis, ...]

    def draw(self, suggest: Suggest, controller: Callable[[Value], Any]) -> list[dict[str, Any]]:
        """The entries that are decided on."""
        entries = []
        for number in range(suggest.step(self.name, self.most + 1)):
            entry: dict[str, Any] = {}
            for axis in self.axes:
                name = f"{self.name}.{number}.{axis.key}"
                if axis.key in self.optional and not suggest.choice(f"{name}?", 2):
                    continue
                value = drawn(axis, name, suggest)
                entry[axis.key] = controller(value) if axis.key == "controller" else value.given
            if self.optional and not (self.optional & entry.keys()):
                continue  # it would change nothing
            entries.append(entry)
        return entries

    def put(self, document: dict[str, Any], entries: list[dict[str, Any]]) -> None:
        """Adds entries to their list in the document of a scenario. Raises RequestError if there can be none."""
        *path, last = self.of.split(".")
        table: Any = document
        for part in path:
            if not isinstance(table, dict | list):
                break
            table = table.setdefault(part, {}) if isinstance(table, dict) else _named(table, part)
        there = table.get(last, []) if isinstance(table, dict) else None
        if not isinstance(there, list) or not all(isinstance(entry, dict) for entry in there):
            raise RequestError('it is not a list of tables; accepted: one, such as "path.change" or "flow"')
        if not entries:
            return
        first = len(there) + 1
        added = [
            {"name": f"{last}{n}", **entry} if last in _NAMED else entry for n, entry in enumerate(entries, first)
        ]
        table[last] = sorted([*there, *added], key=_time)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for entry in entries:
        if isinstance(entry, dict) and entry.get("name") == name:
            return entry
    names = [str(entry.get("name")) for entry in entries if isinstance(entry, dict)]
    raise RequestError(f"there is no {name!r}{did_you_mean(name, names)}")


def _time(entry: Mapping[str, Any]) -> float:
    measured = measure(str(entry.get("at", "")))
    return measured[0] if measured else 0.0


def drawn(axis: Axis, name: str, suggest: Suggest) -> Value:
    """The value of an axis that is decided on."""
    if not axis.values:
        return axis.at(suggest.share(name))
    count = len(axis.values)
    if count == 1:
        return axis.values[0]
    return axis.values[suggest.choice(name, count) if axis.unit is None else suggest.step(name, count)]


@dataclass(frozen=True)
class _NestedPlanFile(PlanFile):
    """A plan file in which axes stand below another key."""

    number: str = ""

    def refusal(self, keys: tuple[str, ...], problem: str, value: Any = ...) -> ScenarioError:
        """As in the file."""
        return super().refusal(("elements", self.number, "keys", *keys[1:]), problem, value)


def read_elements(given: Any, file: PlanFile) -> tuple[Elements, ...]:
    """What a plan says about elements. Raises RequestError with its place."""
    accepted = 'accepted: [[elements]] with list = "path.change", most = 4 and [elements.keys]'
    if not isinstance(given, list | tuple) or not all(isinstance(entry, Mapping) for entry in given):
        raise file.refusal(("elements",), accepted, given)
    found: list[Elements] = []
    for number, entry in enumerate(given):
        same = sum(one.of == entry.get("list") for one in found)
        found.append(_read(entry, str(number), f"#{same + 1}" if same else "", file))
    return tuple(found)


def _read(entry: Mapping[str, Any], number: str, mark: str, file: PlanFile) -> Elements:
    at = ("elements", number)
    for key in entry:
        if key not in KEYS:
            raise file.refusal((*at, key), f"unknown key{did_you_mean(key, KEYS)}")
    name, most, keys = entry.get("list"), entry.get("most", 1), entry.get("keys")
    if not isinstance(name, str) or not all(name.split(".")):
        raise file.refusal((*at, "list"), 'accepted: a list of tables, such as "path.change" or "flow"', name)
    if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= _MOST:
        raise file.refusal((*at, "most"), f"accepted: a whole number, 1 to {_MOST}", most)
    if not isinstance(keys, Mapping) or not keys:
        raise file.refusal((*at, "keys"), 'accepted: a table such as { at = { from = "0 s", to = "8 s" } }', keys)
    within = _NestedPlanFile(file.name, file.text, number)
    axes = tuple(read_axis(key, value, within, needs_steps=False) for key, value in keys.items())
    optional = entry.get("optional", [])
    if not isinstance(optional, list | tuple) or not all(isinstance(key, str) and key in keys for key in optional):
        raise file.refusal((*at, "optional"), f"accepted: some of {', '.join(keys)}", optional)
    return Elements(f"{name}{mark}", name, most, frozenset(optional), axes)
