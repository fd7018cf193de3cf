"""The findings of the poster on transient performance, set against what was measured.

The published figure compares controllers by eye. Here medians are compared by the bootstrap of `medians.py`:
*better* asks that the whole interval of 95 % of the ratio is below 1. A tail is the 95th percentile over the
median; *long* asks that it is longer than that of both loss-based controllers. A run that did not converge counts
as worse than all that did.

The checks take the metric of `transient_metric.py` and BBRv1, the BBR of the authors' framework (CCP, 2021). The
same statements by the numbers of the authors' tool (`transient_as_coded.py`), and with BBRv3, are findings: shown,
without a say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from thalweg.quantity import text
from thalweg.studies.medians import Times, ratio_of_medians
from thalweg.studies.result import Check, Finding
from thalweg.studies.transient_as_coded import AsCoded
from thalweg.studies.transient_parameters import PAPER, Cell

SMALL, LARGE = "40 packets", "100 packets"
LOSS_BASED = ("reno", "cubic")
PUBLISHED_BBR, LATER_BBR = "bbr1", "bbr"
_SECTION = f"{PAPER}, section Experiments and figure 2"

Areas = Mapping[Cell, Times]
Judgement = tuple[str, bool, str]
"""The statement, whether it holds, and what was measured."""


def checks(areas: Areas) -> list[Check]:
    """All statements on the areas of the first step; runs that did not converge are infinite."""
    return [Check(name, _SECTION, holds, measured) for name, holds, measured in _judgements(areas, PUBLISHED_BBR)]


def findings(areas: Areas, coded: Mapping[Cell, AsCoded]) -> list[Finding]:
    """The same by the tool's numbers, and with the BBR of today."""
    later = "BBRv3, which the authors could not know"
    return [
        *_as_coded(coded),
        *(
            Finding(name, _SECTION, "yes", measured, holds, later)
            for name, holds, measured in _judgements(areas, LATER_BBR)
            if LATER_BBR in name.split()
        ),
    ]


def _as_coded(coded: Mapping[Cell, AsCoded]) -> list[Finding]:
    areas = {
        cell: np.where(np.isnan(one.area), np.inf, one.area).astype(np.float64) for cell, one in coded.items()
    }
    missed = {cell: int((~one.converged).sum()) for cell, one in coded.items()}
    blind = ", ".join(f"{cell.controller} ({cell.buffer}): {count}" for cell, count in missed.items() if count)
    reason = (
        f"the tool's area; runs scored by their first 40 bins because no steady point was found: {blind}"
        if blind
        else "the tool's area; it found a steady point in every run"
    )
    return [
        Finding(f"as coded: {name}", _SECTION, "yes", measured, holds, reason)
        for name, holds, measured in _judgements(areas, PUBLISHED_BBR)
    ]


def _judgements(areas: Areas, bbr: str) -> Iterator[Judgement]:
    for controller in LOSS_BASED:
        name = f"small buffer: {controller} reacts better than {bbr}"
        yield _better(areas, name, Cell(SMALL, controller), Cell(SMALL, bbr))
    yield _long_tail(areas, bbr)
    for controller in LOSS_BASED:
        name = f"{controller} reacts worse with the larger buffer"
        yield _better(areas, name, Cell(SMALL, controller), Cell(LARGE, controller))
    for controller in LOSS_BASED:
        name = f"larger buffer: {bbr} reacts better than {controller}"
        yield _better(areas, name, Cell(LARGE, bbr), Cell(LARGE, controller))


def _better(areas: Areas, name: str, first: Cell, second: Cell) -> Judgement:
    medians = [float(np.median(areas[cell])) for cell in (first, second)]
    told = " and ".join(_told(cell, median) for cell, median in zip((first, second), medians, strict=True))
    if not all(np.isfinite(medians)):
        return name, bool(np.isfinite(medians[0])), f"median areas {told}"
    ratio = ratio_of_medians(areas[first], areas[second])
    return name, ratio.less, f"median areas {told}: ratio {ratio}"


def _told(cell: Cell, median: float) -> str:
    value = text(median, digits=3) if np.isfinite(median) else "beyond all (most runs did not converge)"
    return f"{value} ({cell.controller}, {cell.buffer})"


def _long_tail(areas: Areas, bbr: str) -> Judgement:
    tails = {name: tail(areas[Cell(SMALL, name)]) for name in (bbr, *LOSS_BASED)}
    told = ", ".join(f"{name} {_length(value)}" for name, value in tails.items())
    longest = all(tails[bbr] > tails[name] for name in LOSS_BASED)
    return f"small buffer: {bbr} has a long tail", longest, f"95th percentile over median: {told}"


def _length(value: float) -> str:
    return text(value, digits=3) if np.isfinite(value) else "without end"


def tail(area: Times) -> float:
    """The 95th percentile over the median; infinite if more than one run in twenty did not converge.

    >>> tail(np.array([1.0] * 15 + [3.0] * 5)), tail(np.array([1.0] * 10 + [np.inf] * 10))
    (3.0, inf)
    """
    median, high = np.quantile(area, [0.5, 0.95], method="inverted_cdf")
    return float(high / median) if np.isfinite(high) else float("inf")
