"""All outcomes of each scenario together, from whatever executor: what suites, studies and `trials()` ask for.

An executor that plays one batch at once gets all of them as one; others get batches of about a second, whose parts
are put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from thalweg.base.executor import Batch, Executor, Failed, Finished, Report, unheard
from thalweg.engine.outcome import Outcomes, together
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.trials.machine import ThisMachine
from thalweg.trials.pace import Pace

Keep = Callable[[int, Outcomes], None]
"""Gets the number of a scenario and its outcomes."""


def gather(
    executor: Executor, scenarios: Sequence[Scenario], seeds: Sequence[int], keep: Keep, report: Report = unheard
) -> None:
    """Plays one trial of each scenario for each seed, and hands over each scenario whose trials are all finished.

    Raises the error of a trial that fails, once the scenarios before its own are handed over. After Ctrl-C it
    hands over the scenarios of which some trials are finished, with these, and raises KeyboardInterrupt.
    """
    parts: dict[int, list[Outcomes]] = {}
    paces = [Pace() for _ in scenarios]
    unfinished = set(range(len(scenarios)))
    failures: dict[int, Exception] = {}

    def take(result: Finished | Failed) -> None:
        number = result.number if result.batch.label is None else result.batch.label
        if isinstance(result, Failed):
            failures.setdefault(number, result.error)
        else:
            paces[number].add(result.outcomes)
            part = Outcomes.of(result.outcomes, scenarios[number].description)
            own = parts[number] = [*parts.get(number, ()), part]  # a Ctrl-C leaves no empty list
            if sum(part.n for part in own) == len(seeds):
                keep(number, together(parts.pop(number)))
                unfinished.discard(number)
        if failures and min(failures) <= min(unfinished):
            raise failures[min(failures)]

    def batches() -> Iterator[Batch]:
        for number, scenario in enumerate(scenarios):
            for _, some in paces[number].pieces(executor, 1, seeds):
                yield Batch([scenario], some, label=number)

    try:
        executor.play([Batch(scenarios, seeds)] if executor.lanes == 1 else batches(), take, report)
    except KeyboardInterrupt:
        for number, own in parts.items():
            keep(number, together(own))
        raise


def outcomes_of(
    executor: Executor, scenarios: Sequence[Scenario], seeds: Sequence[int], report: Report = unheard
) -> list[Outcomes | Exception]:
    """Plays one trial of each scenario for each seed: the outcomes of each, or why its first trial failed.

    Raises KeyboardInterrupt after Ctrl-C, and what else its executor raises.
    """
    parts: list[list[Outcomes]] = [[] for _ in scenarios]
    failures: dict[int, Exception] = {}

    def take(result: Finished | Failed) -> None:
        number = result.number if result.batch.label is None else result.batch.label
        if isinstance(result, Failed):
            failures.setdefault(number, result.error)
        else:
            parts[number].append(Outcomes.of(result.outcomes, scenarios[number].description))

    batches = [Batch(scenarios, seeds)]
    if executor.lanes > 1:
        batches = [Batch([one], seeds, label=number) for number, one in enumerate(scenarios)]
    executor.play(batches, take, report)
    return [failures[number] if number in failures else together(own) for number, own in enumerate(parts)]


def run_trials(
    scenario: Scenario, seeds: Sequence[int], executor: Executor | None, jobs: int, report: Report = unheard
) -> Outcomes:
    """Plays the trials of one scenario: on an executor, or on this machine. Raises Interrupted after Ctrl-C."""
    found: list[Outcomes] = []

    def keep(number: int, outcomes: Outcomes) -> None:
        found.append(outcomes)

    try:
        gather(executor or ThisMachine(jobs), [scenario], seeds, keep, report)
    except KeyboardInterrupt:
        raise Interrupted(found[0] if found else None) from None
    return found[0]
