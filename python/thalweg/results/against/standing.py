"""Where the main controller stands in a whole suite.

All comparisons of scenarios, metrics and rivals are one family. What is worse is tested as `compare --fail-above`
does, from one side, so that what is better makes nothing else worse; the other answers are as in `compare`.

A scenario is *worst* if one of its metrics is, else *best* if one is, as the tests of C4 after draft -04 ask:
shorter in time, in RTT or in delay of frames, and not worse than all. It is *alike* if every metric is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.engine.outcome import Outcomes
from thalweg.judging.comparison.row import MARGIN, Row, compare_samples
from thalweg.judging.comparison.worse import decide
from thalweg.judging.measures import MEASURES, Measure, bounds_of
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import finite
from thalweg.judging.verdict import Statistics
from thalweg.judging.verdict import judge as judge_criteria
from thalweg.results.against.place import RANKS, Banded, Place, Rank
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
    undecided: int
    """Comparisons that so few trials could not call worse in so large a family, however much it was."""

    @property
    def name(self) -> str:
        """The controller that is compared; `main` if scenarios differ in it."""
        return self.controllers[0] if len(self.controllers) == 1 else "main"

    @property
    def worst(self) -> list[Place]:
        """Where it is worse than every rival."""
        return [place for place in self.places if place.rank == "worst"]

    @property
    def scenarios(self) -> dict[str, Rank]:
        """The rank in each scenario."""
        of: dict[str, list[Rank]] = {}
        for place in self.places:
            of.setdefault(place.scenario, []).append(place.rank)
        return {name: _together(ranks) for name, ranks in of.items()}

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
            "lack_trials": self.undecided,
            "scenarios": counts(list(self.scenarios.values())),
            "metrics": [
                {
                    "metric": measure.name,
                    "better": measure.better,
                    **counts([place.rank for place in self.of(measure)]),
                    "largest_gap": _gap_document(largest_gap(self.of(measure))),
                }
                for measure in self.measures
            ],
            "ranks": self.scenarios,
            "places": [place.document() for place in self.places],
            "bands": [banded.document() for banded in self.bands],
        }


def counts(ranks: Sequence[Rank]) -> dict[str, int]:
    """How many of each rank there are.

    >>> counts(["best", "worst", "best"])
    {'best': 2, 'between': 0, 'worst': 1, 'alike': 0, 'undecided': 0}
    """
    found = Counter(ranks)
    return {rank: found[rank] for rank in RANKS}


def largest_gap(places: Sequence[Place]) -> Place | None:
    """The place where the median is furthest behind the best rival's, if the trials show it."""
    behind = [place for place in places if place.rivals[place.best_rival].answer == "worse"]
    return max(behind, key=lambda place: place.gap, default=None)


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
                compared = [compare_samples(ours.scenario.name, other, mine, MARGIN) for other in each]
                measures.append(measure)
                rows.append(list(zip(names, compared, strict=True)))
    family = decide([row for of_place in rows for _, row in of_place])
    decided = iter(family)
    places = []
    for measure, of_place in zip(measures, rows, strict=True):
        rivals = {name: next(decided) for name, _ in of_place}
        places.append(Place(of_place[0][1].scenario, measure, rivals))
    return Standing(
        controllers=tuple(
            dict.fromkeys(_controller(ours, str(_rival(theirs[0])["flow"])) for ours, theirs in sides)
        ),
        compared=tuple(ours.scenario.name for ours, _ in sides),
        rivals=tuple(dict.fromkeys(str(_rival(one)["controller"]) for _, theirs in sides for one in theirs)),
        places=tuple(places),
        bands=tuple(bands),
        undecided=sum(row.lacks_trials for row in family),
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


def _together(ranks: Sequence[Rank]) -> Rank:
    """The rank in a scenario from the ranks by its metrics.

    >>> _together(["best", "between"]), _together(["best", "worst"]), _together(["alike", "undecided"])
    ('best', 'worst', 'undecided')
    """
    order: tuple[Rank, ...] = ("worst", "best", "between", "undecided", "alike")
    return next(rank for rank in order if rank in ranks)


def _gap_document(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {"scenario": place.scenario, "rival": place.best_rival, "gap": finite(place.gap)}
