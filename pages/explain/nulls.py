"""What senders of known controllers give where a constant of `who` or `waits` decides: the null of each.

From the traces by which the page measures names: only packets, of the sender's own controller (with its variants)
and of the closest one of another family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pages.explain.measure import Case
from pages.made import row
from thalweg.foreign.inference import waits, who
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.logged import idle_times
from thalweg.foreign.inference.replay import Fit

SHARES = (0.1, 0.2, 0.4)
_SEEDS = (9, 10)
"""Seeds of draws: the seed of the answer, and another one."""


@dataclass(frozen=True)
class Null:
    """One trace: residuals of its own family and of the others, and what other waits make of them."""

    own: float
    rank: int
    """Place of the first of its own family."""
    other: float
    closest: float
    """The residual of `who.CLOSEST`, whose trace it may be."""
    is_of_closest: bool
    led_own: dict[tuple[float, int], float]
    """By share and seed of the draws: the median residual with other waits over the residual of the file."""
    led_other: dict[tuple[float, int], float]


def null(case: Case, found: who.Who) -> Null:
    """What one trace gives, and who its sender seems to be."""
    known = [one for one in found.fits if one.is_known]
    is_own = [_family(one.controller) == _family(case.made.controller) for one in known]
    own = next((one for one, is_it in zip(known, is_own, strict=True) if is_it), None)
    other = next((one for one, is_it in zip(known, is_own, strict=True) if not is_it), None)
    is_asked = bool(known) and who.FITS <= known[0].residual < who.ANY
    return Null(
        own.residual if own else np.nan,
        is_own.index(True) + 1 if own else 0,
        other.residual if other else np.nan,
        next((one.residual for one in known if one.controller == who.CLOSEST), np.nan),
        case.made.controller == who.CLOSEST,
        _led(case, own) if is_asked and own else {},
        _led(case, other) if is_asked and other else {},
    )


def _family(controller: str) -> str:
    return controller.partition(":")[0]


def _led(case: Case, of: Fit) -> dict[tuple[float, int], float]:
    view = case.packets()
    held = limits(view, is_explained=True)
    idle, skipped = idle_times(view, held), who.others(view, held)
    asked = [(share, _SEEDS[0]) for share in SHARES] + [(waits.SHARE, seed) for seed in _SEEDS[1:]]
    return {
        (share, seed): waits.medians(view, idle, skipped, [of.controller], share, seed)[of.controller]
        / of.residual
        for share, seed in asked
    }


def rows(found: Sequence[Null]) -> list[str]:
    """The table: each constant, and what is on either side of it."""
    own, other = (np.asarray([getattr(one, side) for one in found]) for side in ("own", "other"))
    least = np.fmin(own, other)
    ranks = np.asarray([one.rank for one in found if one.rank])
    lines = [row("constant", "is", "of", *_SIDES), row(":--", "--:", ":--", "--:", "--:")]
    lines += [
        row("`FITS`", str(who.FITS), "the residual", _spread(own), _spread(other)),
        row("`CLOSE`", str(who.CLOSE), f"the residual of {who.CLOSEST}", *_of_closest(found)),
        row("`ANY`", str(who.ANY), "residuals above it", _above(own, who.ANY), _above(other, who.ANY)),
        row("`LEAD`", str(who.LEAD), "the residual less the least", _spread(own - least), _spread(other - least)),
        row("`CLEARLY`", str(who.CLEARLY), "the same, as a ratio", _spread(own / least), _spread(other / least)),
        row("`MOST_LED`", str(who.MOST_LED), "places behind it", _above(ranks, who.MOST_LED), ""),
    ]
    asked = [one for one in found if one.led_own and one.led_other]
    for share in SHARES:
        sides = [np.asarray([of[share, _SEEDS[0]] for of in led]) for led in _leds(asked)]
        name = "`SHARE`" if share == waits.SHARE else ""
        lines.append(row(name, str(share), "the residual with other waits, as a ratio", *map(_spread, sides)))
    sides = [np.asarray([of[waits.SHARE, _SEEDS[0]] for of in led]) for led in _leds(asked)]
    lines.append(
        row("`WORSE`", str(waits.WORSE), "such ratios above it", *(_above(of, waits.WORSE) for of in sides))
    )
    changed = [
        np.asarray(
            [
                (of[waits.SHARE, _SEEDS[0]] > waits.WORSE) != (of[waits.SHARE, _SEEDS[1]] > waits.WORSE)
                for of in led
            ]
        )
        for led in _leds(asked)
    ]
    return [
        *lines,
        row("`DRAWS`", str(waits.DRAWS), "answers that other draws change", *(_above(of, 0.5) for of in changed)),
    ]


def _of_closest(found: Sequence[Null]) -> tuple[str, str]:
    """What the follower that comes closest gives on traces of its own, and of others."""
    own = np.asarray([one.closest for one in found if one.is_of_closest])
    return _spread(own), _spread(np.asarray([one.closest for one in found if not one.is_of_closest]))


_SIDES = ("the sender's own family", "the closest other")


def _leds(asked: Sequence[Null]) -> tuple[list[dict[tuple[float, int], float]], ...]:
    return [one.led_own for one in asked], [one.led_other for one in asked]


def _spread(values: npt.NDArray[np.float64]) -> str:
    """What nine of ten exceed, the median, and what one of ten exceeds."""
    known = values[np.isfinite(values)]
    return ", ".join(f"{one:.3f}" for one in np.quantile(known, (0.1, 0.5, 0.9))) if known.size else "-"


def _above(values: npt.NDArray[Any], limit: float) -> str:
    known = values[np.isfinite(values.astype(float))]
    return f"{int((known > limit).sum())} of {known.size}"
