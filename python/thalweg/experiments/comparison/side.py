"""One side of a comparison: a stored experiment, and what of it is set against another of its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from thalweg.base.files.document import Kind
from thalweg.judging.comparison.failures import Failures
from thalweg.judging.comparison.row import Row
from thalweg.judging.comparison.sample import Compared
from thalweg.judging.statistics.interval import finite
from thalweg.results.comparison.traded import Traded

Samples = Mapping[tuple[str, str], Compared]
"""By scenario, cell or point, and by subject."""


@dataclass(frozen=True)
class Change:
    """One number of a table in both experiments, without an interval."""

    row: str
    """What the row says in words."""
    column: str
    a: float | None
    b: float | None

    @property
    def change(self) -> float | None:
        """By what share b is larger than a; None where one is missing, or a is 0."""
        if self.a is None or self.b is None or self.a == 0:
            return None
        return finite((self.b - self.a) / abs(self.a))

    def is_beyond(self, margin: float) -> bool:
        """Whether both differ by more than a share of a; a number that one of them lacks differs."""
        if self.change is None:
            return self.a != self.b
        return abs(self.change) > margin

    def document(self) -> dict[str, Any]:
        """This change as JSON."""
        return {"row": self.row, "column": self.column, "a": self.a, "b": self.b, "change": self.change}


@dataclass(frozen=True)
class Side(ABC):
    """A stored experiment. What it says of another one is what that has in common with it."""

    folder: Path
    version: str
    seed: int
    """The seed of the first trial."""

    kind: ClassVar[Kind]
    knows_better: ClassVar[bool] = True
    """Whether it says which end of its numbers is better: then those without one, such as what limits a flow, are
    shown and cannot be worse."""
    is_short: ClassVar[bool] = True
    """Whether all its comparisons are shown, and not only those that differ."""

    @property
    def has_trials(self) -> bool:
        """Whether values of trials are stored, without which nothing is judged."""
        return True

    @property
    @abstractmethod
    def about(self) -> str:
        """What was measured, in words."""

    @abstractmethod
    def samples(self) -> Samples:
        """What is compared of it. Raises ResultError."""

    @abstractmethod
    def rows(self, b: Self, margin: float, *, of_a: bool = False) -> list[Row]:
        """Each number that both have, judged as one family.

        The margin is a share of the smaller median, with `of_a` of the median of this one. Raises RequestError if
        the two cannot be compared.
        """

    @abstractmethod
    def lacking(self, b: Self) -> list[str]:
        """What b lacks of this one, in words."""

    def failures(self, b: Self) -> list[Failures]:
        """How often each criterion fails in both."""
        return []

    def traded(self, b: Self, rows: Sequence[Row]) -> list[Traded]:
        """What calls paid in rate for being better."""
        return []

    def shared_seeds(self, b: Self) -> int:
        """How many trials of b repeat trials of this one although the two started from different seeds."""
        if self.seed == b.seed:
            return 0
        ours, theirs = (_seeds(side.samples()) for side in (self, b))
        return max((len(ours[cell] & theirs[cell]) for cell in ours.keys() & theirs.keys()), default=0)

    def numbers(self, b: Self) -> list[Change]:
        """The numbers of tables that are more than medians of trials."""
        return []


def _seeds(samples: Samples) -> dict[str, set[int]]:
    """The seeds of each cell: a number may leave out trials that do not define it."""
    found: dict[str, set[int]] = {}
    for (cell, _), one in samples.items():
        found.setdefault(cell, set()).update(one.values["seed"])
    return found
