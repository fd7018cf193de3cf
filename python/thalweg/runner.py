"""Running many scenarios one after the other, each on all cores, and storing each when it is finished."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from thalweg.catalogue import Entry
from thalweg.errors import RequestError, did_you_mean
from thalweg.memory import return_large_blocks
from thalweg.progress import Progress, silent
from thalweg.scenario import Interrupted, Scenario
from thalweg.store.results import Store, SuiteResult


def load_all(
    entries: Iterable[Entry], overrides: Sequence[tuple[str, str]], controllers: Sequence[tuple[str, str]]
) -> list[Scenario]:
    """Reads the scenarios of a suite; a controller goes to those scenarios that have its flow.

    Everything is read before anything runs. Raises RequestError, also if no scenario has the flow.
    """
    plain = [(entry, Scenario.from_entry(entry, overrides)) for entry in entries]
    flows = {entry.name: {str(flow["name"]) for flow in scenario.flows} for entry, scenario in plain}
    known = sorted(set().union(*flows.values()))
    for flow, _ in controllers:
        if flow not in known:
            raise RequestError(f"no scenario of the suite has a flow {flow!r}{did_you_mean(flow, known)}")
    scenarios = []
    for entry, scenario in plain:
        bindings = [(flow, controller) for flow, controller in controllers if flow in flows[entry.name]]
        scenarios.append(Scenario.from_entry(entry, overrides, bindings) if bindings else scenario)
    return scenarios


def run_suite(
    store: Store,
    result: SuiteResult,
    scenarios: Sequence[Scenario],
    trials: int,
    jobs: int,
    on_progress: Progress = silent,
) -> bool:
    """Runs and stores scenarios from the seed of the result; tells whether all were finished before a Ctrl-C."""
    return_large_blocks()
    begin, total, done = time.perf_counter(), trials * len(scenarios), 0
    try:
        for scenario in scenarios:

            def report(finished: int, name: str = scenario.name, before: int = done) -> None:
                on_progress(name, before + finished, total)

            report(0)
            outcomes = scenario.trials(trials, result.seed, jobs, report)
            done += trials
            result.outcomes.append(outcomes)
            result.wall_s = time.perf_counter() - begin
            store.add(outcomes)
        store.finish()
    except (Interrupted, KeyboardInterrupt):
        result.outcomes = [outcomes for outcomes in result.outcomes if store.has(outcomes)]
        return False
    return True
