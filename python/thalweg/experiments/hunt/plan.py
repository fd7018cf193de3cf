"""The plan of a hunt: the space of a sweep, what to make as bad as possible, and how long to look for it.

scenario = "c4/simple-20mbps"      # scenario, trials, seed, set, controllers, axes, tied and exclude: as in sweeps
objective = "slowdown"             # or { kind = "taken", flow = "main", victim = "other", reference = "cubic" }
budget = 500                       # scenarios that are tried
search_seed = 1                    # of the sampler
sampler = "evolution"              # or "tpe", "random"
keep = 0.9                         # share of what the objective has gained that shrinking leaves
replays = 100                      # fresh seeds, on which a find has to be worse than the scenario of the plan
fixed = ["flow.main.download"]     # keys that shrinking leaves as they were found
[axes]
"path.rtt" = { from = "10 ms", to = "320 ms", scale = "log" }
[[elements]]                       # see `elements.py`
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError, ScenarioError, did_you_mean
from thalweg.base.toml import read_toml
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.hunt.elements import Elements, Suggest, drawn, read_elements
from thalweg.experiments.hunt.meetings import ELEMENT
from thalweg.experiments.hunt.moments import TIMES
from thalweg.experiments.hunt.objective import Objective, read_objective
from thalweg.experiments.hunt.size import at, leaves
from thalweg.experiments.sweep.axis import CONTROLLER, Axis, Range, Value
from thalweg.experiments.sweep.plan import LARGEST_SEED, Plan, plan_of, read_document
from thalweg.experiments.sweep.plan_file import PlanFile
from thalweg.experiments.sweep.point import Point
from thalweg.judging.statistics.claims import LEAST_TRIALS

OF_SPACE = ("scenario", "trials", "seed", "set", "controllers", "axes", "tied", "exclude")
OWN = ("objective", "budget", "search_seed", "sampler", "keep", "replays", "fixed", "elements")
KEYS = (*OF_SPACE, *OWN)
SAMPLERS = ("evolution", "tpe", "random")
LARGEST_BUDGET = 10**6
MOST_REPLAYS = 10**4
_LARGEST_SEED = 2**32 - 1
Document = dict[str, Any]
"""A scenario as TOML reads it."""


@dataclass(frozen=True)
class HuntPlan:
    """What to hunt for, and where."""

    plan: Plan
    """A plan of one point: its axes are the space."""
    objective: Objective
    elements: tuple[Elements, ...]
    budget: int
    search_seed: int
    sampler: str
    keep: float
    replays: int = 100
    """Fresh seeds, on which a find has to be worse than the scenario of the plan."""
    fixed: tuple[str, ...] = ()

    @property
    def seeds(self) -> range:
        """The seeds of the trials of each scenario."""
        return self.plan.seeds

    @property
    def replayed(self) -> HuntPlan:
        """The same with fresh seeds, which the search has not seen: those that follow its own."""
        seed = self.plan.seed + self.plan.trials
        seed = seed if seed + self.replays <= LARGEST_SEED else self.plan.seed - self.replays
        return replace(self, plan=replace(self.plan, seed=seed, trials=self.replays))

    def base(self) -> Document:
        """The scenario of the plan, without anything that varies. Raises ScenarioError."""
        return self._document(Point(_with_axes(self.plan), 0, ()).scenario)

    def draw(self, suggest: Suggest) -> Document | None:
        """The scenario that is decided on; None if it is excluded. Raises ScenarioError if it cannot be."""
        space = self.plan.space
        values: dict[int, Value] = {}
        for group in space.dimensions:
            first = space.axes[group[0]]
            values[group[0]] = drawn(first, first.key, suggest)
            for axis in group[1:]:
                values[axis] = _tied(first, values[group[0]], space.axes[axis], first.key, suggest)
        chosen = tuple(values[axis] for axis in range(len(space.axes)))
        entries = [(one, one.draw(suggest, self.plan.controller)) for one in self.elements]
        if space.is_excluded(chosen):
            return None
        document = self._document(Point(self.plan, 0, chosen).scenario)
        for one, added in entries:
            one.put(document, added)
        return document

    def clock(self, name: str) -> Range | None:
        """The range of a parameter of `draw` that says when something happens; None of any other."""
        known = {axis.key: axis for axis in self.plan.axes}
        element = ELEMENT.fullmatch(name)
        if element:
            own = next((one for one in self.elements if one.name == element["list"]), None)
            known |= {f"{own.name}.{element['number']}.{axis.key}": axis for axis in own.axes} if own else {}
        axis = known.get(name)
        is_time = axis is not None and axis.key.rpartition(".")[2] in TIMES and axis.unit == "s"
        return axis.range if axis is not None and is_time and not axis.values else None

    def _document(self, scenario: Scenario) -> Document:
        """A scenario as the hunt judges it: its criterion is the objective's."""
        document = read_toml(scenario.toml, scenario.name)
        for key in ("source", "note", "pass", "sample"):
            document.pop(key, None)
        document["pass"] = [self.objective.criterion(document)]
        return document

    def scenario(
        self, document: Mapping[str, Any], settings: Sequence[tuple[str, str]] = (), reference: bool = False
    ) -> Scenario:
        """The scenario of a document, with the reference controller if that is asked. Raises RequestError."""
        objective = self.objective
        controllers = {objective.flow: objective.reference} if reference and objective.reference else {}
        base = self.plan.base
        return Scenario.from_toml(
            scenario_text(document), Path(base.name).stem, settings, controllers, base.file, None
        )


def _with_axes(plan: Plan, *axes: Axis) -> Plan:
    """The plan with only these axes."""
    return replace(plan, space=replace(plan.space, axes=axes, tied=(), exclusions=()))


def _tied(first: Axis, value: Value, other: Axis, name: str, suggest: Suggest) -> Value:
    """The value of an axis that goes with another: at the same place of the list, or share of the range."""
    if first.values and other.values:
        return other.values[first.values.index(value)]
    share = suggest.share(name) if not first.values else first.values.index(value) / max(1, len(first.values) - 1)
    return other.at(share)


def read_hunt(file: Path) -> HuntPlan:
    """The plan in a file. Raises RequestError with file, line, key and value."""
    document, text = read_document(file)
    return hunt_of(document, PlanFile(str(file), text), file.parent)


def hunt_of(document: Mapping[str, Any], file: PlanFile, folder: Path) -> HuntPlan:
    """The plan that a document means, checked. Raises RequestError."""
    file.check_keys(document, KEYS)
    elements = read_elements(document.get("elements", []), file)
    space = {key: document[key] for key in OF_SPACE if key in document}
    space.setdefault("trials", 1)
    space["design"] = {"kind": "random", "points": 1}
    if not document.get("axes") and elements:
        space["axes"] = {}
    plan = plan_of(space, file, folder, needs_axes=not elements)
    budget = _whole(document, "budget", 500, 1, LARGEST_BUDGET, file)
    search_seed = _whole(document, "search_seed", 1, 0, _LARGEST_SEED, file)
    sampler = document.get("sampler", SAMPLERS[0])
    if sampler not in SAMPLERS:
        raise file.refusal(("sampler",), f"accepted: {', '.join(SAMPLERS)}", sampler)
    keep = document.get("keep", 0.9)
    if not isinstance(keep, int | float) or isinstance(keep, bool) or not 0 < keep <= 1:
        raise file.refusal(("keep",), "accepted: a share above 0 and up to 1, such as 0.9", keep)
    replays = _whole(document, "replays", 100, LEAST_TRIALS, MOST_REPLAYS, file)
    fixed = document.get("fixed", [])
    if not isinstance(fixed, list | tuple) or not all(isinstance(key, str) for key in fixed):
        raise file.refusal(("fixed",), 'accepted: a list of keys, such as ["flow.main.download"]', fixed)
    if "objective" not in document:
        raise file.refusal(("objective",), 'it is missing; accepted: objective = "slowdown"')
    scenario = Point(_with_axes(plan), 0, ()).scenario
    try:
        flows = [str(flow["name"]) for flow in scenario.flows]
        objective = read_objective(document["objective"], flows)
        objective.check(scenario, read_toml(scenario.toml, scenario.name))
    except RequestError as error:
        raise file.refusal(("objective",), str(error)) from None
    found = HuntPlan(plan, objective, elements, budget, search_seed, sampler, float(keep), replays, tuple(fixed))
    for number, key in enumerate(fixed):
        if not _can_have(found, key):
            problem = f"no scenario of the plan has it{did_you_mean(key, _keys(found))}"
            raise file.refusal(("fixed", str(number)), problem, key)
    _check(found, file)
    return found


def _can_have(hunt: HuntPlan, key: str) -> bool:
    """Whether a key is in the scenario of a plan, or may be put there by an axis or an element."""
    if at(hunt.base(), key) is not None:
        return True
    if any(f"{axis.key}.".startswith(f"{key}.") or key.startswith(f"{axis.key}.") for axis in hunt.plan.axes):
        return True
    for one in hunt.elements:
        entry, _, rest = key.removeprefix(f"{one.of}.").partition(".")
        is_new = entry.isdigit() or re.fullmatch(rf"{re.escape(one.of.rpartition('.')[2])}[0-9]+", entry)
        own = ("", "name", *(axis.key for axis in one.axes))
        if key == one.of or (key.startswith(f"{one.of}.") and is_new and rest in own):
            return True
    return False


def _keys(hunt: HuntPlan) -> list[str]:
    """Keys that a plan may fix: the keys of the scenario, with flows by name, and the keys that vary."""
    base, found = hunt.base(), []
    for path, _ in leaves(base):
        table: Any = base
        words = []
        for part in path:
            table = table[part]
            words.append(str(table.get("name", part)) if isinstance(part, int) else part)
        found.append(".".join(words))
    return [*found, *(axis.key for axis in hunt.plan.axes), *(one.of for one in hunt.elements)]


def _whole(document: Mapping[str, Any], key: str, default: int, least: int, most: int, file: PlanFile) -> int:
    value = document.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise file.refusal((key,), f"accepted: a whole number, {least} to {most}", value)
    return value


def _check(hunt: HuntPlan, file: PlanFile) -> None:
    """Reads the scenario with each value of each axis and key of elements: mistakes are found at once."""
    document = hunt.base()
    hunt.scenario(document)
    if hunt.objective.reference:
        try:
            hunt.scenario(document, reference=True)
        except RequestError as error:
            raise file.refusal(("objective",), str(error), hunt.objective.reference) from None
    plan = hunt.plan
    for axis in plan.axes:
        for value in axis.values or (axis.at(0), axis.at(1)):
            _ = Point(_with_axes(plan, axis), 0, (value,)).scenario
    for number, one in enumerate(hunt.elements):
        for axis in one.axes:
            if axis.key.startswith(CONTROLLER):
                raise file.refusal(("elements", str(number), "keys", axis.key), 'accepted: "controller"')
        for low in (True, False):
            document = hunt.base()
            try:
                one.put(document, [_extreme(one, low, hunt)])
                hunt.scenario(document)
            except ScenarioError as error:
                at = "the first" if low else "the last"
                problem = f"an entry with {at} value of each key is refused: {error}"
                raise file.refusal(("elements", str(number)), problem) from None
            except RequestError as error:
                raise file.refusal(("elements", str(number), "list"), str(error), one.of) from None


def _extreme(elements: Elements, low: bool, hunt: HuntPlan) -> dict[str, Any]:
    """An entry with the first, or the last, value of each key."""
    values = {axis.key: axis.at(0.0 if low else 1.0) for axis in elements.axes}
    return {
        key: hunt.plan.controller(value) if key == "controller" else value.given for key, value in values.items()
    }
