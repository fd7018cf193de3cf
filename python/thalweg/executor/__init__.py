"""Where trials run: an executor plays batches, and is all that suites and sweeps know of it.

A batch is a list of scenarios and the seeds that each of them has a trial of. The outcomes of a scenario are
handed over as they come from the simulator, when all its trials are finished; what makes tables of them is up to
the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from thalweg import _native
from thalweg.scenario import Scenario

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
