"""Where trials run: an executor plays batches, and is all that suites and sweeps know of it.

A batch is a list of scenarios and the seeds that each of them has a trial of. The outcomes of a scenario are
handed over as they come from the simulator, when all its trials are finished; what makes tables of them is up to
the caller.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from thalweg import _native, audit
from thalweg.scenario import Interrupted, Scenario, findings

Report = Callable[[int], None]
"""Hears how many trials of a batch are finished."""
Take = Callable[[int, _native.Outcomes], None]
"""Gets the number of a scenario in its batch, and the outcomes of its trials."""


class Executor(Protocol):
    """Plays batches of trials."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""

    def play(self, scenarios: Sequence[Scenario], seeds: range, report: Report, take: Take) -> bool:
        """Plays one trial of each scenario for each seed; tells whether all were finished before a Ctrl-C.

        `take` gets each scenario once, in their order. Raises ControllerError, AuditError, and RuntimeError if the
        simulator panics, which is a defect.
        """


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
