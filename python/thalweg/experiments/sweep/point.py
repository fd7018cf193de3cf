"""One point of a sweep: its scenario, and what it is known by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.engine.scenario import Scenario
from thalweg.experiments.sweep.axis import CONTROLLER, Value, option
from thalweg.experiments.sweep.plan import Plan


@dataclass(frozen=True)
class Point:
    """A scenario with the values of one point."""

    plan: Plan
    number: int
    values: tuple[Value, ...]
    """Axis by axis."""

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario, checked. Raises ScenarioError, which names the value, or the values, that are refused."""
        try:
            return self._read()
        except RequestError as error:
            raise self._refusal(error) from None

    def _read(self) -> Scenario:
        base, resolver = self.plan.base, self.plan.resolver()
        return Scenario.from_toml(
            base.text, Path(base.name).stem, *self._changes(), base.file, base.suite, resolver
        )

    @cached_property
    def hash(self) -> str:
        """What identifies trials of this point, together with their seed and the engine. Raises ScenarioError."""
        if self.scenario.fingerprint is None:
            nameless = next(one for one in self.scenario.definitions.values() if one.source is None)
            problem = "cannot be identified later; use a class in a file"
            raise ScenarioError(f"{self.plan.file.name}: {nameless.controller.__name__} {problem}")
        return self.scenario.fingerprint

    @property
    def words(self) -> str:
        """Its values: `path.rate = 5 Mbps, controller.main = cubic`."""
        axes = self.plan.axes
        return ", ".join(f"{axis.key} = {value.text}" for axis, value in zip(axes, self.values, strict=True))

    def _changes(self) -> tuple[list[tuple[str, str]], list[tuple[str, Any]]]:
        """Overrides, and controllers."""
        overrides, controllers = [], []
        for _, key, value in self._given():
            if key.startswith(CONTROLLER):
                controllers.append((key.removeprefix(CONTROLLER), self.plan.controller(value)))
            else:
                overrides.append((key, value.text))
        return overrides, controllers

    def _given(self) -> Iterator[tuple[tuple[str, str], str, Value]]:
        """All that it sets: where the plan has it, the key, and the value."""
        for key, value in self.plan.settings:
            flow = key.removeprefix(CONTROLLER)
            yield ("set", key) if flow == key else ("controllers", flow), key, value
        for axis, value in zip(self.plan.axes, self.values, strict=True):
            yield ("axes", axis.key), axis.key, value

    def _refusal(self, error: RequestError) -> ScenarioError:
        """The error of a scenario: as it is without any value, of the one value that is refused, or of all."""
        plan = self.plan
        base = str(self._refused_with())
        problem = base.removeprefix(plan.base.file).partition(": ")[2]

        def is_of_base(refused: RequestError) -> bool:
            """Whether the mistake is in the scenario itself, whose message names the line and not the values."""
            return str(refused) == base or (problem != "" and str(refused).endswith(f": {problem}"))

        if is_of_base(error):
            if plan.base.is_inline and problem:
                return self._refusal_within(problem)
            return ScenarioError(f"{plan.file.name}: {base}")
        for at, key, value in self._given():
            refused = self._refused_with((key, value))
            if refused is not None and not is_of_base(refused):
                option_words = f"{' '.join(option(key, plan.argument(key, value)))}: "
                _, found, own = str(refused).partition(option_words)
                return plan.file.refusal(at, own if found else str(refused), value.text)
        where = f" at {self.words}:" if self.values else ""
        return ScenarioError(f"{plan.file.name}:{where} {error}")

    def _refusal_within(self, problem: str) -> ScenarioError:
        """The error of the scenario within the plan: of its line there, or of `scenario` if no line says so."""
        file = self.plan.file
        if " is missing at the top" in problem:  # the whole scenario lacks it, no line of the plan
            return file.refusal(("scenario",), problem.replace(" at the top", "", 1))
        text = file.own_scenario()
        if text is not None:
            base = replace(self.plan.base, text=text.encode(), file=file.name)
            refused = str(replace(self, plan=replace(self.plan, base=base))._refused_with())
            if refused.startswith(f"{file.name}:"):
                return ScenarioError(refused)
        return file.refusal(("scenario",), problem)

    def _refused_with(self, *settings: tuple[str, Value]) -> RequestError | None:
        """The error of the scenario with only these settings."""
        plan = replace(self.plan, settings=settings, space=replace(self.plan.space, axes=()))
        try:
            replace(self, plan=plan, values=())._read()
        except RequestError as error:
            return error
        return None
