"""Compares the numbers of the candidate with the standards' numbers, setting by setting.

Trials are paired by seed. A limit *fails* if the interval of the median of what exceeds it lies above zero, it
*holds* if the interval lies below, and is otherwise *undecided*: there are not enough trials. It *differs* from a
standard if the interval of the median of the paired differences does not hold zero. All intervals are from
the sign test (`judging.statistics.differences`), each for 1 - 5 % / comparisons (Bonferroni): of all comparisons
of a dossier, 0.05 differ by chance on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from thalweg.experiments.dossier.limits import Limit
from thalweg.experiments.dossier.numbers import NUMBERS, SEED
from thalweg.experiments.dossier.settings.player import STANDARDS, Player
from thalweg.experiments.dossier.settings.setting import Question, Setting
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.claims import FAILS, LEAST_TRIALS, UNDECIDED, Answer, each_of, within
from thalweg.judging.statistics.differences import in_pairs, least_pairs, subtract
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.quantiles import median, median_interval

Numbers = Mapping[str, Values]
Results = Mapping[tuple[str, Player], Numbers]
"""What the trials of each setting and player gave."""
BESIDE = tuple(Player(name) for name in STANDARDS)


@dataclass(frozen=True)
class Judgement:
    """One number of one setting."""

    setting: Setting
    question: Question
    number: Measure
    player: Player
    """The candidate, or another implementation of it."""
    values: Values
    of_standards: tuple[Values, ...]
    """In the order of STANDARDS."""
    interval: Interval
    """The interval of the candidate's median."""
    bound: Values
    """The limit in each trial."""
    answer: Answer
    """Whether the limit holds."""
    differs: tuple[int, ...]
    """From each standard: -1 for smaller, 1 for larger, 0 if that cannot be told."""
    worst_seed: int
    """The seed of the trial that lies farthest beyond the limit, or nearest to it."""
    worst_bound: float
    """The limit in that trial."""

    @property
    def is_beyond(self) -> bool:
        """Whether the trials say that it is beyond the limit."""
        return self.answer == FAILS

    @property
    def is_undecided(self) -> bool:
        """Whether there are not enough trials to say."""
        return self.answer == UNDECIDED

    @property
    def side(self) -> Literal["at_most", "at_least"]:
        """What the limit bounds."""
        return "at_most" if self.number.better == "lower" else "at_least"

    @property
    def severity(self) -> float:
        """The median over the limit, or the limit over the median where more is better: above 1 is beyond.

        A limit of 0 that is exceeded makes it infinite.
        """
        value, bound = median(self.values), median(self.bound)
        if self.number.better == "higher":
            value, bound = bound, value
        if value <= 0:
            return 0.0
        return value / bound if bound > 0 else math.inf


def comparisons(settings: Iterable[Setting], limits: Mapping[str, Limit]) -> int:
    """How many a player adds to a dossier: of each number that has a limit with it, and with each standard."""
    return (1 + len(STANDARDS)) * sum(len(list(_asked(setting, limits))) for setting in settings)


def _asked(setting: Setting, limits: Mapping[str, Limit]) -> Iterator[Question]:
    """What is judged."""
    return (question for question in setting.questions if question.number in limits)


def least_trials(count: int) -> int:
    """How many trials a difference needs at least to be told from chance, with this many comparisons.

    All signs of n pairs are alike with probability 2^(1-n), which is to be below 5 % / comparisons.

    >>> least_trials(1), least_trials(228)
    (6, 14)
    """
    return least_pairs(1 - each_of(count))


def judge(
    settings: Mapping[str, Setting],
    played: Results,
    player: Player,
    limits: Mapping[str, Limit],
    count: int,
) -> Iterator[Judgement]:
    """Every number that the player and the standards have, setting by setting.

    `count` is the number of all comparisons of the dossier.

    Trials in which one of them has no number, such as the wait of a flow that sent nothing, are left out.
    """
    confidence = each_of(count)
    for setting in settings.values():
        if any((setting.name, who) not in played for who in (player, *BESIDE)):
            continue
        for question in _asked(setting, limits):
            number, seeds = NUMBERS[question.number], played[setting.name, player][SEED]
            values, *standards = (
                _values(played[setting.name, who], number, len(seeds)) for who in (player, *BESIDE)
            )
            known = ~np.isnan(np.array([values, *standards])).any(axis=0)
            if not known.any():
                continue
            values, *standards = (of[known] for of in (values, *standards))
            bound = limits[number.name].bound(number, standards)
            worst = int(np.argmax(_excess(number, values, bound)))
            yield Judgement(
                setting,
                question,
                number,
                player,
                values,
                tuple(standards),
                median_interval(values),
                bound,
                within(median_interval(_excess(number, values, bound), confidence), -math.inf, 0.0),
                tuple(_differs(values, standard, confidence) for standard in standards),
                int(seeds[known][worst]),
                float(bound[worst]),
            )


def _excess(number: Measure, values: Values, bound: Values) -> Values:
    """By how much each trial is beyond the limit."""
    return subtract(values, bound) if number.better == "lower" else subtract(bound, values)


def _differs(values: Values, standard: Values, confidence: float) -> int:
    if len(values) < LEAST_TRIALS:
        return 0
    interval = in_pairs(standard, values, confidence=confidence).interval
    return 1 if interval.low > 0 else -1 if interval.high < 0 else 0


def _values(of: Numbers, number: Measure, trials: int) -> Values:
    """The values of the first trials: in real time there are fewer."""
    return of.get(number.name, np.full(len(of[SEED]), np.nan))[:trials]
