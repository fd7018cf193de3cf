"""A third simulation, next to the medium and ns-3: which rules make the delays next to saturated stations.

All stations hear each other. It knows nothing of the medium: every busy time is one step, in microseconds, and
each station has the time from which it counts slots, and how many are left (IEEE 802.11-2020, 10.3.4 and 10.23.2).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pages.made import row
from thalweg.probe.series import Floats

ACCESS_POINT, CLIENT = 0, 1
SATURATED, WINDOW, LARGEST, ATTEMPTS = 5, 15, 1023, 7
SLOT, EVERY, ANSWERS_AFTER = 9.0, 8000.0, 1500.0
FIRST, SPAN, SEEDS = 1e6, 8e6, range(1, 25)
SHORT_SPACE = 16.0
ACKNOWLEDGEMENT = SHORT_SPACE + 28.0
TIMEOUT = SHORT_SPACE + SLOT + 20.0
"""How long a sender waits for an acknowledgement (10.3.2.11): short space, slot, start of a preamble."""
SENSING = 4.0
"""How long a frame is in the air before the others sense it (aCCATime)."""


@dataclass(frozen=True)
class Cell:
    """A physical layer, and how its stations contend."""

    saturated: float
    """Airtime of their frames."""
    probe: float
    space: float
    has_categories: bool


CELLS = {"802.11a": Cell(248.0, 44.0, 34.0, False), "802.11ac": Cell(232.0, 60.0, 43.0, True)}
RULES = {
    "all contend at once": (0.0, SLOT, 0.0),
    "who has collided waits for its timeout": (TIMEOUT, SLOT, 0.0),
    "and frames are sensed after 4 us": (TIMEOUT, SENSING, 0.0),
    "and the space before an acknowledgement is free": (TIMEOUT, SENSING, SHORT_SPACE),
}
"""What who has collided waits before the space; how soon others sense a frame that begins; and how long the medium
is free for the access point before it acknowledges a frame."""


class _Station:
    def __init__(self, cell: Cell, is_saturated: bool) -> None:
        self.is_saturated = is_saturated
        self.queue: deque[float] = deque()
        self.counts_from, self.slots = cell.space, 0
        self.not_before = 0.0
        self.window, self.failures = WINDOW, 0

    def sends_at(self) -> float:
        if not self.is_saturated and not self.queue:
            return np.inf
        return max(self.counts_from + self.slots * SLOT, self.not_before)


def played(cell: Cell, rules: tuple[float, float, float], seed: int) -> tuple[list[float], list[float]]:
    """How long probes take from the client up, and their answers down."""
    timeout, sensing, short_space = rules
    random = np.random.default_rng(seed)
    stations = [_Station(cell, number > CLIENT) for number in range(2 + SATURATED)]

    for station in stations[2:]:
        _draw(station, random)
    comes = [(FIRST + number * EVERY, CLIENT) for number in range(round(SPAN / EVERY))]
    delays: tuple[list[float], list[float]] = ([], [])
    while True:
        now = min(station.sends_at() for station in stations)
        while comes and comes[0][0] <= now:
            at, number = heapq.heappop(comes)
            _comes_free(stations[number], at, cell)
            now = min(now, stations[number].sends_at())
        if now > FIRST + SPAN + 5e6:
            return delays
        senders = [station for station in stations if station.sends_at() < now + sensing]
        ends = [one.sends_at() + (cell.saturated if one.is_saturated else cell.probe) for one in senders]
        arrives = len(senders) == 1
        free = max(ends) + (ACKNOWLEDGEMENT if arrives else 0.0)
        for station in stations:
            if station not in senders:
                _hears(station, now, cell)
                station.counts_from = free + cell.space
        for station, end in zip(senders, ends, strict=True):
            station.counts_from = (free if arrives else max(free, end + timeout)) + cell.space
            station.failures = 0 if arrives else station.failures + 1
            gives_up = station.failures >= ATTEMPTS
            station.failures *= not gives_up
            station.window = WINDOW if arrives or gives_up else min(2 * station.window + 1, LARGEST)
            if not station.is_saturated and (arrives or gives_up):
                began = station.queue.popleft()
                if arrives:
                    up = station is stations[CLIENT]
                    delays[not up].append(end - began)
                    if up:
                        heapq.heappush(comes, (end + ANSWERS_AFTER, ACCESS_POINT))
            _draw(station, random)
            station.not_before = 0.0
        while comes and comes[0][0] < free:
            at, number = heapq.heappop(comes)
            is_own = stations[number] in senders
            is_free = number == ACCESS_POINT and arrives and max(ends) <= at < max(ends) + short_space
            _comes_busy(stations[number], at, random, is_own or is_free)


def _draw(station: _Station, random: np.random.Generator) -> None:
    station.slots = int(random.integers(station.window + 1))


def _hears(station: _Station, now: float, cell: Cell) -> None:
    """Somebody else sends: with categories the slot that has begun counts, without only those that were free."""
    if now >= station.counts_from:
        passed = int((now - station.counts_from + 1e-6) / SLOT) + cell.has_categories
        station.slots = max(station.slots - passed, 0)
    station.not_before = 0.0


def _comes_busy(station: _Station, at: float, random: np.random.Generator, keeps: bool) -> None:
    """A packet comes on a busy medium: it draws slots, if none are left of the frame before, or keeps none."""
    if not station.queue and station.slots == 0 and not keeps:
        _draw(station, random)
    station.queue.append(at)


def _comes_free(station: _Station, at: float, cell: Cell) -> None:
    """A packet comes on a free medium: without categories it listens for the space, if no slots are left."""
    if not station.queue:
        passed = station.counts_from + station.slots * SLOT <= at
        if passed or station.slots == 0:
            station.slots = 0
            station.not_before = at if cell.has_categories else at + cell.space
    station.queue.append(at)


def lines() -> Iterator[str]:
    """Medians by physical layer and direction."""
    yield row("rules", *(f"{name}, {way}" for name in CELLS for way in ("up", "down")))
    yield row(":--", *["--:"] * (2 * len(CELLS)))
    for name, rules in RULES.items():
        cells = []
        for cell in CELLS.values():
            runs = [played(cell, rules, seed) for seed in SEEDS]
            cells += [_median([np.array(run[way]) for run in runs]) for way in (0, 1)]
        yield row(name, *cells)


def _median(runs: list[Floats]) -> str:
    """The median of all runs in milliseconds, and its interval of 95 %: runs are drawn with replacement."""
    random = np.random.default_rng(1)
    drawn = [
        np.median(np.concatenate([runs[index] for index in random.integers(0, len(runs), len(runs))]))
        for _ in range(400)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975)) / 1e3
    return f"{np.median(np.concatenate(runs)) / 1e3:.2f} ms [{low:.2f}, {high:.2f}]"
