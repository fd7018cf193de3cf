"""What the twin of a transfer says of other controllers, against trials of these on the true path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pages.explain.measure import FLOW, Case
from pages.explain.paths import Made, make
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.file_what_if import expected, swaps
from thalweg.experiments.explain.twin import Twin
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.path import path

FROM = ("cubic", "c4", "bbr")
RIVALS = ("cubic", "reno", "bbr", "bbr1", "c4")
"""Four of these are not the sender's own."""
_TRANSFER_S = 6.0
"""Least time of the transfer at the capacity."""
_TRIALS = 5


@dataclass(frozen=True)
class Guess:
    """What is said of one controller on one path, and what came of it there."""

    said_s: float
    low_s: float
    high_s: float
    took_s: tuple[float, ...]
    """In trials of other seeds than that of the file."""

    @property
    def middle_s(self) -> float:
        """The median of what came of it."""
        return float(np.median(self.took_s))

    @property
    def error(self) -> float:
        """The median of the draws over that of the trials, less one."""
        return self.said_s / self.middle_s - 1

    @property
    def is_covered(self) -> bool:
        """Whether the first trial is in the interval of 90 %."""
        return self.low_s <= self.took_s[0] <= self.high_s


def guesses(kind: str, seed: int) -> list[Guess]:
    """One transfer of CUBIC, C4 or BBR, and what is said of four other controllers."""
    own = FROM[seed % len(FROM)]
    made = _transfer(make(kind, seed, own))
    trace = made.scenario().run(1, trace=True).trace
    assert trace is not None, "asked for"
    view = Case(made, trace).packets()
    twin = Twin.of(view, limits(view, is_explained=True), path(view))
    others = [name for name in RIVALS if name != own]
    said = [expected(one.completion_s) for one in swaps(twin, None, others)]
    truth = _truth(made, others)
    return [Guess(one.value, one.low, one.high, took) for one, took in zip(said, truth, strict=True)]


def _transfer(made: Made) -> Made:
    size = made.rate_bps / 8 * _TRANSFER_S
    text = made.text.replace('"400 MB"', f'"{size:.0f} B"').replace('"12.0 s"', '"3600 s"')
    return replace(made, text=text)


def _truth(made: Made, others: list[str]) -> Iterator[tuple[float, ...]]:
    for name in others:
        flows = Scenario.from_toml(made.text, made.kind, controllers={FLOW: name}).trials(_TRIALS, seed=2).flows
        of = flows.filter(flows["flow"] == FLOW)
        assert of["finished"].all(), "the time limit is long"
        yield tuple((of["completion_s"] - of["start_s"]).to_list())


def has_best(of: list[Guess]) -> bool:
    """Whether the controller that is said to be the fastest is, to a hundredth."""
    said = min(of, key=lambda one: one.said_s)
    return said.middle_s <= 1.01 * min(one.middle_s for one in of)
