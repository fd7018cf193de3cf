"""Two experiments: what each number says of B, and what of all that one command compares became worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.experiments.comparison.side import Change, Side
from thalweg.judging.comparison.failures import Failures
from thalweg.judging.comparison.row import Row
from thalweg.judging.comparison.worse import Worse, find_worse
from thalweg.results.comparison.traded import Traded


@dataclass(frozen=True)
class Pair:
    """The base and another experiment."""

    a: Side
    b: Side
    letter: str
    """What b is called."""
    rows: Sequence[Row]
    failures: Sequence[Failures]
    traded: Sequence[Traded]
    numbers: Sequence[Change]
    lacking: Sequence[str]
    """What b lacks of a, in words."""
    shared_seeds: int
    """How many trials of b repeat trials of a although the two started from different seeds."""

    @staticmethod
    def of(a: Side, b: Side, letter: str, margin: float) -> Pair:
        """Compares two experiments of one kind. Raises RequestError if they have nothing in common."""
        rows = a.rows(b, margin)
        return Pair(
            a, b, letter, rows, a.failures(b), a.traded(b, rows), a.numbers(b), a.lacking(b), a.shared_seeds(b)
        )


@dataclass(frozen=True)
class Found:
    """What became worse in one experiment by more than a limit, of all that a command compares."""

    pair: Pair
    rows: Sequence[Row]
    """With the limit as their margin."""
    worse: Worse
    limit: float


def find(pairs: Sequence[Pair], limit: float) -> list[Found]:
    """What became worse; the limit is a share of the median of A, and all comparisons are one family."""
    rows = [
        [row for row in pair.a.rows(pair.b, limit, of_a=True) if row.better or not pair.a.knows_better]
        for pair in pairs
    ]
    found = find_worse(rows, [pair.failures for pair in pairs])
    return [Found(pair, own, worse, limit) for pair, own, worse in zip(pairs, rows, found, strict=True)]
