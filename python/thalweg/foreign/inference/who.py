"""Which controller a sender has: the one that would have allowed what it did, or a set of them, or none.

Candidates are ours with their variants, and those with known bugs. The residual of each is in `replay`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.foreign.inference.idle import silences
from thalweg.foreign.inference.limits import APPLICATION, FLOW_CONTROL, STALLED, Limits
from thalweg.foreign.inference.replay import Fit, Script, fit
from thalweg.foreign.reading.view import View

CANDIDATES = (
    "cubic", "cubic:start=classic", "cubic:variant=cuback", "reno", "reno:variant=picoquic", "bbr",
    "bbr:variant=picoquic", "bbr1", "c4", "prague", "dctcp", "ledbat-pp", "screamv2",
)  # fmt: skip
FITS = 0.06
"""A larger residual does not fit."""
LEAD = 0.005
"""Residuals that are closer than this are not told apart."""


FOLLOWERS = frozenset(("c4", "bbr1"))
"""They follow what is delivered, and so fit any sender whose application is steady."""


@dataclass(frozen=True)
class Who:
    """The candidates, the closest first."""

    fits: tuple[Fit, ...]

    @property
    def named(self) -> tuple[str, ...]:
        """The controller; several that are not told apart; none if none fits."""
        known = [one for one in self.fits if one.is_known]
        if not known or known[0].residual >= FITS:
            return ()
        return tuple(one.controller for one in known if one.residual - known[0].residual < LEAD)

    @property
    def best(self) -> Fit | None:
        """The closest one, whether it fits or not."""
        return self.fits[0] if self.fits and self.fits[0].is_known else None


def who(view: View, held: Limits, candidates: Sequence[str] = CANDIDATES) -> Who:
    """Replays a sender's view through each candidate; what else limited it does not count."""
    if not view.has_acks:
        return Who(())
    script = Script.of(view, silences(view))
    fits = [fit(view, script, name, others(view, held)) for name in candidates]
    return Who(tuple(sorted(fits, key=lambda one: (math.isnan(one.residual), one.residual))))


def others(view: View, held: Limits) -> npt.NDArray[np.bool_]:
    """Packets that left while something other than the controller limited the sender."""
    place = np.maximum(0, np.searchsorted(held.begins_s, view.sent_s, side="right") - 1)
    return np.isin(held.causes[place], (APPLICATION, FLOW_CONTROL, STALLED))
