"""Trials on the threads of this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg import _native, audit
from thalweg.executor import Report, Take
from thalweg.scenario import Interrupted, Scenario, findings


@dataclass(frozen=True)
class Threads:
    """Threads of this process; processes where a controller in Python needs an interpreter of its own."""

    jobs: int = 0
    """How many; 0 for all cores."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""
        return self.jobs or os.cpu_count() or 1

    def play(self, scenarios: Sequence[Scenario], seeds: range, report: Report, take: Take) -> bool:
        """Plays trials. No thread waits for the last trial of a scenario, but for those in Python."""
        if any(scenario.definitions for scenario in scenarios):
            return self._in_turn(scenarios, seeds, report, take)
        own = [scenario.native for scenario in scenarios]
        with findings():
            return not _native.run_batches(own, seeds, self.jobs, report, take, audit.is_on())

    def _in_turn(self, scenarios: Sequence[Scenario], seeds: range, report: Report, take: Take) -> bool:
        for number, scenario in enumerate(scenarios):

            def hear(finished: int, before: int = number * len(seeds)) -> None:
                report(before + finished)

            try:
                outcomes = scenario.trials(len(seeds), seeds.start, self.jobs, hear)
            except Interrupted:
                return False
            assert isinstance(outcomes.handle, _native.Outcomes)
            take(number, outcomes.handle)
        return True
