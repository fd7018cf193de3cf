"""The findings of the poster on transient performance, set against what was measured.

The published figure compares controllers by eye. Here medians are compared by the bootstrap of
`statistics.ratios`: *better* asks that the whole interval of 95 % of the ratio is below 1. A tail is the 95th
percentile over the median; *long* asks that the whole interval of its ratio to the tail of each loss-based
controller is above 1. A run that did not converge counts as worse than all that did: where most runs of both
sides did not, nothing is told.

The poster's Reno, CUBIC and BBR are roles (`roles.py`): the first controller of each role decides the checks,
and a statement is judged where all its roles are there. The preset `paper` begins with what stands for the
algorithms of the authors' framework (CCP, 2021). The same statements by the numbers of the authors' tool
(`as_coded.py`), and with the other controllers of a role, are findings: shown, without a say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from thalweg.base.quantity import text
from thalweg.experiments.studies.runner.result import Check, Finding
from thalweg.experiments.studies.transient.as_coded import ToolAreas
from thalweg.experiments.studies.transient.parameters import PAPER, Cell
from thalweg.experiments.studies.transient.roles import BBR, CUBIC, LOSS_BASED, RENO, Role, cast
from thalweg.judging.statistics.claims import Answer, above, below, each_of, every
from thalweg.judging.statistics.digits import ranged
from thalweg.judging.statistics.interval import Values as Times
from thalweg.judging.statistics.quantiles import median
from thalweg.judging.statistics.ratios import OrderStatistic, ratio_interval, ratio_of_medians

SMALL, LARGE = "40 packets", "100 packets"
PUBLISHED_BBR = "bbr1"
"""What stands for the BBR of CCP in the preset `paper`."""
_SECTION = f"{PAPER}, section Experiments and figure 2"

Areas = Mapping[Cell, Times]
Judgement = tuple[str, Answer, str]
"""The statement, whether it holds, and what was measured."""
Players = Mapping[Role, str]
"""The controller of each role."""


def checks(areas: Areas) -> list[Check]:
    """All statements on the areas of the first step; runs that did not converge are infinite."""
    return [
        Check(name, _SECTION, answer, measured) for name, answer, measured in judgements(areas, first_of(areas))
    ]


def findings(areas: Areas, coded: Mapping[Cell, ToolAreas]) -> list[Finding]:
    """The same by the tool's numbers, and with the other controllers of each role."""
    players = first_of(areas)
    return [*_as_coded(coded, players), *_others(areas, players)]


def first_of(areas: Areas) -> Players:
    """The first controller of each role among the cells."""
    return {part: controllers[0] for part, controllers in _cast(areas).items()}


def _cast(areas: Areas) -> dict[Role, list[str]]:
    return cast(cell.controller for cell in areas)


def _others(areas: Areas, players: Players) -> Iterator[Finding]:
    for part, controllers in _cast(areas).items():
        for controller in controllers[1:]:
            reason = f"{controller} for the poster's {_NAMES[part]}"
            for name, answer, measured in judgements(areas, {**players, part: controller}):
                if controller in name.split():
                    yield Finding(name, _SECTION, "yes", measured, answer, reason)


_NAMES: Mapping[Role, str] = {RENO: "Reno", CUBIC: "CUBIC", BBR: "BBR"}


def _as_coded(coded: Mapping[Cell, ToolAreas], players: Players) -> list[Finding]:
    shown = {cell: reactions for cell, reactions in coded.items() if cell.controller in players.values()}
    areas = {
        cell: np.where(np.isnan(reactions.area), np.inf, reactions.area).astype(np.float64)
        for cell, reactions in shown.items()
    }
    missed = {cell: int((~reactions.converged).sum()) for cell, reactions in shown.items()}
    blind = ", ".join(f"{cell.controller} ({cell.buffer}): {count}" for cell, count in missed.items() if count)
    reason = (
        f"the tool's area; runs scored by their first 40 bins because no steady point was found: {blind}"
        if blind
        else "the tool's area; it found a steady point in every run"
    )
    return [
        Finding(f"as coded: {name}", _SECTION, "yes", measured, answer, reason)
        for name, answer, measured in judgements(areas, players)
    ]


def judgements(areas: Areas, players: Players) -> Iterator[Judgement]:
    """The statements whose roles are played and whose cells were measured."""
    loss_based = [players[part] for part in LOSS_BASED if part in players]
    bbr = players.get(BBR)

    def comparison(name: str, first: Cell, second: Cell) -> Iterator[Judgement]:
        if first in areas and second in areas:
            yield _better(areas, name, first, second)

    for controller in loss_based if bbr else ():
        name = f"small buffer: {controller} reacts better than {bbr}"
        yield from comparison(name, Cell(SMALL, controller), Cell(SMALL, str(bbr)))
    if bbr and len(loss_based) == len(LOSS_BASED) and Cell(SMALL, bbr) in areas:
        yield _long_tail(areas, bbr, loss_based)
    for controller in loss_based:
        name = f"{controller} reacts worse with the larger buffer"
        yield from comparison(name, Cell(SMALL, controller), Cell(LARGE, controller))
    for controller in loss_based if bbr else ():
        name = f"larger buffer: {bbr} reacts better than {controller}"
        yield from comparison(name, Cell(LARGE, str(bbr)), Cell(LARGE, controller))


def _better(areas: Areas, name: str, first: Cell, second: Cell) -> Judgement:
    medians = [median(areas[cell]) for cell in (first, second)]
    areas_text = " and ".join(
        _area_text(cell, median) for cell, median in zip((first, second), medians, strict=True)
    )
    ratio = ratio_of_medians(areas[first], areas[second])
    return name, below(ratio, 1), f"median areas {areas_text}: ratio {ranged(ratio)}"


def _area_text(cell: Cell, area: float) -> str:
    value = text(area, digits=3) if np.isfinite(area) else "beyond all (most runs did not converge)"
    return f"{value} ({cell.controller}, {cell.buffer})"


def _long_tail(areas: Areas, bbr: str, loss_based: Sequence[str]) -> Judgement:
    tails = {name: tail(areas[Cell(SMALL, name)]) for name in (bbr, *loss_based)}
    lengths = ", ".join(f"{name} {_length(value)}" for name, value in tails.items())
    ratios = {
        name: ratio_interval(
            TAIL, areas[Cell(SMALL, bbr)], areas[Cell(SMALL, name)], confidence=each_of(len(loss_based))
        )
        for name in loss_based
    }
    compared = ", ".join(f"{bbr} / {name} {ranged(ratio)}" for name, ratio in ratios.items())
    return (
        f"small buffer: {bbr} has a long tail",
        every(above(ratio, 1) for ratio in ratios.values()),
        f"95th percentile over median: {lengths}; {compared}",
    )


def _length(value: float) -> str:
    return text(value, digits=3) if np.isfinite(value) else "without end"


def tail(area: Times) -> float:
    """The 95th percentile over the median; infinite if more than one run in twenty did not converge.

    >>> tail(np.array([1.0] * 15 + [3.0] * 5)), tail(np.array([1.0] * 10 + [np.inf] * 10))
    (3.0, inf)
    """
    return TAIL.of(area)


def _far_over_middle(values: Times) -> Times:
    low, high, far = values[..., 0], values[..., 1], values[..., 2]
    middle = np.where(low == high, low, (low + high) / 2)
    return np.where(np.isfinite(far), far / np.where(np.isfinite(middle), middle, 1.0), np.inf)


TAIL = OrderStatistic(lambda n: ((n + 1) // 2, n // 2 + 1, math.ceil(0.95 * n)), _far_over_middle)
"""The 95th percentile, a value that was measured, over the median of the tables."""
