"""Which mechanism makes the spikes that C4's author published in May 2023 (picoquic#1481): a posterior.

The facts are of 30 000 probes, 20 ms apart. Draws of each family are compared by the same six facts; the nearest
of all families are accepted, as in `thalweg.probe.mechanism.reference`. The base of the path is not known: each
draw is shifted so that its median fits, as far as half a millisecond of base is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import log

import numpy as np

from pages.made import row
from thalweg.base.quantity import percent
from thalweg.judging.statistics.rates import rate_interval
from thalweg.probe.mechanism.families import FAMILIES, Pace, Parameters, between, drawn_neighbours, played
from thalweg.probe.series import Floats

FACTS = {"p50, ms": 4.04, "p95, ms": 8.0, "p99, ms": 50.7, "lost, %": 0.12, "> 100 ms": 18.0, "> 200 ms": 12.0}
"""Quantiles, losses, and events of longer delays."""
_LEAST = {"lost, %": 0.01, "> 100 ms": 0.5, "> 200 ms": 0.5}
"""Added to what may be zero before its logarithm is taken."""
PACE = Pace(30_000, 0.02)
DRAWS, ACCEPTED = 800, 80
"""Draws of each hypothesis, and how many of all are accepted."""
TOLERANCES = (20, 40, 80, 160, 320)
"""How many are accepted to show what the tolerance does."""
_BASE_S = 0.5e-3
_APART_S = 1.0
"""Long delays that are nearer are of one event: events last about a second."""


@dataclass(frozen=True)
class Drawn:
    """A draw, and how far its facts are from those that were published."""

    family: str
    parameters: Parameters
    facts: dict[str, float]
    distance: float


def _with_scans(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    """Neighbours that are heard, and a client that scans."""
    table, parameters = drawn_neighbours(random, "both", 20, (0.03, 2))
    every, length = between(random, 2, 40), between(random, 0.04, 0.5)
    scan = f'scan = {{ every = "{every:.6g} s", length = "{length:.6g} s" }}'
    element = f'medium = {{ model = "wifi", {scan}, neighbours = [{table}] }}'
    return parameters | {"every_s": every, "length_s": length}, played(element, random, pace)


_Draw = Callable[[np.random.Generator, Pace], tuple[Parameters, Floats]]
HYPOTHESES: dict[str, _Draw] = {
    **{family.name: family.draw for family in FAMILIES if family.is_named},
    "contention and scans": _with_scans,
}


def facts(rtt: Floats) -> dict[str, float]:
    """The six facts of a series."""
    got = rtt[np.isfinite(rtt)]
    shift = max(FACTS["p50, ms"] * 1e-3 - float(np.median(got)), _BASE_S - float(got.min()))
    median, p95, p99 = (1e3 * (np.quantile(got, (0.5, 0.95, 0.99)) + shift)).tolist()
    lost = 100 * (1 - len(got) / len(rtt))
    events = (_events(rtt + shift, limit) for limit in (0.1, 0.2))
    return dict(zip(FACTS, (median, p95, p99, lost, *events), strict=True))


def _events(rtt: Floats, limit_s: float) -> float:
    at = np.flatnonzero(rtt > limit_s) * PACE.interval_s
    return float(len(at) and 1 + np.sum(np.diff(at) > _APART_S))


def _distance(found: dict[str, float]) -> float:
    """Root of the mean square of the logarithms of the ratios."""
    least = {name: _LEAST.get(name, 0.0) for name in FACTS}
    logs = [log((found[name] + least[name]) / (fact + least[name])) for name, fact in FACTS.items()]
    return float(np.sqrt(np.mean(np.square(logs))))


def drawn() -> list[Drawn]:
    """Draws of all families, the nearest first."""

    def one(name: str, index: int) -> Drawn | None:
        random = np.random.default_rng([3, index, *name.encode()])
        parameters, rtt = HYPOTHESES[name](random, PACE)
        if np.isfinite(rtt).mean() < 0.5:
            return None
        found = facts(rtt)
        return Drawn(name, parameters, found, _distance(found))

    with ThreadPoolExecutor(2) as pool:
        tasks = [(name, index) for name in HYPOTHESES for index in range(DRAWS)]
        every = list(pool.map(lambda task: one(*task), tasks))
    return sorted((one for one in every if one), key=lambda one: one.distance)


def posterior(draws: list[Drawn]) -> Iterator[str]:
    """The share of each family in the accepted draws, with its interval, and the facts of its nearest draw."""
    yield row("hypothesis", "posterior", "95 %", "least distance", *FACTS)
    yield row(":--", *["--:"] * (len(FACTS) + 3))
    yield row("published", "", "", "", *(f"{fact:g}" for fact in FACTS.values()))
    for name, nearest in _by_distance(draws).items():
        found = (f"{fact:.3g}" for fact in nearest.facts.values())
        yield row(name, *_share(draws, name, ACCEPTED), f"{nearest.distance:.2f}", *found)


def tolerances(draws: list[Drawn]) -> Iterator[str]:
    """The shares by how many draws are accepted."""
    yield row("hypothesis", *(f"nearest {accepted}" for accepted in TOLERANCES))
    yield row(":--", *["--:"] * len(TOLERANCES))
    yield row("largest distance", *(f"{draws[accepted - 1].distance:.2f}" for accepted in TOLERANCES))
    for name in _by_distance(draws):
        cells = (_share(draws, name, accepted) for accepted in TOLERANCES)
        yield row(name, *(f"{share} [{interval}]" for share, interval in cells))


def _by_distance(draws: list[Drawn]) -> dict[str, Drawn]:
    """The nearest draw of each hypothesis, the nearest first."""
    found: dict[str, Drawn] = {}
    for one in draws:
        found.setdefault(one.family, one)
    return found


def _share(draws: list[Drawn], name: str, accepted: int) -> tuple[str, str]:
    """What part of the accepted draws is of a hypothesis, and the exact interval of 95 % of that share."""
    count = sum(one.family == name for one in draws[:accepted])
    share = rate_interval(count, accepted)
    return percent(count / accepted), f"{percent(share.low)} to {percent(share.high)}"


def parameters(draws: list[Drawn]) -> Iterator[str]:
    """The parameters of the accepted draws: median, and where 90 % lie."""
    yield row("hypothesis", "accepted", "parameter", "median", "90 %")
    yield row(":--", "--:", ":--", "--:", ":--")
    for name in HYPOTHESES:
        own = [one.parameters for one in draws[:ACCEPTED] if one.family == name]
        for parameter in own[0] if own else ():
            low, median, high = np.quantile([each[parameter] for each in own], (0.05, 0.5, 0.95))
            yield row(name, str(len(own)), f"`{parameter}`", f"{median:.3g}", f"{low:.3g} to {high:.3g}")
