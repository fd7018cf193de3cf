"""How many trials are a batch: about a second of work, by what the last trials have taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thalweg import _native
from thalweg.base.executor import Executor

BATCH_S = 1.0
_MOST = 20_000
"""Trials of a batch, however short they are."""


class Pace:
    """Processor time of a trial, of the last that were measured."""

    def __init__(self) -> None:
        self.trial_s = 0.0
        """0 until a trial has been measured."""

    def add(self, outcomes: _native.Outcomes) -> float:
        """Learns from trials; returns the seconds of processor time that they took."""
        seconds = np.asarray(outcomes.trials["core_s"])
        total = float(seconds.sum())
        if len(seconds):
            self.trial_s = total / len(seconds)
        return total

    def trials(self, executor: Executor) -> int:
        """How many trials a batch for this executor should have."""
        at_once = max(1, executor.width // max(1, executor.lanes))
        wanted = BATCH_S * at_once / self.trial_s if self.trial_s else 0
        return max(at_once, min(int(wanted), _MOST))

    def pieces(
        self, executor: Executor, scenarios: int, seeds: Sequence[int]
    ) -> Iterator[tuple[range, Sequence[int]]]:
        """The batches for trials of so many scenarios with these seeds: numbers of scenarios, and seeds.

        A batch has all seeds of some scenarios, or some seeds of one. Each is asked for when those before it have
        told how long trials take.
        """
        start = 0
        while start < scenarios:
            most = self.trials(executor)
            if most >= len(seeds):
                end = min(scenarios, start + most // max(1, len(seeds)))
                yield range(start, end), seeds
                start = end
                continue
            first = 0
            while first < len(seeds):
                yield range(start, start + 1), seeds[first : first + most]
                first, most = first + most, self.trials(executor)
            start += 1
