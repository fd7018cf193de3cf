"""Whether a sender follows one controller, and where it first departs from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.foreign.inference.idle import silences
from thalweg.foreign.inference.limits import Limits
from thalweg.foreign.inference.replay import Fit, Script, fit
from thalweg.foreign.inference.who import CLEARLY, FITS, others
from thalweg.foreign.reading import View
from thalweg.judging.statistics.interval import finite

_DEPARTS = 0.15
"""A residual of as much as this, in several windows in a row, is a departure."""
_WINDOWS = 3


@dataclass(frozen=True)
class Conformance:
    """How a sender compares with one controller over time."""

    fit: Fit
    departs_s: float | None
    """When it first departs; None if it does not."""
    window: float
    in_flight: float
    """What the controller would have allowed then, and what was in flight."""
    is_near: bool
    """Whether it fits, or nearly as well as the candidate that fits best."""

    def sentence(self) -> str:
        """Whether and until when it follows."""
        name = self.fit.controller
        if not self.fit.is_known:
            return f"Congestion control limited it for too short a time to compare it with {name}."
        if self.departs_s is None:
            said = (
                "follows {} throughout"
                if self.is_near
                else "departs from {} nowhere in particular, but others fit better"
            )
            return f"It {said.format(name)} (residual {self.fit.residual:.3f})."
        return (
            f"It follows {name} until {text(self.departs_s, 's')}; then {name} would have had a window of "
            f"{text(self.window, 'B')}, and {text(self.in_flight, 'B')} were in flight."
        )

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "controller": self.fit.controller,
            "residual": finite(self.fit.residual),
            "departs_s": self.departs_s,
        }


def conformance(view: View, held: Limits | None, controller: str, candidates: Sequence[Fit]) -> Conformance:
    """Holds a sender against a controller; `candidates` are what else was tried, the nearest first.

    Raises RequestError for an unknown one, or without packets.
    """
    if not view.is_whole:
        raise RequestError(f"--as {controller}: {view.name} has no packets with sizes and acknowledgements")
    skipped = others(view, held) if held is not None else None
    try:
        found = fit(view, Script.of(view, silences(view)), controller, skipped)
    except ValueError as error:
        raise RequestError(f"--as {controller}: {error}") from None
    departs = None
    far = found.residuals > _DEPARTS
    for place in range(far.size - _WINDOWS + 1):
        if far[place : place + _WINDOWS].all():
            departs = float(found.times_s[place])
            break
    at = np.asarray([departs if departs is not None else 0.0])
    window = float(found.window.at(at)[0])
    packet = max(0, int(np.searchsorted(view.sent_s, at[0], side="right")) - 1)
    least = candidates[0].residual if candidates else 0.0
    is_near = found.residual < max(FITS, CLEARLY * least)
    return Conformance(found, departs, window, float(found.in_flight[packet]), is_near)
