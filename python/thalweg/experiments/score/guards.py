"""What disqualifies a controller whatever else it does: bounds that a score cannot buy off.

They are wide: each says that a controller is unfit for a network that others use too, and none that it is worse
than CUBIC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from thalweg.experiments.score.figures import Figures, taken

MOST_TAKEN = 0.5
"""A flow of CUBIC gets less than half of what it has next to CUBIC."""
LEAST_SHARE = 0.1
"""Some flow gets less than a tenth of its equal share, where CUBIC leaves it twice that."""
MOST_LOSS = 0.1
"""A tenth of what was sent is lost, and five times what CUBIC loses there."""
TIMES_LOSS = 5

LIMITS = {
    "unfinished": "every flow that a trial waits for finishes",
    "taken": f"it takes at most {MOST_TAKEN} of what a flow of CUBIC gets next to CUBIC",
    "least_share": f"a flow has at least {LEAST_SHARE} of an equal share, or CUBIC leaves less than twice that",
    "loss": f"loss is at most {MOST_LOSS}, or {TIMES_LOSS} times CUBIC's",
    "failed": "no trial ends with an error of the controller",
}
"""The guards by name, in words."""


@dataclass(frozen=True)
class GuardViolation:
    """A guard that a controller has broken."""

    guard: str
    scenario: str
    value: float | str

    def document(self) -> dict[str, float | str]:
        """As JSON has it."""
        return asdict(self)


def violations(scenario: str, mine: Figures, cubic: Figures) -> Iterator[GuardViolation]:
    """The guards that a controller has broken on a scenario."""
    if mine.unfinished > cubic.unfinished:
        yield GuardViolation("unfinished", scenario, mine.unfinished)
    of_neighbour = taken(mine, cubic)
    if of_neighbour is not None and of_neighbour > MOST_TAKEN:
        yield GuardViolation("taken", scenario, of_neighbour)
    share, of_cubic = mine.least_share, cubic.least_share
    if share is not None and of_cubic is not None and share < LEAST_SHARE and of_cubic >= 2 * LEAST_SHARE:
        yield GuardViolation("least_share", scenario, share)
    if mine.loss > max(MOST_LOSS, TIMES_LOSS * cubic.loss):
        yield GuardViolation("loss", scenario, mine.loss)
