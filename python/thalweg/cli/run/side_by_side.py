"""`thalweg run` with several controllers for a flow: each has the same trials, and they stand side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.base.executor import Executor
from thalweg.cli import tables
from thalweg.cli.compare.table import comparison_table
from thalweg.cli.console import Bar, complain, print_json, stdout
from thalweg.cli.options import Binding, Format
from thalweg.cli.status import FAILED, PASSED, REFUSED, of_result
from thalweg.engine.catalogue import Entry
from thalweg.engine.scenario import Scenario
from thalweg.judging.comparison.row import Row
from thalweg.results.comparison.suites import compare_results
from thalweg.results.comparison.traded import traded
from thalweg.results.suite_result import SuiteResult


@dataclass(frozen=True)
class Side:
    """One choice of controllers, and what its trials yielded."""

    label: str
    controllers: dict[str, str]
    result: SuiteResult

    def document(self) -> dict[str, Any]:
        """This side as JSON: the document of its run, and its controllers."""
        return {"controllers": self.controllers, **self.result.document()}


def run_side_by_side(
    entry: Entry,
    settings: Sequence[tuple[str, str]],
    choices: Sequence[Sequence[Binding]],
    seed: int,
    trials: int,
    executor: Executor,
    format_: Format,
) -> int:
    """Runs the same trials with each choice, and sets them side by side. Raises RequestError, and Interrupted."""
    bound = [{binding.flow: binding.controller for binding in choice} for choice in choices]
    scenarios = [Scenario.from_entry(entry, settings, controllers) for controllers in bound]
    differing = [flow for flow in bound[0] if len({pairs[flow] for pairs in bound}) > 1]
    sides = []
    with Bar() as bar:
        for number, (choice, scenario) in enumerate(zip(choices, scenarios, strict=True)):
            named = [
                binding.label or f"{binding.flow}={binding.controller}"
                for binding in choice
                if binding.flow in differing
            ]
            label = ", ".join(named)

            def report(done: int, label: str = label, before: int = number * trials) -> None:
                bar.show(label, before + done, trials * len(scenarios))

            result = SuiteResult(entry.suite, scenario.title, scenario.source, seed)
            begin = time.perf_counter()
            result.outcomes.append(scenario.trials(trials, seed, on_progress=report, executor=executor))
            result.wall_s = time.perf_counter() - begin
            sides.append(Side(label, bound[number], result))
    compared = [compare_results(sides[0].result, side.result) for side in sides[1:]]
    if format_ is Format.JSON:
        print_json(_document(sides, compared))
    else:
        _print(entry, sides, compared, trials, seed)
    for side in sides:
        if late := side.result.outcomes[0].unfinished():
            complain(f"{side.label}: {late}")
    statuses = {of_result(side.result) for side in sides}
    return next((status for status in (FAILED, REFUSED) if status in statuses), PASSED)


def _document(sides: Sequence[Side], compared: Sequence[Sequence[Row]]) -> dict[str, Any]:
    comparisons = [
        {
            "a": sides[0].label,
            "b": side.label,
            "rows": [row.document() for row in rows],
            "traded": [one.document() for one in traded(rows, sides[0].result, side.result)],
        }
        for side, rows in zip(sides[1:], compared, strict=True)
    ]
    return {"sides": [side.document() for side in sides], "comparisons": comparisons}


def _print(entry: Entry, sides: Sequence[Side], compared: Sequence[Sequence[Row]], trials: int, seed: int) -> None:
    console = stdout()
    console.print(f"{sides[0].result.title}  ({entry.reference})")
    labelled = [(side.label, side.result.outcomes[0]) for side in sides]
    for table in tables.measured_side_by_side(labelled):
        console.print(table)
    verdicts = [row for name, outcomes in labelled for row in tables.verdict_rows(name, outcomes.verdict())]
    if any(outcomes.verdict().criteria for _, outcomes in labelled):
        console.print(tables.verdict_table(verdicts, heading="with"))
    for side, rows in zip(sides[1:], compared, strict=True):
        console.print(f"\nA: {sides[0].label}; B: {side.label}")
        console.print(comparison_table(rows, is_one_scenario=True))
        for one in traded(rows, sides[0].result, side.result):
            console.print(one.text())
    console.print(f"{tables.each(trials)}, seed {seed}")
