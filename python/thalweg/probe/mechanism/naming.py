"""Names the mechanism that makes the delays of a series, or abstains.

A mechanism is named if nearly all accepted draws are of it, and if the series lies among its draws. Otherwise two
mechanisms make such a series, or none of those that are known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.judging.statistics.interval import Interval
from thalweg.probe.mechanism.families import FAMILIES, Pace
from thalweg.probe.mechanism.features import features
from thalweg.probe.mechanism.reference import LEAST_ANSWERED, reference
from thalweg.probe.series import Floats, Series

SURE = 0.9
"""The least share of the accepted draws."""
LIKE = 0.02
"""A series that is further from the draws of a mechanism than all but this share of them is not of it."""
_MOST_PROBES, _LONGEST_S = 5000, 100.0
"""What is looked at of a series, from its start."""
_FEWEST = 500
_SHORTEST_S, _WIDEST_S = 1e-3, 0.2
"""Intervals for which draws are simulated."""
_UNEVEN = 0.25

MEANING = {
    "contention": "neighbours that both ends hear",
    "hidden": "a station that one end does not hear, and as many attempts as the standard has",
    "repeats": "a station that one end does not hear, and a driver that repeats what it destroys",
    "scans": "a client that is away at intervals",
    "two Poissons": "independent draws for each packet",
}


@dataclass(frozen=True)
class Mechanism:
    """What is said about a series."""

    name: str | None
    """None: no mechanism is named."""
    reason: str
    posterior: dict[str, float]
    """The share of each family in the accepted draws; empty for a series that was not compared."""
    like: float | None
    """The share of the draws of the likeliest family that lie further out than the series."""
    parameters: dict[str, Interval]
    """Each has the median of the accepted draws, and where 90 % of them lie."""
    compared: int = 0
    """How many probes were looked at, from the start of the series."""

    def document(self) -> dict[str, Any]:
        """The same, for JSON."""
        return {
            "name": self.name,
            "reason": self.reason,
            "posterior": self.posterior,
            "like": self.like,
            "parameters": {
                name: {"median": one.value, "interval90": one.document()} for name, one in self.parameters.items()
            },
            "compared_probes": self.compared,
        }


def name_mechanism(series: Series) -> Mechanism:
    """Compares a series with draws that are sent as it was. The same series has the same answer."""
    unfit = _unfit(series)
    if unfit:
        return Mechanism(None, unfit, {}, None, {})
    pace = _pace(series)
    table = reference(pace)
    values = features(series.rtt[: pace.count], pace.interval_s)
    shares = table.posterior(values)
    names = [family.name for family in FAMILIES]
    best = int(np.argmax(shares))
    posterior = dict(zip(names, shares.tolist(), strict=True))
    like = table.is_like(best, values)
    reason = _doubt(posterior, names[best], like)
    if reason:
        return Mechanism(None, reason, posterior, like, {}, pace.count)
    parameters = {name: _interval(table.parameter(best, name, values)) for name in table.drawn[best].parameters[0]}
    return Mechanism(names[best], MEANING[names[best]], posterior, like, parameters, pace.count)


def _unfit(series: Series) -> str:
    """Why a series cannot be compared; empty if it can."""
    steps = np.diff(series.sent[: _MOST_PROBES + 1])
    if len(series.sent) < _FEWEST:
        return f"{len(series.sent)} probes are too few: {_FEWEST} are needed"
    interval = float(np.median(steps))
    if not _SHORTEST_S <= interval <= _WIDEST_S:
        return f"probes {interval * 1e3:.4g} ms apart: 1 to {_WIDEST_S * 1e3:g} ms are needed"
    if np.mean(np.abs(steps - interval) > _UNEVEN * interval) > _UNEVEN:
        return "the probes were not sent at one interval"
    rtt = series.rtt[: _pace(series).count]
    answered = int(np.isfinite(rtt).sum())
    if answered < max(LEAST_ANSWERED, len(rtt) // 4):
        return f"{answered} of {len(rtt)} probes were answered: a quarter is needed"
    return ""


def _pace(series: Series) -> Pace:
    interval = round(float(np.median(np.diff(series.sent[: _MOST_PROBES + 1]))), 4)
    return Pace(min(len(series.sent), _MOST_PROBES, round(_LONGEST_S / interval)), interval)


def _doubt(posterior: dict[str, float], best: str, like: float) -> str:
    """Why the likeliest family is not named; empty if it is."""
    share = posterior[best]
    named = {family.name for family in FAMILIES if family.is_named}
    others = sum(value for name, value in posterior.items() if name not in named)
    if others > 1 - SURE:
        return f"{others:.0%} of the nearest draws belong to no mechanism of Wi-Fi"
    if share < SURE:
        several = [f"{name} {value:.0%}" for name, value in posterior.items() if value]
        return f"several mechanisms make such a series: {', '.join(several)}"
    if like < LIKE:
        return f"{best} is nearest, but its draws do not reach as far (p = {like:.2g})"
    return ""


def _interval(samples: Floats) -> Interval:
    low, median, high = np.quantile(samples, (0.05, 0.5, 0.95)).tolist()
    return Interval(median, low, high, len(samples))
