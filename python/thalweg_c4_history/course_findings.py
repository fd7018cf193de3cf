"""What the paper says about the course of its trials, and what our traces say; it decides nothing.

Answers: `judging/statistics/claims.py`. A statement on a share holds if the interval of the mean lies on its side;
one on two groups of windows or times if the interval of the ratio of their medians does. A moment that the paper
reads off one trial holds if it lies in the middle half of ours, where what did not happen is later than all that
did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.runner.result import Finding
from thalweg.judging.statistics.claims import (
    FAILS,
    LEAST_TRIALS_OF_SHARES,
    Answer,
    above,
    below,
    each_of,
    every,
    within,
)
from thalweg.judging.statistics.digits import ranged
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import mean_interval
from thalweg.judging.statistics.quantiles import median, quantile_interval
from thalweg.judging.statistics.ratios import ratio_of_medians
from thalweg_c4_history.course import Course
from thalweg_c4_history.findings import reason
from thalweg_c4_history.published import ALONE, PAPER, SAME

Cell = tuple[str, str]
Courses = Mapping[Cell, Sequence[Course]]

NEEDED: tuple[Cell, ...] = (
    ("v1", ALONE),
    ("v1", "cubic"),
    ("v1", "bbr"),
    ("v1", SAME),
    ("no-exit", "bbr"),
    ("v2", "cubic"),
    ("v2", SAME),
)
"""Cells whose course the paper speaks of."""

_THIRD = 1 / 3
_Statement = tuple[str, str, str, Answer]


def course_findings(closed: Mapping[Cell, Values], courses: Courses, shared: bool) -> list[Finding]:
    """The statements on end times and courses; `shared` as for the other findings."""
    found = [
        _headline(closed),
        *_spikes(courses),
        *_moments(courses),
        _last_phase(courses),
        _beside_itself(courses),
        _stuck(courses),
    ]
    return [
        Finding(name, PAPER, published, measured, answer, reason(answer, shared))
        for name, published, measured, answer in found
    ]


def _headline(closed: Mapping[Cell, Values]) -> _Statement:
    ratio = ratio_of_medians(closed["v2", "cubic"], closed["v1", "cubic"])
    measured = f"median v2 / v1 = {ranged(ratio)}"
    return "v2 is faster than v1 against cubic", "the scenario completes faster", measured, below(ratio, 1)


def _spikes(courses: Courses) -> Iterator[_Statement]:
    def peaks(*cell: str) -> Values:
        variant, competitor = cell
        return np.array([course.initial_peak_bytes for course in courses[variant, competitor]])

    def medians_text(first: Values, second: Values) -> str:
        sizes = [text(median(sample), "B", 3) for sample in (first, second)]
        ratio = ranged(ratio_of_medians(first, second))
        return f"largest window in Initial {sizes[0]} and {sizes[1]}, ratio {ratio}"

    pair, alone = peaks("v1", "cubic"), peaks("v1", ALONE)
    yield (
        "against cubic, the initial spike of v1 is missing",
        "it does not happen here",
        f"against cubic and alone: {medians_text(pair, alone)}",
        below(ratio_of_medians(pair, alone), 1),
    )
    without, with_exit = peaks("no-exit", "bbr"), peaks("v1", "bbr")
    yield (
        "without exit on delay, the initial spike against bbr comes back",
        "the modification did cause the expected spike",
        f"no-exit and v1: {medians_text(without, with_exit)}",
        above(ratio_of_medians(without, with_exit), 1),
    )


def _moments(courses: Courses) -> Iterator[_Statement]:
    def stated(name: str, published_s: float, cell: Cell, attribute: str) -> _Statement:
        times = np.array([getattr(course, attribute) for course in courses[cell]])
        seen = times[np.isfinite(times)]
        if not len(seen):
            return name, text(published_s, "s"), f"in none of {len(times)} trials", FAILS
        low, middle, high = (float(value) for value in np.quantile(seen, [0.25, 0.5, 0.75]))
        measured = (
            f"in {len(seen)} of {len(times)} trials, median {middle:.2f} s, middle half {low:.2f} to {high:.2f} s"
        )
        ever = np.where(np.isfinite(times), times, np.inf)
        quarters = [quantile_interval(ever, share, each_of(2)) for share in (0.25, 0.75)]
        answer = every([below(quarters[0], published_s), above(quarters[1], published_s)])
        return name, text(published_s, "s"), measured, answer

    yield stated("v1 matches the window of cubic", 7.0, ("v1", "cubic"), "catch_up_s")
    yield stated("v1 against bbr has its first spike", 4.5, ("v1", "bbr"), "spike_s")
    name, published, measured, answer = stated(
        "v1 against bbr goes into pig war", 8.0, ("v1", "bbr"), "main_pig_war_s"
    )
    _, _, restart, _ = stated(name, 8.0, ("v1", "bbr"), "restart_s")
    yield name, published, f"{measured}; it restarts Initial, which looks alike, {restart}", answer
    yield stated("v2 against cubic has a brief spike", 2.0, ("v2", "cubic"), "spike_s")


def _third(courses: Sequence[Course], which: int) -> Interval:
    shares = np.array([course.thirds[which] for course in courses])
    return mean_interval(shares[np.isfinite(shares)])


def _share_text(interval: Interval) -> str:
    return f"{percent(interval.value)} ({percent(interval.low)} to {percent(interval.high)})"


def _last_phase(courses: Courses) -> _Statement:
    thirds = [_third(courses["v2", "cubic"], which) for which in range(3)]
    measured = "shares of v2 in the thirds of its life: " + ", ".join(map(_share_text, thirds))
    name = "v2 gets the larger share from cubic in the last phase"
    answer = above(thirds[2], 0.5, LEAST_TRIALS_OF_SHARES)
    return name, "starts slowly, competes fairly, then gets a much larger share", measured, answer


def _beside_itself(courses: Courses) -> _Statement:
    of = courses["v2", SAME]
    shares = np.array([np.mean(course.thirds) for course in of])
    shares = shares[np.isfinite(shares)]
    mean = mean_interval(shares)
    fair = percent(float(np.mean((shares >= _THIRD) & (shares <= 1 - _THIRD))))
    measured = f"mean share {_share_text(mean)}; between a third and two thirds in {fair} of the trials"
    answer = within(mean, _THIRD, 1 - _THIRD, LEAST_TRIALS_OF_SHARES)
    return "v2 shares with itself", "reasonably, if not quite evenly", measured, answer


def _stuck(courses: Courses) -> _Statement:
    of = courses["v1", SAME]
    first = _third(of, 0)
    rates = np.array([course.afterwards for course in of])
    rates = rates[np.isfinite(rates)]
    wars = sum(bool(np.isfinite(course.background_pig_war_s)) for course in of)
    measured = (
        f"share of the main flow in its first third {_share_text(first)}; "
        f"the background in pig war in {wars} of {len(of)} trials"
    )
    parts = [below(first, _THIRD, LEAST_TRIALS_OF_SHARES)]
    if len(rates) > 1:
        after = mean_interval(rates)
        measured += (
            f"; after it had closed, the main flow used {_share_text(after)} of the link ({len(rates)} trials)"
        )
        parts.append(below(after, 0.5))
    else:
        measured += "; it hardly ever closed before the main flow"
        parts.append(FAILS)
    name = "v1 against itself: the background dominates, and the main flow stays stuck"
    return name, "completely dominates; a low window even when the background closes", measured, every(parts)
