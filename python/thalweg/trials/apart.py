"""Playing a batch that failed trial by trial, so that it is known which trial fails and the others do not."""

from __future__ import annotations

from collections.abc import Callable, Collection

from thalweg import _native
from thalweg.base.errors import ControllerError
from thalweg.base.executor import Batch, Failed, Finished, Take
from thalweg.engine.scenario import Scenario

FAILURES = (ControllerError, _native.Panicked)
"""What a trial may fail with; any other error is none of a trial."""


def play_apart(
    batch: Batch, taken: Collection[int], play_trial: Callable[[Scenario, int], _native.Outcomes], take: Take
) -> None:
    """Plays trials of scenarios that were not `taken` one by one. Raises any error but a trial's failure."""
    for number, scenario in enumerate(batch.scenarios):
        if number in taken:
            continue
        for seed in batch.seeds:
            try:
                outcomes = play_trial(scenario, seed)
            except FAILURES as error:
                take(Failed(batch, number, seed, error))
            else:
                take(Finished(batch, number, outcomes))
