"""Where the main controller stands in a whole suite.

All comparisons of scenarios, metrics and rivals are one family. What is worse is tested as `compare --fail-above`
does, from one side, so that what is better makes nothing else worse; the other answers are as in `compare`.

Of a scenario: *worst* if one of its metrics is, else *best* if one is, as the tests of C4 after draft -04 ask:
shorter in time, in RTT or in delay of frames, and not worse than all. It is *alike* if every metric is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.engine.outcome import Outcomes
from thalweg.judging.measures import MEASURES, Measure, bounds_of
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import finite
from thalweg.judging.verdict import Statistics
from thalweg.judging.verdict import judge as judge_criteria
from thalweg.results.against.place import ANSWERS, Against, Answer, Banded, Place
from thalweg.results.comparison import MARGIN, Row, compare_statistics, find_worse, judge
from thalweg.results.suite_result import SuiteResult


@dataclass(frozen=True)
class Standing:
    """The places of a controller among rivals."""

    controllers: tuple[str, ...]
    """The controllers that are compared; one, unless scenarios differ in the controller of their main flow."""
    compared: tuple[str, ...]
    """The scenarios, in the order of the suite."""
    rivals: tuple[str, ...]
    places: tuple[Place, ...]
    bands: tuple[Banded, ...]
    untold: int
    """Comparisons that so few trials could not call worse in so large a family, however much it was."""

    @property
    def name(self) -> str:
        """The controller that is compared; `main` if scenarios differ in it."""
        return self.controllers[0] if len(self.controllers) == 1 else "main"

    @property
    def worst(self) -> list[Place]:
        """Where it is worse than every rival."""
        return [place for place in self.places if place.answer == "worst"]

    @property
    def scenarios(self) -> dict[str, Answer]:
        """The answer of each scenario."""
        of: dict[str, list[Answer]] = {}
        for place in self.places:
            of.setdefault(place.scenario, []).append(place.answer)
        return {name: _together(answers) for name, answers in of.items()}

    @property
    def measures(self) -> list[Measure]:
        """What is compared, in the order of its first place."""
        return list(dict.fromkeys(place.measure for place in self.places))

    def of(self, measure: Measure) -> list[Place]:
        """The places by one metric."""
        return [place for place in self.places if place.measure == measure]

    def document(self) -> dict[str, Any]:
        """All places as JSON."""
        return {
            "controllers": list(self.controllers),
            "rivals": list(self.rivals),
            "margin": MARGIN,
            "false_discovery_rate": RATE,
            "untold": self.untold,
            "scenarios": counts(list(self.scenarios.values())),
            "metrics": [
                {
                    "metric": measure.name,
                    "better": measure.better,
                    **counts([place.answer for place in self.of(measure)]),
                    "largest_gap": _gap_document(largest_gap(self.of(measure))),
                }
                for measure in self.measures
            ],
            "answers": self.scenarios,
            "places": [place.document() for place in self.places],
            "bands": [banded.document() for banded in self.bands],
        }


def counts(answers: Sequence[Answer]) -> dict[str, int]:
    """How many of each answer there are.

    >>> counts(["best", "worst", "best"])
    {'best': 2, 'between': 0, 'worst': 1, 'alike': 0, 'not told apart': 0}
    """
    found = Counter(answers)
    return {answer: found[answer] for answer in ANSWERS}


def largest_gap(places: Sequence[Place]) -> Place | None:
    """The place where the median is furthest behind the best rival's, if the trials show it."""
    behind = [place for place in places if place.best_rival.conclusion == "worse"]
    return max(behind, key=lambda place: place.best_rival.gap, default=None)


def stand(result: SuiteResult) -> Standing | None:
    """The places of the main controller in the scenarios that all rivals have finished; None if there are none."""
    sides = list(_sides(result))
    if not sides:
        return None
    measures: list[Measure] = []
    rows: list[list[tuple[str, Row]]] = []
    bands = []
    for ours, theirs in sides:
        flow = str(_rival(theirs[0])["flow"])
        own = [MEASURES[name] for name in _rival(theirs[0])["metrics"]]
        names = [str(_rival(side)["controller"]) for side in theirs]
        main, *others = (_statistics(side, flow, own) for side in (ours, *theirs))
        for measure, mine, *each in zip(own, main, *others, strict=True):
            of_rivals = list(zip(names, each, strict=True))
            if measure.better is None:
                least, most = bounds_of(ours.scenario.criteria, flow, measure.name)
                bands.append(Banded(ours.scenario.name, measure, least, most, mine, of_rivals))
            else:
                compared = [compare_statistics(ours.scenario.name, other, mine, MARGIN) for other in each]
                measures.append(measure)
                rows.append(list(zip(names, compared, strict=True)))
    family = judge([row for of_place in rows for _, row in of_place])
    (worse,) = find_worse([family], [[]])
    found = {id(row) for row in worse.rows}
    corrected = iter(family)
    places = []
    for measure, of_place in zip(measures, rows, strict=True):
        judged = [(name, next(corrected)) for name, _ in of_place]
        against = tuple(Against(name, row, is_worse=id(row) in found) for name, row in judged)
        places.append(Place(against[0].row.scenario, measure, against))
    return Standing(
        controllers=tuple(
            dict.fromkeys(_controller(ours, str(_rival(theirs[0])["flow"])) for ours, theirs in sides)
        ),
        compared=tuple(ours.scenario.name for ours, _ in sides),
        rivals=tuple(dict.fromkeys(str(_rival(one)["controller"]) for _, theirs in sides for one in theirs)),
        places=tuple(places),
        bands=tuple(bands),
        untold=len(worse.untold),
    )


def _sides(result: SuiteResult) -> Iterator[tuple[Outcomes, list[Outcomes]]]:
    """Each scenario that is compared, and its rivals: only where all of them have finished."""
    of: dict[str, list[Outcomes]] = {}
    for outcomes in result.rivals:
        of.setdefault(str(_rival(outcomes)["of"]), []).append(outcomes)
    most = max(map(len, of.values()), default=0)
    for ours in result.outcomes:
        if len(of.get(ours.scenario.name, [])) == most > 0:
            yield ours, of[ours.scenario.name]


def _rival(outcomes: Outcomes) -> dict[str, Any]:
    """Whose scenario a rival plays, and what is compared."""
    return outcomes.scenario.rival or {}


def _statistics(outcomes: Outcomes, flow: str, measures: Sequence[Measure]) -> Sequence[Statistics]:
    awaited = outcomes.scenario.awaits(flow)
    asked = [measure.criterion(flow, awaited=awaited) for measure in measures]
    return judge_criteria(asked, outcomes.flows, outcomes.streams, outcomes.scenario.starts_s).criteria


def _controller(outcomes: Outcomes, flow: str) -> str:
    return next((one["controller"] for one in outcomes.scenario.flows if one["name"] == flow), flow)


def _together(answers: Sequence[Answer]) -> Answer:
    """The answer of a scenario from the answers of its metrics.

    >>> _together(["best", "between"]), _together(["best", "worst"]), _together(["alike", "not told apart"])
    ('best', 'worst', 'not told apart')
    """
    order: tuple[Answer, ...] = ("worst", "best", "between", "not told apart", "alike")
    return next(answer for answer in order if answer in answers)


def _gap_document(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    best = place.best_rival
    return {"scenario": place.scenario, "rival": best.rival, "gap": finite(best.gap)}
