"""How often each criterion fails in two results, and how likely such counts are if it fails no more often in b.

A verdict is a fact of the trials that ran: one of a hundred over the target fails it. Another hundred may have
none, so a verdict that changes proves nothing. What became worse is the rate of failures, where the trials tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.judging.statistics.rates import chance_of_more, chance_of_more_in_pairs
from thalweg.judging.verdict import Side, Statistics

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Failures:
    """A criterion with a say in the verdict, of the same target in both results."""

    scenario: str
    a: Statistics
    b: Statistics
    p_more: float
    """The chance of so many more failures in b if it failed no more often than a; one-sided."""
    fails_more: bool = False
    """Whether the trials say that it fails more often in b; `worse.find_worse` decides it."""

    @property
    def changed(self) -> bool:
        """Whether it passes in a and no longer in b."""
        return self.a.answer == "holds" != self.b.answer

    @property
    def is_worse(self) -> bool:
        """Whether it fails more often in b, and by more than the criterion allows."""
        return self.fails_more and self.b.answer != "holds"

    def document(self) -> dict[str, Any]:
        """This criterion as JSON."""
        return {
            "scenario": self.scenario,
            "a": self.a.document(),
            "b": self.b.document(),
            "p_more": self.p_more,
            "answer": "worse" if self.fails_more else "undecided",
        }


def failures_of(scenario: str, ours: Sequence[Statistics], theirs: Sequence[Statistics]) -> list[Failures]:
    """Each criterion of a scenario with a say in the verdict that both results have, of the same target."""
    others = {_target(statistics): statistics for statistics in theirs}
    return [
        Failures(scenario, statistics, now, _chance(statistics, now))
        for statistics in ours
        if (now := others.get(_target(statistics))) and not statistics.informative
    ]


def _target(statistics: Statistics) -> tuple[str, Side, float, float]:
    return statistics.subject, statistics.side, statistics.bound, statistics.within


def _chance(a: Statistics, b: Statistics) -> float:
    """In pairs if each trial of both has a partner with its seed, otherwise of all with all."""
    of_a, of_b = (_failed(statistics) for statistics in (a, b))
    if of_a.keys() == of_b.keys():
        pairs = np.array([(of_a[seed], of_b[seed]) for seed in of_a])
        return chance_of_more_in_pairs(pairs[:, 0], pairs[:, 1])
    return chance_of_more(a.failures, a.n, b.failures, b.n)


def _failed(statistics: Statistics) -> dict[int, bool]:
    """Whether each trial is beyond the target, by its seed."""
    values = statistics.values["value"].to_numpy()
    failed: npt.NDArray[np.bool_] = (
        values > statistics.bound if statistics.side == "at_most" else values < statistics.bound
    )
    return dict(zip(statistics.values["seed"].to_list(), failed.tolist(), strict=True))
