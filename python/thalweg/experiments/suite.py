"""Running many scenarios on one pool of threads, and storing each when all its trials are finished."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from thalweg.base.errors import ControllerError, RequestError, did_you_mean
from thalweg.base.executor import Executor
from thalweg.base.progress import Progress, silent
from thalweg.engine.catalogue import Entry
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.results.suite_result import Store, SuiteResult
from thalweg.trials.gathering import gather


def load_all(
    entries: Iterable[Entry], overrides: Sequence[tuple[str, str]], controllers: Sequence[tuple[str, str]]
) -> list[Scenario]:
    """Reads the scenarios of a suite; a controller applies to those scenarios that have its flow.

    Everything is read before anything runs. Raises RequestError, also if no scenario has the flow.
    """
    if not controllers:
        return [Scenario.from_entry(entry, overrides) for entry in entries]
    entries = list(entries)
    # A controller of the file may be none of the stack that is asked for.
    flows = {entry.name: set(Scenario.flow_names(entry, overrides)) for entry in entries}
    known = sorted(set().union(*flows.values()))
    candidate = entries[0].candidate if entries else ()
    if candidate and not set(candidate) & set(known):
        raise RequestError(
            f"suite.toml: candidate names {candidate[0]!r}, and no scenario has such a flow"
            f"{did_you_mean(candidate[0], known)}"
        )
    for flow, _ in controllers:
        if flow not in known:
            raise RequestError(f"no scenario of the suite has a flow {flow!r}{did_you_mean(flow, known)}")
    scenarios = []
    for entry in entries:
        bindings = [(flow, controller) for flow, controller in controllers if flow in flows[entry.name]]
        scenarios.append(Scenario.from_entry(entry, overrides, bindings))
    return scenarios


def run_suite(
    store: Store,
    result: SuiteResult,
    scenarios: Sequence[Scenario],
    trials: int,
    executor: Executor,
    on_progress: Progress = silent,
) -> bool:
    """Runs and stores scenarios from the seed of the result; returns whether all finished before a Ctrl-C.

    Raises ControllerError if a controller in Python fails; finished scenarios are kept.
    """
    begin, total = time.perf_counter(), trials * len(scenarios)

    def keep(number: int, outcomes: Outcomes) -> None:
        if outcomes.n < trials:  # a Ctrl-C was before the others
            return
        result.add(outcomes)
        result.wall_s = time.perf_counter() - begin
        store.add(outcomes)

    def progress(finished: int) -> None:
        on_progress(scenarios[min(finished // trials, len(scenarios) - 1)].name, finished, total)

    try:
        gather(executor, scenarios, range(result.seed, result.seed + trials), keep, progress)
        store.finish()
    except ControllerError as error:
        finished_ones = (*result.outcomes, *result.rivals)
        kept = [outcomes.scenario.name for outcomes in finished_ones if store.has(outcomes)]
        finished = f"{len(kept)} of {len(scenarios)} scenarios are finished"
        names = ", ".join(kept) or "none"
        raise ControllerError(f"{error}\n{finished} and kept in {store.root} ({names})") from error.__cause__
    except KeyboardInterrupt:
        result.outcomes = [outcomes for outcomes in result.outcomes if store.has(outcomes)]
        result.rivals = [outcomes for outcomes in result.rivals if store.has(outcomes)]
        return False
    return True
