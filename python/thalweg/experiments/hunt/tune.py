"""Tuning: the engine of a hunt over the options of a controller, judged at the end where nobody looked.

What is made as good as possible is the score against CUBIC on the open half of a suite (`experiments/score`).
Options with which a guard is broken, or that the controller refuses, are out. At the end the best options and
the user's options are compared on the held-back half: variants of the scenarios that the search has not
seen, with seeds that it has not seen. The score with which the search chose them is the largest of many, and no
evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.base.errors import ControllerError, RequestError
from thalweg.base.executor import Executor
from thalweg.base.progress import Progress, silent
from thalweg.base.seeds import first_seed
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.hunt.options import Options
from thalweg.experiments.hunt.search import AT_ONCE, Search
from thalweg.experiments.score.document import BASELINE, score_of
from thalweg.experiments.score.figures import Figures
from thalweg.experiments.score.guards import GuardViolation, violations
from thalweg.experiments.score.scenarios import Variant, halves
from thalweg.judging.answer import Answer
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.trials.gathering import gather
from thalweg.trials.machine import ThisMachine

JUDGED = 20
"""Trials of each held-back scenario, at least."""


@dataclass
class TuningResult:
    """What a search has found."""

    controller: str
    """As the user has it."""
    best: str
    start_score: float | None
    """The score of the user's options on the open half; None if a guard is broken."""
    best_score: float | None
    tried: int = 0
    out: int = 0
    """How many of those were refused or broke a guard."""
    refusal: str = ""
    history: list[float | None] = field(default_factory=list)
    held_back: list[tuple[str, float | None, float | None]] = field(default_factory=list)
    """Name of each held-back scenario, and the scores of the user's options and of the best there."""
    broken: list[GuardViolation] = field(default_factory=list)
    """Guards that the best options break on held-back scenarios: they are out, whatever they gain."""
    complete: bool = True

    @property
    def gain(self) -> Interval | None:
        """The median, over held-back scenarios, of what the best options gain; None without a score to gain on.

        Where they have no score, all is lost: the gain is -inf.
        """
        gains = [
            -np.inf if best is None else best - start for _, start, best in self.held_back if start is not None
        ]
        return median_interval(np.array(gains)) if gains else None

    @property
    def is_better(self) -> bool:
        """Whether scenarios and seeds that the search has not seen say that the best options are better."""
        return self.answer == "better"

    @property
    def answer(self) -> Answer | None:
        """The answer of the held-back half: `fails` with a broken guard; None without a score."""
        if self.broken:
            return "fails"
        gain = self.gain
        if gain is None:
            return None
        return "better" if gain.low > 0 else "worse" if gain.high < 0 else "undecided"

    def document(self) -> dict[str, Any]:
        """This as JSON, without the head of a document."""
        gain = self.gain
        return {
            "controller": self.controller,
            "best": self.best,
            "open": {"start": _short(self.start_score), "best": _short(self.best_score)},
            "held_back": {
                "gain": None if gain is None else _short(gain.value),
                "answer": self.answer,
                "broken": [guard.document() for guard in self.broken],
                "interval95": None if gain is None else gain.document(),
                "scenarios": [
                    {"name": name, "start": _short(start), "best": _short(best)}
                    for name, start, best in self.held_back
                ],
            },
            "tried": self.tried,
            "out": self.out,
            "complete": self.complete,
            "history": [_short(value) for value in self.history],
        }


@dataclass
class Tuner:
    """A search over options."""

    options: Options
    suite: str = "search"
    trials: int = 4
    seed: int = 1
    """The number of a set of seeds; it also draws the held-back scenarios."""
    budget: int = 64
    search_seed: int = 1
    sampler: str = "tpe"
    executor: Executor = field(default_factory=ThisMachine)
    core_s: float = field(default=0.0, init=False)
    """Processor time of the trials so far."""

    def run(self, on_progress: Progress = silent) -> TuningResult:
        """Searches, then judges; after a Ctrl-C, the best so far without judgement. Raises RequestError."""
        opened, held_back = halves(Suite.find(self.suite), self.seed)
        controller, search = self.options.controller, Search(self.sampler, self.search_seed)
        for place in opened:
            place.bound(controller)  # what cannot be read is refused before anything runs
        cubic = self._figures(opened, [BASELINE])[0]
        assert cubic is not None
        start = self._score(opened, self._figures(opened, [controller])[0], cubic)
        tuned = TuningResult(controller, controller, start, start)
        try:
            while tuned.tried < self.budget:
                on_progress("tuning", tuned.tried, self.budget)
                asked = search.ask(min(AT_ONCE, self.budget - tuned.tried))
                drawn = [self.options.draw(one) for one in asked]
                read = [one if self._is_accepted(opened, one, tuned) else None for one in drawn]
                figures = iter(self._figures(opened, [one for one in read if one is not None]))
                values = [None if one is None else self._score(opened, next(figures), cubic) for one in read]
                search.tell(asked, values)
                for text, value in zip(drawn, values, strict=True):
                    if value is not None and (tuned.best_score is None or value > tuned.best_score):
                        tuned.best, tuned.best_score = text, value
                tuned.history += values
                tuned.tried += len(asked)
                tuned.out += values.count(None)
            on_progress("judging", 0, 1)
            self._judge(tuned, held_back)
        except KeyboardInterrupt:
            tuned.complete = False
        if tuned.complete and tuned.best_score is None:
            reason = tuned.refusal or "each breaks a guard; see thalweg docs score"
            raise RequestError(f"{controller}: none of {tuned.tried} choices of options can be judged: {reason}")
        return tuned

    def _judge(self, tuned: TuningResult, places: Sequence[Variant]) -> None:
        cubic, start, best = self._figures(places, [BASELINE, tuned.controller, tuned.best], fresh=True)
        if cubic is None:
            return
        if best is None:
            error = "a trial of the best options ended with an error"
            tuned.broken += [GuardViolation("failed", place.name, error) for place in places]
        for number, place in enumerate(places):
            if best is not None:
                tuned.broken += violations(place.name, best[number], cubic[number])
            scores = [None if of is None else score_of(of[number], cubic[number]) for of in (start, best)]
            tuned.held_back.append((place.name, scores[0], scores[1]))

    def _is_accepted(self, places: Sequence[Variant], controller: str, tuned: TuningResult) -> bool:
        try:
            for place in places:
                place.bound(controller)
        except RequestError as error:
            tuned.refusal = tuned.refusal or str(error)
            return False
        return True

    def _figures(
        self, places: Sequence[Variant], controllers: Sequence[str], fresh: bool = False
    ) -> list[list[Figures] | None]:
        """The figures of each controller on each scenario; None of a controller that fails.

        `fresh`: on seeds that the search has not seen, and more of them.
        """
        scenarios = [place.bound(controller) for controller in controllers for place in places]
        found: dict[int, Figures] = {}

        def keep(number: int, outcomes: Outcomes) -> None:
            found[number] = Figures.of(outcomes)
            self.core_s += outcomes.core_s

        first = first_seed(self.seed) + (self.trials if fresh else 0)
        trials = max(self.trials, JUDGED) if fresh else self.trials
        try:
            gather(self.executor, scenarios, range(first, first + trials), keep)
        except ControllerError:
            if len(controllers) == 1:
                return [None]
            return [self._figures(places, [one], fresh)[0] for one in controllers]
        n = len(places)
        return [[found[n * number + place] for place in range(n)] for number in range(len(controllers))]

    def _score(
        self, places: Sequence[Variant], mine: Sequence[Figures] | None, cubic: Sequence[Figures]
    ) -> float | None:
        """The mean over scenarios; None if a guard is broken."""
        if mine is None:
            return None
        if any(any(violations(place.name, own, of)) for place, own, of in zip(places, mine, cubic, strict=True)):
            return None
        scores = [score_of(own, of) for own, of in zip(mine, cubic, strict=True)]
        return None if None in scores else float(np.mean([one for one in scores if one is not None]))


def _short(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{value:.6g}")
