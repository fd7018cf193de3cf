"""Places as words: the rows that a terminal, Markdown and a page show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from thalweg.base.quantity import percent
from thalweg.judging.statistics.digits import bracketed, supported
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.verdict import Statistics
from thalweg.results.against.place import ANSWERS, Against, Banded, Place
from thalweg.results.against.standing import Standing, counts, largest_gap
from thalweg.results.comparison import MARGIN

COUNT_HEADERS = ("metric", "better", "places", *ANSWERS, "largest gap to the best")
COUNT_LEFT = 2
"""The first columns hold words, the others numbers."""
LEFT = 3


def headers(standing: Standing) -> tuple[str, ...]:
    """The headers of the table of places: the median of the main controller, and its distance from each rival."""
    rivals = (f"behind {name}" for name in standing.rivals)
    return ("scenario", "metric", "place", standing.name, *rivals, "less the best rival [95 %]", "of")


def rows(standing: Standing) -> list[list[str]]:
    """One row for each scenario and metric, under `headers`."""
    found = [*map(_row, standing.places), *map(_banded_row, standing.bands)]
    order = {name: number for number, name in enumerate(standing.compared)}
    return sorted(found, key=lambda row: order[row[0]])


def count_rows(standing: Standing) -> list[list[str]]:
    """One row for each metric and one for the scenarios, under COUNT_HEADERS."""
    found = []
    for measure in standing.measures:
        places = standing.of(measure)
        number = counts([place.answer for place in places])
        gap = largest_gap(places)
        said = "-" if gap is None else f"{gap_text(gap)} ({gap.scenario})"
        found.append(
            [
                measure.name,
                str(measure.better),
                str(len(places)),
                *(str(number[answer]) for answer in ANSWERS),
                said,
            ]
        )
    answers = standing.scenarios
    number = counts(list(answers.values()))
    found.append(["scenarios", "", str(len(answers)), *(str(number[answer]) for answer in ANSWERS), ""])
    return found


def summary(standing: Standing) -> str:
    """One sentence: in how many scenarios the controller is best, and in how many worse than all."""
    answers = list(standing.scenarios.values())
    best, worst = answers.count("best"), answers.count("worst")
    majority = "a majority" if 2 * best > len(answers) else "no majority"
    return (
        f"{standing.name} against {' and '.join(standing.rivals)}: best in {best} of {len(answers)} scenarios, "
        f"{majority}, and worse than all in {worst}; by more than {percent(MARGIN)}, of what is told at most "
        f"{percent(RATE)} by chance (false discovery rate)"
    )


def gap_text(place: Place) -> str:
    """How far a place is behind the best rival, in percent of its median, or ahead of it.

    Medians of 0 and of trials that do not finish have no percentage.
    """
    best = place.best_rival
    if math.isinf(best.gap):
        return f"behind {best.rival}" if best.gap > 0 else f"ahead of {best.rival}"
    return f"{_gap(best)} {best.rival}"


def _gap(one: Against) -> str:
    if math.isinf(one.gap):
        return "behind" if one.gap > 0 else "ahead"
    return f"{100 * one.gap:+.1f} %"


def place_text(place: Place) -> str:
    """A place that is worse than all, as a line: what, and by how much."""
    behind = ", ".join(f"{_gap(one)} {one.rival}" for one in place.against)
    return f"{place.scenario}: {place.main.flow} {place.measure.name}: {_median(place.main)}, {behind}"


def _row(place: Place) -> list[str]:
    best = place.best_rival.row
    return [
        place.scenario,
        place.measure.name,
        place.answer,
        _median(place.main),
        *(_gap(one) for one in place.against),
        bracketed(best.sharper.interval, place.measure.unit),
        "pairs" if best.pairs_are_sharper else "all with all",
    ]


def _banded_row(banded: Banded) -> list[str]:
    sides: Sequence[Statistics] = (banded.main, *(statistics for _, statistics in banded.rivals))
    cells = [f"{_median(side)} ({banded.band(side.median)})" for side in sides]
    return [banded.scenario, banded.measure.name, "-", *cells, "-", "-"]


def _median(statistics: Statistics) -> str:
    interval: Interval = statistics.median_interval
    return supported(interval, statistics.unit)
