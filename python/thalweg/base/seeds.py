"""Seeds of the trials of a suite or a study.

One number names one trial: its seed, as `thalweg run --seed` and `replay` take it. Suites and studies take
whole *sets* of seeds: trial `i` (from 0 on) of set N has the seed (N - 1) * 2^20 + 1 + i. So set 1 begins with
seed 1, and no two sets share a trial, however many trials of them are run.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

SET_SIZE = 2**20
"""Most trials of a set."""
LARGEST_SET = 2**63 // SET_SIZE - 1
"""Seeds of trials stay below 2^63."""


def first_seed(number: int) -> int:
    """The seed of the first trial of a set.

    >>> first_seed(1), first_seed(2)
    (1, 1048577)
    """
    return (number - 1) * SET_SIZE + 1


def set_of(first: int) -> int:
    """The number of the set that holds a seed.

    >>> set_of(1), set_of(1048577)
    (1, 2)
    """
    return (first - 1) // SET_SIZE + 1


def seed_text(first: int) -> str:
    """The text of `--seed-set`, from the seed of the first trial of a suite or a study.

    >>> seed_text(1), seed_text(1048577)
    ('seed 1', 'seed set 2 (first trial 1048577)')
    >>> seed_text(7)  # not the first of a set: from Python, which takes any seed
    'seed 7'
    """
    number, rest = divmod(first - 1, SET_SIZE)
    return f"seed set {number + 1} (first trial {first})" if number > 0 and rest == 0 else f"seed {first}"


def runs(seeds: Sequence[int], some: Container[int]) -> Iterator[Sequence[int]]:
    """Some of the seeds, those next to each other together; of a range, ranges.

    >>> list(runs(range(1, 10), {1, 3, 4, 7, 8, 9}))
    [range(1, 2), range(3, 5), range(7, 10)]
    """
    first = None
    for number, seed in enumerate(seeds):
        if seed in some:
            first = number if first is None else first
        elif first is not None:
            yield seeds[first:number]
            first = None
    if first is not None:
        yield seeds[first:]
