"""What `wifi-compete` takes from the trials of one cell, and the row that comes of it.

What is measured is the time at which the main flow has closed, counted from 0: in a pair, it lasts one second less
than that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.runner.result import Row
from thalweg.judging.statistics.interval import Values
from thalweg.judging.statistics.quantiles import percentile
from thalweg_c4_history.course import Course
from thalweg_c4_history.parameters import MAIN
from thalweg_c4_history.published import ALONE, HEAD_START_S, VARIANTS, Distribution


class PairTrials(NamedTuple):
    """What is kept of a cell."""

    outcomes: Outcomes
    closed: Values
    """When the main flow closed in each trial."""
    courses: list[Course]
    """Courses of the first trials of a cell that the paper speaks of."""


def row(
    cell: tuple[str, str],
    closed: Values,
    share: Values,
    background_bytes: Values,
    alone_median_s: float | None,
    published: Distribution | float | None,
) -> Row:
    """One row of the table out of columns with one value for each trial; nan stands for what never came.

    `closed` is when the main flow closed, `share` its part of what both flows got while both were active,
    `background_bytes` what the background had got when the main flow closed; a flow alone has no share.
    `published` is what is known of the cell: a distribution, or only a median. `slowdown` is the duration of
    the median trial over the duration alone.
    """
    times = finished_or_never(closed)
    median = float(np.median(times))
    pair = cell[1] != ALONE
    if not isinstance(published, Distribution):
        known: dict[str, float | None] = {"median_s": published, "mean_s": None, "p90_s": None}
    else:
        known = {"median_s": published.median_s, "mean_s": published.mean_s, "p90_s": published.p90_s}
    ours = {"median_s": median, "mean_s": float(times.mean()), "p90_s": percentile(np.sort(times), 0.9)}
    duration = median - HEAD_START_S if pair else median
    return {
        "variant": cell[0],
        "controller": VARIANTS[cell[0]],
        "competitor": cell[1],
        "n": len(times),
        "min_s": float(times.min()),
        "median_s": ours["median_s"],
        "mean_s": ours["mean_s"],
        "sd_s": float(times.std(ddof=1)) if len(times) > 1 and np.isfinite(times).all() else None,
        "p90_s": ours["p90_s"],
        "worst_s": float(times.max()),
        **{f"published_{name}": value for name, value in known.items()},
        **{f"{name[:-2]}_ratio": ours[name] / value if value else None for name, value in known.items()},
        "slowdown": duration / alone_median_s if alone_median_s else None,
        "share": float(np.nanmean(share)) if pair else None,
        "background_mb": float(np.mean(background_bytes)) / 1e6 if pair else None,
    }


def finished_or_never(closed: Values) -> Values:
    """Times in which a flow that did not finish is later than all that did.

    >>> finished_or_never(np.array([5.0, np.nan])).tolist()
    [5.0, inf]
    """
    return np.where(np.isnan(closed), np.inf, closed)


def median_trial(closed: Values) -> int:
    """The trial next to the median; the first of equals.

    >>> median_trial(np.array([9.0, 5.0, 6.5, 6.0, 1.0]))
    3
    """
    times = finished_or_never(closed)
    return int(np.argsort(times, kind="stable")[(len(times) - 1) // 2])


def worst_trial(closed: Values) -> int:
    """The trial that took longest; the first of equals.

    >>> worst_trial(np.array([9.0, np.nan, 12.0]))
    1
    """
    return int(np.argmax(finished_or_never(closed)))


def ends(outcomes: Outcomes) -> Values:
    """When the main flow closed in each trial, from the start of the trial."""
    return finished_or_never(main_column(outcomes, "closed_s"))


def main_column(outcomes: Outcomes, column: str) -> Values:
    """A column of the main flow, one value for each trial."""
    return flow_column(outcomes, MAIN, column)


def flow_column(outcomes: Outcomes, flow: str, column: str) -> Values:
    """A column of a flow, one value for each trial; empty if the scenario has no such flow."""
    flows = outcomes.flows
    return flows.filter(flows["flow"] == flow)[column].to_numpy().astype(np.float64)
