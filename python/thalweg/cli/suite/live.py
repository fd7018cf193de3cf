"""`thalweg suite --live`: the trials of a suite in real time, one by one, stored and judged as all others."""

from __future__ import annotations

import time
from collections.abc import Sequence

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.cli.console import Bar, complain
from thalweg.cli.live_options import ADVICE, LiveOptions
from thalweg.engine.catalogue import Entry
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.realtime import LiveScenario, is_faithful, play
from thalweg.results.suite_result import Store, SuiteResult

LIVE_TRIALS = 5
"""Trials of each scenario, where nothing else is asked: real time takes as long as it says."""


def load_live(
    entries: Sequence[Entry], overrides: Sequence[tuple[str, str]], controllers: Sequence[tuple[str, str]]
) -> list[LiveScenario]:
    """Reads the scenarios of a suite before any runs; a controller applies to those that have its flow.

    Raises RequestError, also if no scenario has the flow.
    """
    flows = {entry.name: set(Scenario.flow_names(entry, overrides)) for entry in entries}
    known = sorted(set().union(*flows.values()))
    for flow, _ in controllers:
        if flow not in known:
            raise RequestError(f"no scenario of the suite has a flow {flow!r}{did_you_mean(flow, known)}")
    return [
        LiveScenario.from_entry(entry, overrides, [one for one in controllers if one[0] in flows[entry.name]])
        for entry in entries
    ]


def run_suite_live(
    store: Store, result: SuiteResult, scenarios: Sequence[LiveScenario], trials: int, options: LiveOptions
) -> tuple[bool, bool]:
    """Runs and stores scenarios; returns whether all were finished before a Ctrl-C, and whether times can be used.

    They cannot where no trial of a scenario was what it describes, or with `strict_timing` where any was not.
    """
    begin, total, timing = time.perf_counter(), trials * len(scenarios), options.timing()
    usable = True
    with Bar() as bar:
        for number, scenario in enumerate(scenarios):
            name = scenario.description.name

            def show(done: int, name: str = name, before: int = number * trials) -> None:
                bar.show(name, before + done, total)

            try:
                played = play(scenario, trials, result.seed, show, timing)
            except (Interrupted, KeyboardInterrupt):
                return False, usable
            result.add(played.outcomes)
            result.wall_s = time.perf_counter() - begin
            store.add(played.outcomes)
            late = sum(not is_faithful(report) for report in played.reports)
            if late == trials or (late and options.strict_timing):
                usable = False
                complain(f"{name}: {late} of {trials} trials were not what the scenario describes: {ADVICE}")
    store.finish()
    return True, usable
