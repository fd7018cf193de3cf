"""`thalweg.Hunt`: a search for the worst scenario of a space, which then shrinks."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.errors import RequestError, ScenarioError
from thalweg.executor import Batch, Executor
from thalweg.executor.machine import ThisMachine
from thalweg.hunt.find import Document, Find, count
from thalweg.hunt.judge import Judge
from thalweg.hunt.plan import HuntPlan, hunt_of, read_hunt
from thalweg.hunt.search import AT_ONCE, Search, Seen
from thalweg.hunt.shrink import shrink
from thalweg.progress import Progress, silent
from thalweg.sweep.plan_file import PlanFile


class Hunt:
    """A space of scenarios and what is to be as bad as possible in it; the keys are those of a plan.

    >>> import thalweg
    >>> hunt = thalweg.Hunt(
    ...     scenario="c4/simple-20mbps",
    ...     objective="queue-delay",
    ...     axes={"path.buffer": {"from": "10 ms", "to": "500 ms"}, "controller.main": ["cubic", "c4"]},
    ...     budget=16,
    ... )
    >>> find = hunt.run()
    >>> find.is_worse, find.tried
    (True, 16)
    """

    def __init__(self, **plan: Any) -> None:
        """The keys of a plan file; see docs/how-to/hunt.md. Raises RequestError."""
        self._plan = hunt_of(plan, PlanFile("the plan"), Path())

    @staticmethod
    def load(file: str | Path) -> Hunt:
        """Reads a plan file. Raises RequestError with file, line, key and value."""
        return Hunt.of(read_hunt(Path(file)))

    @staticmethod
    def of(plan: HuntPlan) -> Hunt:
        """Of a plan that was read."""
        hunt = Hunt.__new__(Hunt)
        hunt._plan = plan
        return hunt

    @property
    def plan(self) -> HuntPlan:
        """The plan."""
        return self._plan

    def run(self, jobs: int = 0, on_progress: Progress = silent, *, executor: Executor | None = None) -> Find:
        """Searches and shrinks; after a Ctrl-C, the find is the worst until then. Raises RequestError."""
        return _Chase(self._plan, executor or ThisMachine(jobs), on_progress).run()


class _Chase:
    """One run of a plan."""

    def __init__(self, plan: HuntPlan, executor: Executor, on_progress: Progress) -> None:
        self._plan, self._executor, self._on_progress = plan, executor, on_progress
        self._judge = Judge(plan)
        self._search = Search(plan.sampler, plan.search_seed, plan.clock)
        self._find: Find | None = None

    def run(self) -> Find:
        begin = time.perf_counter()
        complete = True
        try:
            self._play(self._steps())
        except KeyboardInterrupt:
            complete = False
        find = self._find
        if find is None:
            raise KeyboardInterrupt
        find.complete = complete
        find.found_seed = find.seed + int(np.argmax(self._judge.each(find.found)))
        find.seed += int(np.argmax(self._judge.each(find.shrunk)))
        find.ran, find.core_s, find.failures = self._judge.trials, self._judge.core_s, self._judge.failures
        if find.is_worse:
            find.shrunk = self._bounded(find)
        find.wall_s = time.perf_counter() - begin
        return find

    def _play(self, steps: Iterator[Batch]) -> None:
        """Plays what is asked for, each batch before the next is made; on a cluster, scenario by scenario."""
        if self._executor.lanes == 1:
            self._executor.play(steps, self._judge.take)
            return
        for batch in steps:
            each = [Batch([one], batch.seeds, label=number) for number, one in enumerate(batch.scenarios)]
            self._executor.play(each, self._judge.take)

    def _steps(self) -> Generator[Batch, None, None]:
        """Search and shrinking, as the batches that they ask for."""
        base = self._plan.base()
        (baseline,) = yield from self._judge.values([base])
        if baseline is None:
            failed = self._judge.failures
            reason = failed[0].error if failed else self._judge.refusal
            raise RequestError(f"{self._plan.plan.file.name}: the scenario itself fails: {reason}")
        plan, objective = self._plan.plan, self._plan.objective
        find = Find(objective, plan.seed, plan.trials, baseline, base, baseline, base, baseline)
        self._find = find
        yield from self._look(find)
        find.refused, find.refusal = self._judge.refused, find.refusal or self._judge.refusal
        if find.is_worse:
            yield from self._shrink(find, base)

    def _look(self, find: Find) -> Generator[Batch, None, None]:
        """The search."""
        budget = self._plan.budget
        while find.tried < budget:
            self._on_progress("searching", find.tried, budget)
            asked = self._search.ask(min(AT_ONCE, budget - find.tried))
            drawn = [self._draw(one, find) for one in asked]
            judged = iter((yield from self._judge.values([one for one in drawn if one is not None])))
            values = [None if one is None else next(judged) for one in drawn]
            seen = [Seen() if one is None else self._judge.seen(one) for one in drawn]
            self._search.tell(asked, values, seen)
            for number, (document, value) in enumerate(zip(drawn, values, strict=True), find.tried + 1):
                if document is not None and value is not None and value > find.found_value:
                    find.found, find.found_value, find.at = document, value, number
                    find.shrunk, find.value = document, value
            find.history += values
            find.tried += len(asked)
        # Where trials failed, they are what was found.
        if all(value is None for value in find.history) and not self._judge.failures:
            reason = self._judge.refusal or find.refusal or "the plan excludes it"
            name = self._plan.plan.file.name
            raise RequestError(f"{name}: none of {find.tried} scenarios can be, the first because of: {reason}")

    def _draw(self, suggest: Any, find: Find) -> Document | None:
        try:
            return self._plan.draw(suggest)
        except ScenarioError as error:
            self._judge.refused += 1
            find.refusal = find.refusal or str(error)
            return None

    def _least(self, find: Find) -> float:
        """What shrinking has to leave: a share of what is worse than in the scenario of the plan."""
        return find.baseline + self._plan.keep * (find.found_value - find.baseline)

    def _shrink(self, find: Find, base: Document) -> Generator[Batch, None, None]:
        least = self._least(find)
        tried: dict[int, float] = {}

        def holds(documents: Sequence[Document]) -> Generator[Batch, None, list[bool]]:
            self._on_progress(f"shrinking from {count(find.found)} to {count(find.shrunk)} numbers", 0, 0)
            values = yield from self._judge.values(documents)
            tried.clear()
            tried.update({id(one): v for one, v in zip(documents, values, strict=True) if v is not None})
            return [value is not None and value >= least for value in values]

        def keep(document: Document) -> None:
            find.shrunk, find.value = document, tried[id(document)]

        yield from shrink(find.found, base, frozenset(self._plan.objective.flows), self._plan.fixed, holds, keep)

    def _bounded(self, find: Find) -> Document:
        """With a criterion that fails as long as what was found is there, and passes when it is gone.

        Its bound is what shrinking had to leave.
        """
        document, measured = find.shrunk, self._judge.metric(find.shrunk)
        if not np.isfinite(measured):
            return document
        bound = measured * self._plan.objective.ratio(self._least(find), find.value)
        return {**document, "pass": [self._plan.objective.criterion(document, bound)]}
