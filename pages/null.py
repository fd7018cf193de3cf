"""A against A with other seeds: how often commands answer although nothing differs.

Where answers depend on how trials are distributed, the trials are real. Parts that take more than a few seconds
are measured when the page is made, and not again by a check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations

import numpy as np

from pages.made import row
from thalweg.base.seeds import first_seed
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario
from thalweg.experiments.comparison.study import compare_trials
from thalweg.experiments.hunt import Hunt
from thalweg.experiments.hunt.tune import TuningResult
from thalweg.experiments.score.document import mean_of, scores_of
from thalweg.experiments.score.figures import Figures
from thalweg.experiments.score.scenarios import halves
from thalweg.experiments.studies.fairness.parameters import Parameters as FairnessParameters
from thalweg.experiments.studies.fairness.study import STUDY as FAIRNESS
from thalweg.judging.comparison.sample import Sample
from thalweg.judging.comparison.worse import find_worse
from thalweg.judging.statistics.interval import Values
from thalweg.judging.statistics.means import mean_interval
from thalweg.judging.statistics.rates import chance_of_more, chance_of_more_in_pairs
from thalweg.results.comparison.suites import compare_failures, compare_results
from thalweg.results.suite_result import SuiteResult

SETS = range(101, 141)
"""Sets of seeds: 780 pairs. No other page and no threshold has seen their trials."""
TRIALS = 100


@dataclass(frozen=True)
class Null:
    """A command, what it may say by chance, and how often it does."""

    command: str
    says: str
    trials: str
    measure: Callable[[], tuple[int, float]]
    """How often it was asked, and the share of wrong answers in per cent."""
    promised: str
    is_cheap: bool = True

    def line(self) -> str:
        """The line of the page."""
        asked, wrong = self.measure()
        return row(self.command, self.says, self.trials, str(asked), f"{wrong:.1f}", self.promised)


def nulls() -> Iterator[Null]:
    """Every command that answers, where the page has no other line on it."""
    suite = f"suite c4, {TRIALS} each"
    at_most = "at most 5"
    for limit in (0.0, 0.05):
        command = f'`compare --fail-above "{100 * limit:g} %"`'
        yield Null(command, "status 1", suite, partial(_worse, limit), at_most, is_cheap=False)
    yield Null("`compare`", "B is better or worse, by more than 0 %", suite, _differs, at_most, is_cheap=False)
    yield Null("`compare`", "a verdict changes (said, and no failure)", suite, _changes, "-", is_cheap=False)
    fairness = "study fairness, 3 cells, 20 each"
    command = '`compare --fail-above "0 %"` of studies'
    yield Null(command, "status 1", fairness, _studies, at_most, is_cheap=False)
    for rate in (0.01, 0.05, 0.3):
        drawn = f"drawn, 100 each, {100 * rate:g} % fail"
        yield Null("failure rates", "B fails more often", drawn, partial(_rates, rate), at_most)
        in_pairs = f"{drawn}, half of them in both"
        yield Null("failure rates, in pairs", "B fails more often", in_pairs, partial(_paired, rate), at_most)
    for side in ("below", "above"):
        drawn = "suite search, C4, 4 each"
        yield Null("`score`", f"interval {side} the truth", drawn, partial(_score, side), "2.5", is_cheap=False)
    space = "bad-wifi, RTT of 1.99 to 2.01 ms, 1 each"
    yield Null("`hunt`", "found", space, partial(_hunts, 100), "at most 2.5", is_cheap=False)
    yield Null("`tune`", "better", "drawn, 8 scenarios held back", _tuned, "2.5")


def parts() -> list[tuple[str, Callable[[], list[str]]]]:
    """The lines that a check measures again."""
    return [(f"{one.command}, {one.trials}", partial(_alone, one)) for one in nulls() if one.is_cheap]


def _alone(one: Null) -> list[str]:
    return [one.line()]


@cache
def _sets() -> list[SuiteResult]:
    """The suite c4 on sets of seeds."""
    scenarios = [Scenario.from_entry(entry) for entry in Suite.find("c4").entries]
    results = []
    for number in SETS:
        outcomes = [scenario.trials(TRIALS, first_seed(number)) for scenario in scenarios]
        results.append(SuiteResult("c4", "c4", None, seed=first_seed(number), outcomes=outcomes))
    return results


def _of_pairs(wrong: Callable[[SuiteResult, SuiteResult], bool]) -> tuple[int, float]:
    answers = [wrong(a, b) for a, b in combinations(_sets(), 2)]
    return len(answers), 100 * float(np.mean(answers))


def _worse(limit: float) -> tuple[int, float]:
    def wrong(a: SuiteResult, b: SuiteResult) -> bool:
        (worse,) = find_worse([compare_results(a, b, limit, of_a=True)], [compare_failures(a, b)])
        return bool(worse.rows or worse.failures)

    return _of_pairs(wrong)


def _differs() -> tuple[int, float]:
    return _of_pairs(lambda a, b: any(one.answer in ("better", "worse") for one in compare_results(a, b, 0)))


def _changes() -> tuple[int, float]:
    return _of_pairs(lambda a, b: any(one.changed for one in compare_failures(a, b)))


def _studies() -> tuple[int, float]:
    parameters = FairnessParameters(("c4", "cubic"), (1.0,), (1.0,), ("drop-tail",), flows=(), duration="20 s")
    samples = []
    for number in SETS:
        seed = first_seed(number)
        finished = FAIRNESS.run(parameters, 20, seed)
        samples.append(
            {
                (cell, measure): Sample.of(measure, seed, values)
                for cell, measures in finished.samples.items()
                for measure, values in measures.items()
            }
        )
    answers = [
        bool(find_worse([compare_trials(a, b, 0.0, of_a=True)], [[]])[0].rows) for a, b in combinations(samples, 2)
    ]
    return len(answers), 100 * float(np.mean(answers))


_DRAWS = 4000


def _rng(*words: object) -> np.random.Generator:
    return np.random.default_rng([20261124, *" ".join(map(str, words)).encode()])


def _rates(rate: float) -> tuple[int, float]:
    counts = _rng("rates", rate).binomial(100, rate, (_DRAWS, 2))
    wrong = [chance_of_more(int(a), 100, int(b), 100) <= 0.05 for a, b in counts]
    return _DRAWS, 100 * float(np.mean(wrong))


def _paired(rate: float) -> tuple[int, float]:
    """Half of what fails does so on both sides."""
    rng, wrong = _rng("pairs", rate), []
    for _ in range(_DRAWS):
        path = rng.uniform(size=100) < rate / 2
        a, b = (path | (rng.uniform(size=100) < rate / 2) for _ in range(2))
        wrong.append(chance_of_more_in_pairs(a, b) <= 0.05)
    return _DRAWS, 100 * float(np.mean(wrong))


@cache
def _scores(blocks: int = 400, trials: int = 4) -> tuple[Values, float]:
    """The score of C4 on the open half for each seed, in blocks, and its mean, which is taken for the truth."""
    opened, _ = halves(Suite.find("search"), 1)
    each = []
    for place in opened:
        mine, cubic = (
            Figures.of(place.bound(name).trials(blocks * trials, first_seed(1))) for name in ("c4", "cubic")
        )
        scores = scores_of(mine, cubic)
        assert scores is not None
        each.append(scores)
    of_seeds = mean_of(each)
    return of_seeds.reshape(blocks, trials), float(of_seeds.mean())


def _score(side: str) -> tuple[int, float]:
    blocks, truth = _scores()
    intervals = [mean_interval(block) for block in blocks]
    wrong = [one.high < truth if side == "below" else one.low > truth for one in intervals]
    return len(wrong), 100 * float(np.mean(wrong))


def _hunts(hunts: int) -> tuple[int, float]:
    """With single trials, of which some tell another objective than the median by a half."""
    found = [
        Hunt(
            scenario="c4/bad-wifi",
            objective="slowdown",
            axes={"path.rtt": {"from": "1.99 ms", "to": "2.01 ms"}},
            sampler="random",
            budget=16,
            search_seed=number,
            seed=1 + 1000 * number,
        )
        .run()
        .is_worse
        for number in range(hunts)
    ]
    return hunts, 100 * float(np.mean(found))


def _tuned() -> tuple[int, float]:
    """Options without an effect: what they gain on each scenario that is held back is noise about 0."""
    rng = _rng("tune")

    def gains() -> Sequence[tuple[str, float, float]]:
        return [("", 0.0, float(gain)) for gain in rng.normal(0, 0.015, 8)]

    wrong = [TuningResult("", "", 0.0, 0.0, held_back=list(gains())).is_better for _ in range(_DRAWS)]
    return _DRAWS, 100 * float(np.mean(wrong))


def table() -> list[str]:
    """All lines, with their head."""
    head = "| command | says | trials | asked | by chance, % | promised, % |"
    return [head, "|---|---|---|--:|--:|--:|", *(one.line() for one in nulls())]
