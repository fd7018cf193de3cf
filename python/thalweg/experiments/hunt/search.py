"""Where a hunt looks next: Optuna's samplers, asked for several scenarios at a time and told what came of them.

tpe      tree-structured Parzen estimators (Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NIPS
         2011), of all parameters together
evolution  what did best, with changes: see `evolution.py`
random   independent draws

How many are asked for at once is fixed, so that the same seed asks for the same scenarios on any machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.base.extras import require
from thalweg.experiments.hunt.moments import Moment
from thalweg.experiments.sweep.axis import Range

if TYPE_CHECKING:
    import optuna

AT_ONCE = 8
Clock = Callable[[str], Range | None]
"""The range of a parameter that says when something happens; None of any other."""
BEHAVIOUR = "seen"
"""What else Optuna is told: what happened in a scenario."""


@dataclass(frozen=True)
class Behaviour:
    """What happened in a scenario, without the objective; empty for one that failed or is invalid."""

    niche: tuple[int, ...] = ()
    moments: Sequence[Moment] = ()


def timeless(name: str) -> Range | None:
    """The clock of a space in which no parameter is a time."""
    return None


class _Candidate:
    """One that is asked for: each parameter is decided on when it is first needed."""

    def __init__(self, trial: optuna.trial.Trial) -> None:
        self.trial = trial

    def share(self, name: str) -> float:
        return self.trial.suggest_float(name, 0.0, 1.0)

    def step(self, name: str, count: int) -> int:
        return self.trial.suggest_int(name, 0, count - 1)

    def choice(self, name: str, count: int) -> int:
        return int(self.trial.suggest_categorical(name, list(range(count))))


class Search:
    """A seeded search for the largest value."""

    def __init__(self, sampler: str, seed: int, clock: Clock = timeless) -> None:
        """Raises RequestError without Optuna."""
        require("hunt", "a hunt")
        import optuna  # noqa: PLC0415 - takes half a second to load

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that Optuna calls experimental
            chosen: optuna.samplers.BaseSampler
            if sampler == "random":
                chosen = optuna.samplers.RandomSampler(seed=seed)
            elif sampler == "evolution":
                from thalweg.experiments.hunt.evolution import Evolution  # noqa: PLC0415 - needs Optuna

                chosen = Evolution(seed, clock)
            else:
                chosen = optuna.samplers.TPESampler(
                    seed=seed, multivariate=True, group=True, constant_liar=True, n_startup_trials=4 * AT_ONCE
                )
        self._study = optuna.create_study(direction="maximize", sampler=chosen)
        self._failed = optuna.trial.TrialState.FAIL

    def ask(self, count: int) -> list[_Candidate]:
        """So many new ones."""
        return [_Candidate(self._study.ask()) for _ in range(count)]

    def tell(
        self, asked: Sequence[_Candidate], values: Sequence[float | None], seen: Sequence[Behaviour] | None = None
    ) -> None:
        """What came of them, None for what cannot be, and what happened in them."""
        for one, value, what in zip(asked, values, seen or [Behaviour()] * len(asked), strict=True):
            one.trial.set_user_attr(BEHAVIOUR, what)
            if value is None:
                self._study.tell(one.trial, state=self._failed)
            else:
                self._study.tell(one.trial, value)
