"""Packets of one sender by their numbers: sent, acknowledged by ranges, declared lost; in any order."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.view import Counts, Floats, Steps, steps

_MOST_RANGES = 20_000_000


@dataclass(frozen=True)
class Table:
    """Packets in the order in which they were sent."""

    sent_s: Floats
    sizes: Counts
    acked_s: Floats
    acked_by: Counts
    lost_s: Floats
    rtt: Steps


class Packets:
    """Collects reports. If a number is sent twice, by several paths, only the first counts."""

    def __init__(self) -> None:
        self._sent: dict[int, tuple[float, int]] = {}
        self._acks: list[tuple[float, list[tuple[int, int]]]] = []
        self._lost: list[tuple[float, int, int]] = []
        self._ranges = 0
        self._before: set[tuple[int, int]] = set()
        self.ends_are_beyond = False
        """Whether ranges end with the first number that they do not have, as noq 1.3 writes them."""

    @property
    def count(self) -> int:
        """Packets sent."""
        return len(self._sent)

    @property
    def has_losses(self) -> bool:
        """Whether any was declared lost."""
        return bool(self._lost)

    @property
    def has_sizes(self) -> bool:
        """Whether sizes are known."""
        return any(size for _, size in self._sent.values())

    def sent(self, time: float, number: int, size: int) -> None:
        """A packet left."""
        self._sent.setdefault(number, (time, size))

    def acknowledged(self, time: float, ranges: list[tuple[int, int]]) -> None:
        """An acknowledgement arrived. Frames repeat what those before have said."""
        self._ranges += len(ranges)
        if self._ranges > _MOST_RANGES:
            raise DamageError(f"its acknowledgements have more than {_MOST_RANGES} ranges")
        self._acks.append((time, [one for one in ranges if one not in self._before]))
        self._before = set(ranges)

    def lost(self, time: float, number: int) -> None:
        """A packet was declared lost."""
        self._lost.append((time, number, 1))

    def lost_some(self, time: float, largest: int, count: int) -> None:
        """So many were declared lost, up to a number: the highest of those that were outstanding."""
        self._lost.append((time, largest, count))

    def table(self, begin: float) -> Table:
        """All of it, with times since `begin`."""
        numbers = sorted(self._sent)
        count = len(numbers)
        sent = np.asarray([self._sent[number][0] for number in numbers], float) - begin
        sizes = np.asarray([self._sent[number][1] for number in numbers], np.int64)
        acked = np.full(count, math.nan)
        acked_by = np.full(count, -1, np.int64)
        lost = np.full(count, math.nan)
        rtt = self._settle(numbers, sent, acked, acked_by, begin)
        self._lose(numbers, acked, lost, begin)
        order = np.argsort(sent, kind="stable")
        return Table(sent[order], sizes[order], acked[order], acked_by[order], lost[order], rtt)

    def _settle(self, numbers: list[int], sent: Floats, acked: Floats, acked_by: Counts, begin: float) -> Steps:
        """Acknowledges what a frame is the first to name; a sample of the RTT is of its largest number."""
        following = list(range(len(numbers) + 1))
        beyond = int(self.ends_are_beyond)

        def open_from(place: int) -> int:
            """The first place from here on that is not acknowledged; its way is shortened."""
            end = place
            while following[end] != end:
                end = following[end]
            while following[place] != end:
                following[place], place = end, following[place]
            return end

        largest = -1
        times: list[float] = []
        samples: list[float] = []
        for index, (time, ranges) in enumerate(sorted(self._acks, key=lambda one: one[0])):
            newest = -1
            for first, last in ranges:
                place = open_from(bisect_left(numbers, first))
                while place < len(numbers) and numbers[place] <= last - beyond:
                    acked[place], acked_by[place] = time - begin, index
                    following[place] = place + 1
                    newest = max(newest, place)
                    place = open_from(place + 1)
            if newest > largest:
                largest = newest
                sample = time - begin - sent[newest]
                if sample > 0:
                    times.append(time - begin)
                    samples.append(float(sample))
        return steps(times, samples)

    def _lose(self, numbers: list[int], acked: Floats, lost: Floats, begin: float) -> None:
        for time, number, count in sorted(self._lost):
            place = bisect_left(numbers, number)
            if place == len(numbers) or (numbers[place] != number and count == 1):
                continue
            left, lowest = count, max(0, place - 100_000)
            while left and place >= lowest:
                if math.isnan(lost[place]) and not acked[place] < time - begin:
                    lost[place] = time - begin
                    left -= 1
                place -= 1
