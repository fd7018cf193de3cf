"""An executor that plays only what a store lacks, or its share of that.

What is there is handed over first, as if it had just been played; its processor time is what it took then. Under
the auditor all trials run, because those in the store may not have been watched.

Limits: a scenario with a controller of only this process always runs, and what failed runs again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from thalweg.base.executor import Batch, Executor, Failed, Finished, Measure, Report, T, Take, unheard
from thalweg.base.seeds import runs
from thalweg.engine import audit
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.trials.pace import Pace
from thalweg.trials.store.outcome_store import OutcomeStore, Record, outcomes_again
from thalweg.trials.store.shard import Shard

_TRACED = 16
"""Most trials with traces that are played at once, for each thread."""


class Elsewhere(Exception):  # noqa: N818 - no error: the other shards have the rest
    """The share of a shard is played, and other trials that were asked for are not in its store."""


@dataclass
class Stored:
    """Plays trials on an executor, unless a store has them."""

    executor: Executor
    store: OutcomeStore
    shard: Shard = field(default_factory=Shard)
    present: int = 0
    """Trials that were asked for and were there."""
    played: int = 0
    """Trials that were asked for and were not there, in the share of this shard."""

    @property
    def width(self) -> int:
        """How many trials it plays at once."""
        return self.executor.width

    @property
    def lanes(self) -> int:
        """How many batches it plays at once."""
        return self.executor.lanes

    @property
    def name(self) -> str:
        """What plays, for people."""
        return self.executor.name

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        """Plays what is missing. Raises Elsewhere if a shard leaves trials to others; else as its executor."""
        before, elsewhere, pace = self.present, 0, Pace()

        def hear(finished: int) -> None:
            report(self.present - before + finished)

        def keep(result: Finished | Failed) -> None:
            batch, numbers = cast(_Label, result.batch.label)
            number = numbers[result.number]
            if isinstance(result, Failed):
                take(Failed(batch, number, result.seed, result.error))
                return
            pace.add(result.outcomes)
            point = batch.scenarios[number].fingerprint
            if point is not None:
                self.store.add(point, result.outcomes.records())
            take(Finished(batch, number, result.outcomes))

        def lacking() -> Iterator[Batch]:
            nonlocal elsewhere
            for batch in batches:
                rest: dict[tuple[int, ...], list[int]] = {}
                for number, scenario in enumerate(batch.scenarios):
                    found = self._found(scenario.fingerprint, batch.seeds)
                    self.present += len(found)
                    # In runs: outcomes are put together in the order of their first seeds.
                    for run in runs(batch.seeds, found):
                        take(Finished(batch, number, outcomes_again(scenario, run, found)))
                    missing = [seed for seed in batch.seeds if seed not in found]
                    own = self._own(scenario.fingerprint, missing)
                    elsewhere += len(missing) - len(own)
                    for run in runs(batch.seeds, set(own)):
                        rest.setdefault(tuple(run), []).append(number)
                for seeds, numbers in rest.items():
                    self.played += len(seeds) * len(numbers)
                    for some, some_seeds in pace.pieces(self.executor, len(numbers), seeds):
                        label = batch, numbers[some.start : some.stop]
                        yield Batch([batch.scenarios[number] for number in label[1]], some_seeds, label)

        self.executor.play(lacking(), keep, hear)
        if elsewhere:
            raise Elsewhere

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """What a measure makes of each trial; what is missing is played with its trace. Raises as `play`.

        Anything else that takes from traces is not stored.
        """
        fingerprint = scenario.fingerprint
        if not isinstance(take, Measure) or fingerprint is None:
            return self.executor.each(scenario, seeds, take, report)
        known_by = f"{fingerprint}\n{take.identity}".encode()
        point = hashlib.blake2b(known_by, digest_size=len(fingerprint) // 2).hexdigest()
        found = dict(self._found(point, seeds))
        self.present += len(found)
        missing = [seed for seed in seeds if seed not in found]
        own = self._own(fingerprint, missing)
        self.played += len(own)
        most = _TRACED * self.width
        for first in range(0, len(own), most):
            piece = own[first : first + most]

            def hear(finished: int, before: int = len(found)) -> None:
                report(before + finished)

            values = self.executor.each(scenario, piece, take, hear)
            records = {seed: (json.dumps(value), 0.0) for seed, value in zip(piece, values, strict=True)}
            self.store.add(point, [(seed, *one) for seed, one in records.items()])
            found |= records
        if len(own) < len(missing):
            raise Elsewhere
        return [json.loads(found[seed][0]) for seed in seeds]

    def _found(self, point: str | None, seeds: Sequence[int]) -> Mapping[int, Record]:
        return {} if point is None or audit.is_on() else self.store.found(point, seeds)

    def _own(self, point: str | None, seeds: Sequence[int]) -> Sequence[int]:
        """The trials of this shard. Dealt out by a hash: neighbours cost alike, and a scenario may have few."""
        if self.shard.of == 1:
            return seeds
        return [
            seed
            for seed in seeds
            if zlib.crc32(f"{point}/{seed}".encode()) % self.shard.of == self.shard.number - 1
        ]


_Label = tuple[Batch, list[int]]
"""The batch that was asked for, and the numbers of its scenarios that are played."""
