"""`thalweg.Hunt`: a search for the worst scenario of a space, which is replayed on fresh seeds, and then shrinks.

The largest of many values that are drawn is large, whatever they are drawn from: the worst of a search is not a
find before trials that did not choose it say so too. So the worst few are played on fresh seeds, as is the plan's
scenario, and the first that is worse there is the find. The chance that a space in which nothing has an effect
yields one is at most 2.5 %, one side of intervals of 95 % that allow for how many are replayed (Bonferroni).
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.base.progress import Progress, silent
from thalweg.experiments.hunt.find import Document, Find, Replay, count
from thalweg.experiments.hunt.judge import Judge
from thalweg.experiments.hunt.plan import HuntPlan, hunt_of, read_hunt
from thalweg.experiments.hunt.search import AT_ONCE, Behaviour, Search
from thalweg.experiments.hunt.shrink import shrink
from thalweg.experiments.sweep.plan_file import PlanFile
from thalweg.judging.statistics.claims import each_of
from thalweg.judging.statistics.differences import sharper
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.trials.machine import ThisMachine

REPLAYED = 4
"""Most scenarios of a search that are replayed."""


class Hunt:
    """A space of scenarios and what is to be as bad as possible in it; the keys are the same as in a plan.

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
        """The hunt of a plan that was read."""
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
        self._judge, self._fresh = Judge(plan), Judge(plan.replayed)
        self._asking = self._judge
        self._worst: list[tuple[float, int, Document]] = []
        """The worst of the search: value, number, scenario."""
        self._shorter: list[tuple[float, Document]] = []
        """What shrinking went through."""
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
        judges = (self._judge, self._fresh)
        find.ran, find.core_s = sum(one.trials for one in judges), sum(one.core_s for one in judges)
        find.failures = [failure for one in judges for failure in one.failures]
        if find.is_worse:
            find.shrunk = self._bounded(find)
        find.wall_s = time.perf_counter() - begin
        return find

    def _play(self, steps: Iterator[Batch]) -> None:
        """Plays what is asked for, each batch before the next is made; on a cluster, scenario by scenario."""
        if self._executor.lanes == 1:
            self._executor.play(steps, self._take)
            return
        for batch in steps:
            each = [Batch([one], batch.seeds, label=number) for number, one in enumerate(batch.scenarios)]
            self._executor.play(each, self._take)

    def _take(self, result: Finished | Failed) -> None:
        """Each batch is played before the next is asked for, so it is of whoever asked last."""
        self._asking.take(result)

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
        find.name, find.title = plan.base.name, str(base.get("title", plan.base.name))
        find.first_seed, find.search_seed = plan.seed, self._plan.search_seed
        self._find = find
        yield from self._look(find)
        find.refused, find.refusal = self._judge.refused, find.refusal or self._judge.refusal
        if find.is_worse:
            yield from self._confirm(find, base)
        if find.is_worse:
            self._shorter = [(find.found_value, find.found)]
            yield from self._shrink(find, base)
            yield from self._settle(find, base)

    def _look(self, find: Find) -> Generator[Batch, None, None]:
        """The search."""
        budget = self._plan.budget
        while find.tried < budget:
            self._on_progress("searching", find.tried, budget)
            asked = self._search.ask(min(AT_ONCE, budget - find.tried))
            drawn = [self._draw(one, find) for one in asked]
            judged = iter((yield from self._judge.values([one for one in drawn if one is not None])))
            values = [None if one is None else next(judged) for one in drawn]
            seen = [Behaviour() if one is None else self._judge.seen(one) for one in drawn]
            self._search.tell(asked, values, seen)
            for number, (document, value) in enumerate(zip(drawn, values, strict=True), find.tried + 1):
                if document is not None and value is not None and value > find.found_value:
                    find.found, find.found_value, find.at = document, value, number
                    find.shrunk, find.value = document, value
                known = (one for *_, one in self._worst)
                if document is not None and value is not None and value > find.baseline and document not in known:
                    self._worst.append((value, number, document))
            self._worst = sorted(self._worst, key=lambda one: (-one[0], one[1]))[:REPLAYED]
            find.history += values
            find.tried += len(asked)
        # Where trials failed, they are what was found.
        if all(value is None for value in find.history) and not self._judge.failures:
            reason = self._judge.refusal or find.refusal or "the plan excludes it"
            name = self._plan.plan.file.name
            raise RequestError(f"{name}: none of {find.tried} scenarios is valid, the first because of: {reason}")

    def _replay(
        self, find: Find, base: Document, value: float, document: Document
    ) -> Generator[Batch, None, Replay | None]:
        """A scenario and the plan's scenario on fresh seeds; None where one fails."""
        self._asking = self._fresh
        medians = yield from self._fresh.values([base, document])
        self._asking = self._judge
        if None in medians:
            return None
        of_base, of_this = self._fresh.each(base), self._fresh.each(document)
        by = sharper(of_base, of_this, confidence=each_of(REPLAYED))[0].interval
        return Replay(find.at, value, median_interval(of_this), by, median_interval(of_base))

    def _confirm(self, find: Find, base: Document) -> Generator[Batch, None, None]:
        """The worst that is worse than the scenario of the plan on fresh seeds too, if there is one."""
        find.replays = self._plan.replays
        for number, (value, at, document) in enumerate(self._worst):
            self._on_progress("replaying on fresh seeds", number, len(self._worst))
            find.found, find.found_value, find.at = document, value, at
            find.shrunk, find.value = document, value
            replay = yield from self._replay(find, base, value, document)
            if replay and replay.is_worse:
                find.replayed = replay
                return
            find.refuted += [replay] if replay else []
        find.found, find.found_value, find.at = base, find.baseline, 0
        find.shrunk, find.value = base, find.baseline

    def _settle(self, find: Find, base: Document) -> Generator[Batch, None, None]:
        """The smallest scenario on the way of shrinking that keeps its share on fresh seeds, by bisection."""
        found = find.replayed
        assert found
        least = found.base.value + self._plan.keep * (found.objective.value - found.base.value)
        good, bad = 0, len(self._shorter)
        best, tried = found, bad - 1
        while good < bad - 1:
            self._on_progress("replaying on fresh seeds", 0, 0)
            replay = yield from self._replay(find, base, *self._shorter[tried])
            if replay and replay.is_worse and replay.objective.high >= least:
                good, best = tried, replay
            else:
                bad = tried
            tried = (good + bad) // 2
        find.value, find.shrunk = self._shorter[good]
        find.shrunk_replayed = best

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
            self._shorter.append((find.value, document))

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
