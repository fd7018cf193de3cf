"""How long a study will take, by a trial of some of its cells, as sweeps find it out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.engine.scenario import Scenario

LONG_S = 60.0
"""A study that takes longer says so before it starts."""
TRACED = 1.5
"""What a trial takes whose trace is looked at, in trials without one."""
_PILOTS = 16
"""Most cells that are tried."""
_WORK_OF_A_PILOT = 20
"""What is tried is not kept: a small part of the work."""
_LEAST_WORK = 5
"""For each trial at once: less is over before it is estimated."""
_GOLDEN = 0.618
"""Steps of this never repeat: cells that come in turns of queues or stacks are all met."""


def estimate_s(
    scenarios: Sequence[Scenario], work: Sequence[float], seed: int, executor: Executor
) -> float | None:
    """The time that so many trials of each scenario take, on a machine that does nothing else.

    None if they are too few to try one, or if none can be tried. Raises KeyboardInterrupt, and AuditError.
    """
    total = sum(work)
    if total < _LEAST_WORK * executor.width:
        return None
    parts = list(_parts(len(scenarios), min(_PILOTS, max(1, int(total / _WORK_OF_A_PILOT)))))
    pilots = [scenarios[part[int(len(part) * (number * _GOLDEN % 1))]] for number, part in enumerate(parts, 1)]
    took: dict[int, float] = {}

    def take(result: Finished | Failed) -> None:
        if isinstance(result, Finished):
            took[result.batch.label + result.number] = float(result.outcomes.trials["core_s"][0])

    most = math.ceil(len(pilots) / executor.lanes)
    executor.play(
        (Batch(pilots[first : first + most], [seed], first) for first in range(0, len(pilots), most)), take
    )
    if not took:
        return None
    usual = sum(took.values()) / len(took)
    core_s = sum(sum(work[part.start : part.stop]) * took.get(number, usual) for number, part in enumerate(parts))
    return core_s / executor.width


def _parts(count: int, most: int) -> Iterator[range]:
    """Neighbours, in so many parts.

    >>> list(_parts(5, 2)), list(_parts(2, 8))
    ([range(0, 2), range(2, 5)], [range(0, 1), range(1, 2)])
    """
    parts = min(count, most)
    for number in range(parts):
        yield range(number * count // parts, (number + 1) * count // parts)
