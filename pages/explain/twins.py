"""What the twin of a transfer says of other controllers, against trials of these on the true path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pages.explain.measure import FLOW, Case
from pages.explain.paths import Made, make
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.file_what_if import expected, swaps
from thalweg.experiments.explain.twin import Draw, Twin
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.path import path

FROM = ("cubic", "c4", "bbr")
RIVALS = ("cubic", "reno", "bbr", "bbr1", "c4")
"""Four of these are not the sender's own."""
_TRANSFER_S = 6.0
"""Least time of the transfer at the capacity."""
_TRIALS = 15


@dataclass(frozen=True)
class Guess:
    """What is said of one controller on one path, and what came of it there."""

    losses: int
    """In the file, at random."""
    said_s: float
    known_s: float
    """What would be said if the file told the rate of loss."""
    low_s: float
    high_s: float
    took_s: tuple[float, ...]
    """In trials of other seeds than the seeds of files."""

    @property
    def middle_s(self) -> float:
        """The median of what came of it."""
        return float(np.median(self.took_s))

    @property
    def error(self) -> float:
        """The median of the draws over the median of the trials, less one."""
        return self.said_s / self.middle_s - 1

    @property
    def known_error(self) -> float:
        """The same, if the file told the rate of loss."""
        return self.known_s / self.middle_s - 1

    @property
    def spread(self) -> list[float]:
        """What one trial says of the others: the errors of each against their median."""
        took = np.asarray(self.took_s)
        return [float(one / np.median(np.delete(took, place)) - 1) for place, one in enumerate(took)]

    @property
    def covered(self) -> float:
        """The share of the trials that are in the interval of 90 %."""
        return float(np.mean([self.low_s <= one <= self.high_s for one in self.took_s]))


@dataclass(frozen=True)
class _Known(Twin):
    """A twin to which the rate of loss is known."""

    def _draw(self, random: np.random.Generator) -> Draw:
        return replace(super()._draw(random), loss=self.best.loss)


def guesses(kind: str, seed: int) -> list[Guess]:
    """One transfer of CUBIC, C4 or BBR, and what is said of four other controllers."""
    own = FROM[seed % len(FROM)]
    made = _transfer(make(kind, seed, own))
    # A seed of its own: what is drawn for one file says nothing of the next.
    trace = made.scenario().run(seed, trace=True).trace
    assert trace is not None, "asked for"
    view = Case(made, trace).packets()
    found = path(view)
    twin = Twin.of(view, limits(view, is_explained=True), found)
    others = [name for name in RIVALS if name != own]
    said = [expected(one.completion_s) for one in swaps(twin, None, others)]
    knowing = _Known(**{**vars(twin), "best": replace(twin.best, loss=made.loss)})
    known = [expected(one.completion_s).value for one in swaps(knowing, None, others)]
    losses = round((found.random_loss or 0.0) * view.sent_s.size)
    return [
        Guess(losses, one.value, with_rate, one.low, one.high, took)
        for one, with_rate, took in zip(said, known, _truth(made, others), strict=True)
    ]


def _transfer(made: Made) -> Made:
    size = made.rate_bps / 8 * _TRANSFER_S
    text = made.text.replace('"400 MB"', f'"{size:.0f} B"', 1).replace('"12.0 s"', '"3600 s"')
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
