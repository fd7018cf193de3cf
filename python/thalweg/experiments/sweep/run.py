"""Running a sweep: what the store lacks, in batches of about a second.

Points come in blocks, so that neither a block nor the rows that wait to be written grow with the sweep. All points
of a block are checked before any runs, and of a larger space each value of each axis: a mistake is found at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError
from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.base.progress import Progress, silent
from thalweg.base.seeds import runs
from thalweg.base.toml import named_files, read_toml
from thalweg.experiments.sweep.head import head_of
from thalweg.experiments.sweep.plan import Plan
from thalweg.experiments.sweep.point import Point
from thalweg.experiments.sweep.store import TEXT, Store
from thalweg.experiments.sweep.table import Rows
from thalweg.trials.pace import Pace
from thalweg.trials.store.shard import Shard
from thalweg.trials.store.writer import Writer

_BLOCK = 2000
"""Most points that are resolved at once."""
_BLOCK_TEXT = 1 << 26
"""Most bytes of scenarios of a block: a trace within a scenario may have 32 MiB."""
_COUNTED = 10**6
"""Points that an estimate looks up in the store."""
_PILOTS = 8
"""Trials that an estimate is measured on."""
_TOLD = 5
"""Failures that are told of."""
DAY_S = 86_400.0


@dataclass
class Tally:
    """How far a sweep is."""

    trials: int = 0
    """Trials of the plan, or of the shard of it."""
    ran: int = 0
    present: int = 0
    """Trials that were there already."""
    failed: int = 0
    """How many of those that ran or were there have no numbers."""
    core_s: float = 0.0
    """Processor time of the trials that ran."""
    wall_s: float = 0.0
    complete: bool = True
    """Whether no Ctrl-C ended it."""
    errors: list[str] = field(default_factory=list)
    """What the first trials said that failed now."""


@dataclass(frozen=True)
class Estimate:
    """What a sweep would take."""

    points: int
    trials: int
    present: int
    trial_s: float
    """Processor time of a trial, on average over some from all over the space."""
    width: int
    """Trials at once."""

    @property
    def missing(self) -> int:
        """Trials that would run."""
        return self.trials - self.present

    @property
    def wall_s(self) -> float:
        """How long they would take."""
        return self.missing * self.trial_s / self.width


class Run:
    """One run of a plan into a store."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        executor: Executor,
        shard: Shard,
        on_progress: Progress = silent,
        command: str = "",
    ) -> None:
        self._plan, self._store, self._executor, self._shard = plan, store, executor, shard
        self._on_progress, self._command = on_progress, command
        self._rows = Rows()
        self._begin = time.perf_counter()
        self._writer = Writer(self._write)
        self._pace = Pace()
        self._piloted: dict[str, int] = {}  # the seed that was played of a point
        self._stores = False  # pilots of an estimate, or of a run that is refused, are not stored
        self.tally = Tally()

    def estimate(self) -> Estimate:
        """Counts what there is and what would run; plays a few trials that are not stored. Raises RequestError.

        Of more than a million points, all trials of the store count as theirs.
        """
        plan, space = self._plan, self._plan.space
        self._first_point()
        total = present = points = 0
        for block in self._blocks():
            if not self._store.height or space.count > _COUNTED:
                points = space.count
                total = points * plan.trials // self._shard.of
                present = min(self._store.height, total)
                break
            found = self._store.seeds([point.hash for point, _ in block])
            for point, seeds in block:
                points += 1
                total += len(seeds)
                present += len(found.get(point.hash, set()).intersection(seeds))
            self._on_progress("counting", points, self._plan.space.count)
        self._check_values()
        self._pilot()
        return Estimate(points, total, present, self._pace.trial_s, self._executor.width)

    def play(self, at_once: bool = False) -> pl.DataFrame:
        """Plays what is missing; the points of the plan. Raises RequestError, and what was finished is kept.

        `at_once`: even if it takes more than a day. Raises RequestError otherwise, and KeyboardInterrupt after a
        Ctrl-C before any trial was finished.
        """
        plan, space = self._plan, self._plan.space
        self.tally.trials = space.count * plan.trials // self._shard.of
        sample = self._first_point()
        blocks = self._blocks()
        first = next(blocks, [])
        self._check_values()
        try:
            if space.count * plan.trials > self._store.height:
                self._pilot()
                self._refuse_long(at_once)
        except KeyboardInterrupt:
            if not self.tally.ran:
                raise
            self.tally.complete = False
        self._store.write_document(head_of(plan, sample.scenario, self._store.folder, self._command))
        self._stores = True
        if plan.base.is_inline:
            self._store.write_scenario(_stored(plan, sample))
        frames: list[pl.DataFrame] = []
        trials = 0

        def batches() -> Iterator[Batch]:
            nonlocal trials
            for block in chain([first], blocks):  # the first one of a shard without trials is empty
                frames.append(_frame(plan, [point for point, _ in block]))
                trials += sum(len(seeds) for _, seeds in block)
                yield from self._missing(block)

        try:
            if self.tally.complete:
                self._play(batches())
                self._writer.write()
            else:
                frames.append(_frame(plan, [point for point, _ in first]))
        except KeyboardInterrupt:
            self.tally.complete = False
        finally:
            self._writer.write()
            self.tally.wall_s = time.perf_counter() - self._begin
            if frames:
                self._store.write_points(pl.concat(frames), self.tally.wall_s, self.tally.core_s)
        if self.tally.complete:
            self.tally.trials = trials
        return pl.concat(frames) if frames else pl.DataFrame()

    def _first_point(self) -> Point:
        """The first point of the plan, of any shard: all have its flows and its traces. Raises RequestError."""
        numbers = next(self._plan.space.points(_BLOCK), None)
        if numbers is None:
            raise RequestError(f"{self._plan.file.name}: exclude leaves no point; accepted: at least one")
        return Point(self._plan, *numbers[0])

    def _blocks(self) -> Iterator[list[tuple[Point, range]]]:
        """Points with the seeds that this shard has of them, checked. Raises RequestError."""
        plan = self._plan
        most = max(1, min(_BLOCK, _BLOCK_TEXT // max(1, len(plan.base.text))))
        count = plan.space.count
        for numbers in plan.space.points(most):
            block = []
            for number, values in numbers:
                seeds = self._shard.seeds(number, count, plan.seeds)
                if seeds:
                    block.append((Point(plan, number, values), seeds))
            for point, _ in block:
                _ = point.hash  # which reads and checks its scenario
            if block:
                yield block

    def _check_values(self) -> None:
        """Reads a scenario with each value of each axis, where there are too many points to read all at once."""
        plan, space = self._plan, self._plan.space
        if space.count <= _BLOCK:
            return
        first = next(iter(space.spread(1)), None)
        if first is None:
            return
        values = space.at(first)
        for number, axis in enumerate(plan.axes):
            for value in axis.values[:_BLOCK]:
                _ = Point(plan, first, (*values[:number], value, *values[number + 1 :])).scenario

    def _pilot(self) -> None:
        """Plays a missing trial at some points all over the space, so that it is known what a trial costs."""
        plan = self._plan
        points = [Point(plan, number, plan.space.at(number)) for number in plan.space.spread(_PILOTS)]
        found = self._store.seeds([point.hash for point in points])
        pilots: dict[int, list[Point]] = {}
        for point in points:
            there = found.get(point.hash, ())
            seeds = self._shard.seeds(point.number, plan.space.count, plan.seeds)
            seed = next((seed for seed in seeds if seed not in there), None)
            if seed is not None and point.hash not in self._piloted:
                self._piloted[point.hash] = seed
                pilots.setdefault(seed, []).append(point)
        core_s, ran = self.tally.core_s, self.tally.ran
        if pilots:
            most = math.ceil(len(self._piloted) / self._executor.lanes)
            self._play(
                self._batch(some[first : first + most], range(seed, seed + 1))
                for seed, some in pilots.items()
                for first in range(0, len(some), most)
            )
            self._pace.trial_s = (self.tally.core_s - core_s) / max(1, self.tally.ran - ran)

    def _refuse_long(self, at_once: bool) -> None:
        left = self._plan.space.count * self._plan.trials // self._shard.of - self._store.height
        trial_s = self._pace.trial_s
        wall_s = left * trial_s / self._executor.width
        if wall_s > DAY_S and not at_once:
            raise RequestError(
                f"{left} trials of about {1e3 * trial_s:.3g} ms take about {wall_s / DAY_S:.3g} days with "
                f"{self._executor.width} at once; accepted: --yes, --shard, or fewer points and trials"
            )

    def _missing(self, block: Sequence[tuple[Point, range]]) -> Iterator[Batch]:
        """What is missing of some points, in batches."""
        found = self._store.seeds([point.hash for point, _ in block])
        waiting: dict[Sequence[int], list[Point]] = {}
        known: set[str] = set()
        for point, seeds in block:
            there = found.get(point.hash, set())
            present = len(there.intersection(seeds)) if there else 0
            if point.hash in known:  # the same trials as another point has
                self.tally.present += len(seeds)
                continue
            self.tally.present += present - (self._piloted.get(point.hash) in seeds)
            known.add(point.hash)
            for part in runs(seeds, set(seeds) - there) if present else [seeds]:
                waiting.setdefault(part, []).append(point)
        for part, points in waiting.items():
            for some, some_seeds in self._pace.pieces(self._executor, len(points), part):
                yield self._batch(points[some.start : some.stop], some_seeds)

    def _batch(self, points: Sequence[Point], seeds: Sequence[int]) -> Batch:
        """Trials that are about to be played. They count as known from here on: nothing asks for them twice."""
        self._store.know(np.repeat([point.hash for point in points], len(seeds)).tolist(), [*seeds] * len(points))
        return Batch([point.scenario for point in points], seeds, label=points)

    def _play(self, batches: Iterable[Batch]) -> None:
        """Plays batches and keeps what comes. Raises KeyboardInterrupt."""
        before = self.tally.ran

        def progress(finished: int) -> None:
            done = self.tally.present + before + finished
            self._on_progress(f"trials on {self._executor.name}", done, self.tally.trials)

        self._executor.play(batches, self._take, progress)

    def _take(self, result: Finished | Failed) -> None:
        """Keeps what came of trials."""
        point: Point = result.batch.label[result.number]
        if isinstance(result, Failed):
            self._rows.add_failed(point.hash, result.seed, str(result.error))
            self.tally.errors.append(f"{point.words}, seed {result.seed}: {result.error}")
            del self.tally.errors[_TOLD:]
            self.tally.ran += 1
        else:
            self._rows.add(point.hash, point.scenario, result.outcomes)
            self.tally.core_s += self._pace.add(result.outcomes)
            self.tally.ran += len(result.outcomes.trials["seed"])
        if self._stores:
            self._writer.write_if_due()

    def _write(self) -> None:
        rows, self._rows = self._rows, Rows()
        self._store.write(rows)


def _stored(plan: Plan, first: Point) -> bytes:
    """The plan's own scenario, as its store has it: if it names traces, with these in it, as the first point runs.

    Replays set the values of all axes again.
    """
    text = plan.base.text
    if not any(named_files(read_toml(text, plan.base.file))):
        return text
    return first.scenario.toml.encode()


def _frame(plan: Plan, points: Sequence[Point]) -> pl.DataFrame:
    """Points as rows; of an axis of numbers, the texts too."""
    columns = {
        "index": pl.Series([point.number for point in points], dtype=pl.UInt64),
        "point": pl.Series([point.hash for point in points], dtype=pl.String),
    }
    for number, axis in enumerate(plan.axes):
        cells, texts = [axis.cell(point.values[number]) for point in points], f"{TEXT}{axis.key}"
        columns[axis.column] = pl.Series(cells, dtype=pl.String if axis.unit is None else pl.Float64)
        columns[texts] = pl.Series(
            [plan.argument(axis.key, point.values[number]) for point in points], dtype=pl.String
        )
    return pl.DataFrame(columns)
