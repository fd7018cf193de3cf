"""Places as words: the rows that a terminal, Markdown and a page show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from thalweg.base.quantity import percent
from thalweg.judging.comparison.row import MARGIN, Row
from thalweg.judging.statistics.digits import bracketed, supported
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.verdict import Statistics
from thalweg.results.against.place import RANKS, Banded, Place
from thalweg.results.against.standing import Standing, counts, largest_gap

COUNT_HEADERS = ("metric", "better", "places", *RANKS, "largest gap to the best")
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
        number = counts([place.rank for place in places])
        gap = largest_gap(places)
        said = "-" if gap is None else f"{gap_text(gap)} ({gap.scenario})"
        found.append(
            [
                measure.name,
                str(measure.better),
                str(len(places)),
                *(str(number[rank]) for rank in RANKS),
                said,
            ]
        )
    ranks = standing.scenarios
    number = counts(list(ranks.values()))
    found.append(["scenarios", "", str(len(ranks)), *(str(number[rank]) for rank in RANKS), ""])
    return found


def summary(standing: Standing) -> str:
    """One sentence: in how many scenarios the controller is best, and in how many worse than all."""
    ranks = list(standing.scenarios.values())
    best, worst = ranks.count("best"), ranks.count("worst")
    majority = "a majority" if 2 * best > len(ranks) else "no majority"
    return (
        f"{standing.name} against {' and '.join(standing.rivals)}: best in {best} of {len(ranks)} scenarios, "
        f"{majority}, and worse than all in {worst}; by more than {percent(MARGIN)}, of what is decided at most "
        f"{percent(RATE)} by chance (false discovery rate)"
    )


def gap_text(place: Place) -> str:
    """How far a place is behind the best rival, in percent of its median, or ahead of it.

    Medians of 0 and of trials that do not finish have no percentage.
    """
    if math.isinf(place.gap):
        return f"behind {place.best_rival}" if place.gap > 0 else f"ahead of {place.best_rival}"
    return f"{_gap(place.rivals[place.best_rival])} {place.best_rival}"


def _gap(one: Row) -> str:
    if math.isinf(one.gap):
        return "behind" if one.gap > 0 else "ahead"
    return f"{100 * one.gap:+.1f} %"


def place_text(place: Place) -> str:
    """A place that is worse than all, as a line: what, and by how much."""
    behind = ", ".join(f"{_gap(row)} {name}" for name, row in place.rivals.items())
    return f"{place.scenario}: {place.main.flow} {place.measure.name}: {_median(place.main)}, {behind}"


def _row(place: Place) -> list[str]:
    best = place.rivals[place.best_rival]
    return [
        place.scenario,
        place.measure.name,
        place.rank,
        _median(place.main),
        *map(_gap, place.rivals.values()),
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
