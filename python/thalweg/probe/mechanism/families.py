"""Families of mechanisms, from which series are drawn: those that are named, and others that are not Wi-Fi.

Each draw has its own parameters, from wide ranges, mostly uniform in the logarithm. The named ones play through
the simulator: the medium of IEEE 802.11 (docs/reference/wifi.md), or the jitter of two Poissons. The others are
generated here: a quiet path, a queue that others fill, a cellular link, losses in bursts, delays without any
structure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from thalweg.engine.scenario import Scenario
from thalweg.probe.series import Floats
from thalweg.probe.simulated import simulate_probe

Parameters: TypeAlias = dict[str, float]
Draw: TypeAlias = Callable[[np.random.Generator, "Pace"], tuple[Parameters, Floats]]


@dataclass(frozen=True)
class Pace:
    """How a series was sent."""

    count: int
    interval_s: float


@dataclass(frozen=True)
class Family:
    """A mechanism, and how a series of it is drawn: round-trip times in seconds, nan for what is lost."""

    name: str
    is_named: bool
    draw: Draw


_ALWAYS = 0.15
"""How many of the draws have neighbours that always have a frame."""
_SCENARIO = """\
title = "mechanism"
[path]
rate = "{rate} Mbps"
rtt = "3 ms"
buffer = "1 MB"
{element}
[[flow]]
name = "main"
controller = "c4"
download = "1 MB"
"""


def between(random: np.random.Generator, low: float, high: float) -> float:
    """Uniform in the logarithm."""
    return float(low * (high / low) ** random.random())


def played(element: str, random: np.random.Generator, pace: Pace) -> Floats:
    """What probes measure on a path with this element, by clocks and hosts with an error of their own."""
    text = _SCENARIO.format(rate=round(between(random, 12, 300), 3), element=element)
    seed = int(random.integers(1, 1 << 31))
    rtt = simulate_probe(
        Scenario.from_toml(text, "mechanism"), seed, pace.interval_s, pace.count * pace.interval_s
    ).rtt
    return rtt + random.exponential(between(random, 5e-6, 300e-6), len(rtt))


def drawn_neighbours(
    random: np.random.Generator, heard: str, most: int, load: tuple[float, float], always_on: float = _ALWAYS
) -> tuple[str, Parameters]:
    """Neighbours of one kind: some are always on, most for a part of the time, `load` of them at a time."""
    count = round(between(random, 1, most))
    airtime = between(random, 0.2, 5)
    always = random.random() < always_on
    share = 1.0 if always else min(between(random, *load) / count, 0.9)
    on = between(random, 3, 500)
    bursts = "" if always else f', on = "{_ms(on)}", off = "{_ms(on * (1 / share - 1))}"'
    table = f'{{ count = {count}, airtime = "{airtime:.6g} ms", heard = "{heard}"{bursts} }}'
    return table, {"load": count * share, "airtime_s": airtime * 1e-3}


def _ms(time: float) -> str:
    """In milliseconds, of six digits; a scenario does not read exponents."""
    return f"{time:.6g} ms" if time < 1e6 else f"{time:.0f} ms"


def _contention(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    neighbours, parameters = drawn_neighbours(random, "both", 20, (0.03, 2))
    return parameters, played(f'medium = {{ model = "wifi", neighbours = [{neighbours}] }}', random, pace)


def _hidden_behind(attempts: tuple[float, float]) -> Draw:
    def draw(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
        heard = str(random.choice(["access-point", "client", "neither"]))
        neighbours, parameters = drawn_neighbours(random, heard, 4, (0.01, 0.8))
        tries = round(between(random, *attempts))
        element = f'medium = {{ model = "wifi", attempts = {tries}, neighbours = [{neighbours}] }}'
        return parameters | {"attempts": tries}, played(element, random, pace)

    return draw


def _scans(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    """Half of the time with neighbours who are hardly there: few clients have the air to themselves."""
    every, length = between(random, 2, 40), between(random, 0.04, 0.5)
    scan = f'scan = {{ every = "{every:.6g} s", length = "{length:.6g} s" }}'
    if random.random() < 0.5:
        neighbours, _ = drawn_neighbours(random, "both", 4, (1e-3, 0.01), always_on=0.0)
        scan += f", neighbours = [{neighbours}]"
    element = f'medium = {{ model = "wifi", {scan} }}'
    return {"every_s": every, "length_s": length}, played(element, random, pace)


def _poissons(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    fraction = between(random, 0.003, 0.6)
    short, long = (1.0, 7.5) if random.random() < 0.5 else (between(random, 0.4, 3), between(random, 3, 12))
    element = (
        f'jitter = {{ model = "two-components", fraction = "{100 * fraction:.6g} %", '
        f'short = "{short:.6g} ms", long = "{long:.6g} ms" }}'
    )
    parameters = {"fraction": fraction, "short_s": short * 1e-3, "long_s": long * 1e-3}
    return parameters, played(element, random, pace)


def _quiet(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    spread = between(random, 5e-6, 3e-3)
    rtt = random.gamma(between(random, 0.7, 8), 1, pace.count) * spread
    return {}, _thinned(rtt, random, 0.02)


def _queue(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    """A queue of bytes that flows of others fill while they are on; what does not fit is lost."""
    step = pace.interval_s
    limit = between(random, 3e-3, 0.5)
    on, off = between(random, 0.03, 10), between(random, 0.03, 10)
    excess = between(random, 0.02, 2)
    drain = between(random, 0.1, 1)
    level, busy, delays = 0.0, False, np.empty(pace.count)
    changes = random.random(pace.count)
    noise = random.normal(0, between(random, 0.01, 0.5), pace.count)
    full = np.zeros(pace.count, np.bool_)
    for index in range(pace.count):
        busy = busy ^ bool(changes[index] < 1 - np.exp(-step / (on if busy else off)))
        flow = (excess if busy else -drain) + noise[index]
        level = max(level + flow * step, 0.0)
        full[index] = level > limit
        level = min(level, limit)
        delays[index] = level
    delays = delays + random.exponential(between(random, 5e-6, 1e-3), pace.count)
    delays[full & (random.random(pace.count) < between(random, 0.01, 0.5))] = np.nan
    return {}, delays


def _cellular(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    """Grants on a grid, repeats of 8 ms, a rate that wanders, and losses."""
    grid = between(random, 1e-3, 20e-3)
    slots = random.random(pace.count) * grid
    repeats = random.geometric(1 - between(random, 0.02, 0.4), pace.count) - 1
    keeps = np.exp(-pace.interval_s / between(random, 0.1, 10))
    wanders = np.empty(pace.count)
    steps = random.normal(0, 1, pace.count) * np.sqrt(1 - keeps**2)
    value = random.normal()
    for index in range(pace.count):
        value = keeps * value + steps[index]
        wanders[index] = value
    slow = between(random, 1e-3, 40e-3) * np.exp(between(random, 0.2, 1.2) * wanders)
    rtt = slots + 8e-3 * np.minimum(repeats, 6) + slow
    arrival = np.maximum.accumulate(np.arange(pace.count) * pace.interval_s + rtt)
    return {}, _thinned(arrival - np.arange(pace.count) * pace.interval_s, random, 0.05)


def _unordered(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    """Independent delays with a tail: lognormal, or by the law of Pareto; half of the time in order."""
    if random.random() < 0.5:
        rtt = between(random, 0.3e-3, 30e-3) * np.exp(random.normal(0, between(random, 0.3, 1.6), pace.count))
    else:
        rtt = between(random, 0.1e-3, 5e-3) * random.pareto(between(random, 1.1, 4), pace.count)
    if random.random() < 0.5:
        sent = np.arange(pace.count) * pace.interval_s
        rtt = np.maximum.accumulate(sent + rtt) - sent
    return {}, _thinned(rtt, random, 0.05)


def _losses(random: np.random.Generator, pace: Pace) -> tuple[Parameters, Floats]:
    """Losses without delays: in bursts, of two states with losses of their own (Gilbert, BSTJ 39, 1960)."""
    enters, stays = between(random, 3e-4, 0.1), 1 - between(random, 0.03, 1)
    bad, state = np.zeros(pace.count, np.bool_), False
    for index, value in enumerate(random.random(pace.count)):
        state = bool(value < (stays if state else enters))
        bad[index] = state
    rtt = random.gamma(between(random, 0.7, 8), 1, pace.count) * between(random, 5e-6, 1e-3)
    lost = random.random(pace.count) < np.where(bad, between(random, 0.1, 1), 0.0)
    return {}, np.where(lost, np.nan, rtt)


def _thinned(rtt: Floats, random: np.random.Generator, most: float) -> Floats:
    """Without what is lost: nothing, or up to a share."""
    loss = between(random, 1e-4, most) if random.random() < 0.5 else 0.0
    return np.where(random.random(len(rtt)) < loss, np.nan, rtt)


STANDARD, REPEATED = (4.0, 8.0), (10.0, 60.0)
"""How often a frame is sent: dot11ShortRetryLimit is 7 (IEEE 802.11-2020, C.3); drivers send again beyond it."""

FAMILIES = (
    Family("contention", True, _contention),
    Family("hidden", True, _hidden_behind(STANDARD)),
    Family("repeats", True, _hidden_behind(REPEATED)),
    Family("scans", True, _scans),
    Family("two Poissons", True, _poissons),
    Family("quiet", False, _quiet),
    Family("queue", False, _queue),
    Family("cellular", False, _cellular),
    Family("losses", False, _losses),
    Family("no structure", False, _unordered),
)
