"""Which controller a sender has: the one that would have allowed what it did, or a set of them, or none.

Those whose residuals are less than twice the least are one answer with several names. Candidates are ours with
their variants. One with a known bug is named only where its healthy original is twice as far as what fits, and its
residual at most half of what fits and of that of any healthy candidate. The residual of each is in `replay`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.foreign.inference.idle import silences
from thalweg.foreign.inference.limits import APPLICATION, FLOW_CONTROL, STALLED, Limits
from thalweg.foreign.inference.recovery import recovers
from thalweg.foreign.inference.replay import Fit, Script, fit
from thalweg.foreign.reading.view import View

CANDIDATES = (
    "cubic", "cubic:start=classic", "cubic:variant=cuback", "cubic:variant=linux,start=hystart-linux",
    "cubic:variant=linux,start=hystart-unpaced", "reno", "reno:variant=picoquic", "bbr", "bbr:variant=picoquic",
    "bbr1", "bbr1:variant=linux", "c4", "prague", "dctcp", "ledbat-pp", "screamv2",
)  # fmt: skip
BUGS = {
    "noq-800": "bbr", "noq-819": "bbr", "lsquic-544": "bbr", "picoquic-2118": "bbr", "erlang-quic-57": "bbr",
    "nginx-217": "cubic", "quiche-1598": "bbr", "quiche-2370": "cubic", "quinn-497": "cubic",
}  # fmt: skip
"""Bugs of public stacks (docs/reference/controllers.md#mutant), and the controllers that have them.

`lsquic-554-mended` is not among them: it lacks a bug.
"""
FITS = 0.06
"""A larger residual does not fit."""
LEAD = 0.005
"""Residuals that are closer than this are not told apart..."""
_CLEARLY = 2.0
"""... nor those that are less than so many times the least. A bug is named where its residual is so many times
below what fits, and that of its original above it."""

FOLLOWERS = frozenset(("c4", "bbr1"))
"""They follow what is delivered, and so fit any sender whose application is steady."""


@dataclass(frozen=True)
class Who:
    """The candidates, the closest first."""

    fits: tuple[Fit, ...]
    bug: Fit | None = None
    """The controller with a known bug that is named instead."""

    @property
    def named(self) -> tuple[str, ...]:
        """The controller; several that are not told apart; none if none fits."""
        if self.bug is not None:
            return (self.bug.controller,)
        known = [one for one in self.fits if one.is_known]
        if not known or known[0].residual >= FITS:
            return ()
        most = max(known[0].residual + LEAD, _CLEARLY * known[0].residual)
        return tuple(one.controller for one in known if one.residual < most)

    @property
    def best(self) -> Fit | None:
        """The closest one, whether it fits or not."""
        if self.bug is not None:
            return self.bug
        return self.fits[0] if self.fits and self.fits[0].is_known else None


def who(view: View, held: Limits, candidates: Sequence[str] = CANDIDATES) -> Who:
    """Replays a sender's view through each candidate; what else limited it does not count."""
    if not view.has_acks:
        return Who(())
    script = Script.of(view, silences(view))
    skipped = others(view, held)
    fits = _ordered([fit(view, script, name, skipped) for name in candidates])
    far = {one.controller for one in fits if one.residual >= _CLEARLY * FITS}
    bugs = [f"mutant:bug={bug}" for bug, original in BUGS.items() if original in far]
    found = _ordered([fit(view, script, name, skipped) for name in bugs])
    is_bug = bool(found) and _CLEARLY * found[0].residual <= min(FITS, fits[0].residual)
    return Who(fits, found[0] if is_bug else None)


def _ordered(fits: list[Fit]) -> tuple[Fit, ...]:
    return tuple(sorted(fits, key=lambda one: (math.isnan(one.residual), one.residual)))


def others(view: View, held: Limits) -> npt.NDArray[np.bool_]:
    """Packets that left while something other than the controller limited the sender, or while it repaired."""
    place = np.maximum(0, np.searchsorted(held.begins_s, view.sent_s, side="right") - 1)
    return np.asarray(np.isin(held.causes[place], (APPLICATION, FLOW_CONTROL, STALLED)) | recovers(view))
