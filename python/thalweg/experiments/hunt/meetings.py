"""Moments of scenarios that could be made to meet: what goes wrong in a controller is often a coincidence.

A stall that takes a loss and an RTT step at about the same time gives no sign before: no objective leads to it.
But the trials that were played say when either happened, and so how far what caused one of them has to move.
Faults of concurrent programs are looked for in this way: a thread waits until it meets another (Sen, "Race
Directed Random Testing of Concurrent Programs", PLDI 2008).

What happens follows from what the scenario does shortly before: a moment belongs to the last element whose time is
not after it. Two moments of different kinds are drawn, the stronger of their kinds more often. The element of the
one, as it was in its scenario, is put into the other scenario, so long before the other moment as it was before
its own. In half of all, both are of one scenario, whose element moves.

Limits: a moment may have another cause than the last element, and an element may do something else at another time
or in another scenario.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.experiments.hunt.moments import Moment
from thalweg.experiments.hunt.search import Clock

_AMONG = 16
"""Moments that are drawn, of which the strongest is taken: the strongest of all would always be the same."""
_OWN = 0.5
"""Share of meetings within one scenario."""
_MOST = 2000
"""Moments of a kind that are remembered, the latest."""
ELEMENT = re.compile(r"(?P<list>.+)\.(?P<number>\d+)\.(?P<key>[^.]+)")
"""A parameter of an element."""

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class _Scenario:
    """A scenario."""

    parameters: Parameters
    most: Mapping[str, int]
    """How many elements its lists may have."""
    times: Mapping[str, float]
    """When its elements happen, by the names of the parameters that say so (s)."""
    moments: Sequence[Moment]

    def cause(self, moment: Moment) -> str | None:
        """The parameter with the last time that is not after a moment."""
        before = [(time_s, name) for name, time_s in self.times.items() if time_s <= moment.time_s]
        return max(before)[1] if before else None


class Meetings:
    """Scenarios in which moments meet that were apart."""

    def __init__(self, clock: Clock, random: np.random.Generator) -> None:
        self._clock, self._random = clock, random
        self._known: dict[str, list[tuple[Moment, _Scenario]]] = {}

    def add(self, parameters: Parameters, most: Mapping[str, int], moments: Sequence[Moment]) -> None:
        """A scenario has been played."""
        clocks = {name: clock for name in parameters if (clock := self._clock(name))}
        times = {name: clock.at(parameters[name]).number or 0.0 for name, clock in clocks.items()}
        played = _Scenario(parameters, most, times, moments)
        for moment in moments:
            known = self._known.setdefault(moment.kind, [])
            known.append((moment, played))
            del known[:-_MOST]

    def make(self) -> Parameters | None:
        """The parameters of one; None if what was drawn cannot meet."""
        if len(self._known) <= 1:
            return None
        kinds = self._random.permutation(sorted(self._known))[:2]
        (stays, host), (moved, guest) = (self._strong(self._known[kind]) for kind in kinds)
        if self._random.random() < _OWN:
            moved, guest = self._strong(
                [(one, host) for one in host.moments if one.kind == kinds[1]] or [(moved, guest)]
            )
        return self._put(host, stays, guest, moved)

    def _strong(self, known: Sequence[tuple[Moment, _Scenario]]) -> tuple[Moment, _Scenario]:
        some = [known[int(number)] for number in self._random.integers(len(known), size=_AMONG)]
        return max(some, key=lambda one: one[0].size)

    def _put(self, host: _Scenario, stays: Moment, guest: _Scenario, moved: Moment) -> Parameters | None:
        """A scenario with the element of a moment of another one, or of its own, at a moment of its own."""
        name = guest.cause(moved)
        clock = None if name is None else self._clock(name)
        if name is None or clock is None or (guest is host and name == host.cause(stays)):
            return None
        share = clock.share(stays.time_s - (moved.time_s - guest.times[name]))
        if not 0 <= share <= 1:
            return None
        element = ELEMENT.fullmatch(name)
        if guest is host or element is None or element["list"] not in host.parameters:
            return {**host.parameters, name: share}
        which, end = element["list"], f"{element['list']}.{element['number']}."
        count = host.parameters[which]
        place = count if count < host.most[which] else int(self._random.integers(count))
        own = {key.removeprefix(end): value for key, value in guest.parameters.items() if key.startswith(end)}
        own[element["key"]] = share
        return {
            **{key: value for key, value in host.parameters.items() if not key.startswith(f"{which}.{place}.")},
            **{f"{which}.{place}.{key}": value for key, value in own.items()},
            which: max(count, place + 1),
        }
