"""The scenarios of a gate: read with what is under test, and played into what a baseline keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.base.executor import Executor
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.gate.baseline import Baseline, Recorded, recorded
from thalweg.experiments.gate.fit import fingerprint_of
from thalweg.experiments.suite import load_all
from thalweg.results.against.rivals import main_flow
from thalweg.trials.gathering import gather


@dataclass(frozen=True)
class Played:
    """What a baseline keeps of trials."""

    recorded: Mapping[str, Recorded]
    """By the names of scenarios."""
    core_s: float
    """The processor time of all trials."""


@dataclass(frozen=True)
class Scenarios:
    """The scenarios of a gate, with the flow of each that is judged."""

    suite: Suite
    scenarios: Sequence[Scenario]
    flows: Sequence[str]
    fingerprints: Mapping[str, str]
    seeds: range

    @staticmethod
    def read(
        suite: Suite,
        only: list[str] | None,
        overrides: Sequence[tuple[str, str]],
        bound: Sequence[tuple[str, str]],
        seeds: range,
    ) -> Scenarios:
        """Reads scenarios with settings, and with the controllers that are bound to flows. Raises RequestError."""
        entries = suite.matching(only)
        scenarios = load_all(entries, overrides, bound)
        flows = [main_flow(scenario, bound) for scenario in scenarios]
        names = [flow for flow, _ in bound]
        fingerprints = {
            entry.name: fingerprint_of(entry, scenario, flow, overrides, names)
            for entry, scenario, flow in zip(entries, scenarios, flows, strict=True)
        }
        return Scenarios(suite, scenarios, flows, fingerprints, seeds)

    @property
    def trials(self) -> int:
        """How many trials all of them have."""
        return len(self.scenarios) * len(self.seeds)

    @property
    def judged(self) -> dict[str, Mapping[str, Any]]:
        """The flow of each scenario that is judged."""
        return {
            scenario.name: next(one for one in scenario.flows if one["name"] == flow)
            for scenario, flow in zip(self.scenarios, self.flows, strict=True)
        }

    def play(self, executor: Executor, metrics: Iterable[str], report: Callable[[int], None]) -> Played:
        """What a baseline keeps of all trials, in the order of the suite. Raises what the executor raises."""
        wanted, times = list(metrics), list[float]()
        now: dict[int, Recorded] = {}

        def keep(number: int, outcomes: Outcomes) -> None:
            if outcomes.n < len(self.seeds):  # a Ctrl-C was before the others
                return
            fingerprint = self.fingerprints[self.scenarios[number].name]
            now[number] = recorded(outcomes, self.flows[number], fingerprint, wanted)
            times.append(outcomes.core_s)

        gather(executor, self.scenarios, self.seeds, keep, report)
        return Played({scenario.name: now[number] for number, scenario in enumerate(self.scenarios)}, sum(times))

    def accepted(self, old: Baseline | None, now: Mapping[str, Recorded]) -> Baseline:
        """The baseline of these trials; of an old one the scenarios stay that were not played."""
        kept = {} if old is None else old.scenarios
        return Baseline(self.suite.name, self.seeds.start, len(self.seeds), {**kept, **now})
