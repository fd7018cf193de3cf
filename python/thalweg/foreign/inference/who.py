"""Which controller a sender has: the one that would have allowed what it did, or a set of them, or none.

Those whose residuals are less than twice the least are one answer with several names. Candidates are ours with
their variants. Where none fits, the closest are named if they replay worse with other waits (`waits`). One with a
known bug is named only where its healthy original is twice as far as what fits, and it at most half as far as that
and as any healthy candidate: by what a log says (`logged`), else by packets. The residual of each is in `replay`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.foreign.inference.limits import APPLICATION, FLOW_CONTROL, STALLED, Limits
from thalweg.foreign.inference.logged import distance, idle_times
from thalweg.foreign.inference.recovery import recovers
from thalweg.foreign.inference.replay import Fit, Script, fit
from thalweg.foreign.inference.waits import led_by_waits
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
_NOT_TOLD = frozenset(("erlang-quic-57",))
"""Its clock has whole milliseconds, and so have the times of many files: it would accuse who has a good clock."""
FITS = 0.06
"""A larger residual does not fit."""
LEAD = 0.005
"""Residuals that are closer than this are not told apart..."""
CLEARLY = 2.0
"""... nor those that are less than so many times the least. A bug is named where its residual is so many times
below what fits, and the original's above it."""

ANY, MOST_LED = 4 * FITS, 6
"""As far as this is any controller from any sender; so many that differ are tried."""
_MARKED = frozenset(("prague", "dctcp"))
"""They require ECN (RFC 9331 section 4.1, RFC 8257 section 3.1): their packets can be marked."""

FOLLOWERS = frozenset(("c4", "bbr1", "bbr1:variant=linux"))
"""They follow what is delivered, and so come close to any sender. Where none fits, it says nothing that they do;
where another one fits no better, neither does its fit."""


CLOSEST, CLOSE = "c4", FITS / 2
"""The one of them that comes closest to others: to a CUBIC that is not paced, nearly to half of `FITS`."""


def most(controller: str) -> float:
    """The residual that a controller fits below."""
    return CLOSE if controller == CLOSEST else FITS


@dataclass(frozen=True)
class Who:
    """The candidates, the closest first."""

    fits: tuple[Fit, ...]
    bug: Fit | None = None
    """The controller with a known bug that is named instead."""
    is_logged: bool = False
    """Whether a log names it, and not only packets."""
    led: frozenset[str] = frozenset()
    """Where none fits: those that the exact times of the file bring closer than others would."""

    @property
    def named(self) -> tuple[str, ...]:
        """The controller; several that are not told apart; none if none fits."""
        if self.bug is not None:
            return (self.bug.controller,)
        near = _near(self.fits)
        if near and near[0].residual < most(near[0].controller):
            is_told = len({one.controller in FOLLOWERS for one in near}) == 1
            return tuple(one.controller for one in near) if is_told else ()
        told = self.led - FOLLOWERS
        if not near or near[0].residual < FITS or near[0].controller not in told:
            return ()
        return tuple(one.controller for one in near if one.controller in told)

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
    idle = idle_times(view, held)
    script = Script.of(view, idle)
    skipped = others(view, held)

    def replayed(name: str) -> Fit:
        return fit(view, script, name, skipped)

    possible = [name for name in candidates if view.is_ect is not False or name not in _MARKED]
    fits = _ordered([replayed(name) for name in possible])
    # A log tells more than packets do.
    is_logged = bool(fits) and math.isfinite(distance(view, fits[0]))
    bug = _bug(fits, (lambda one: distance(view, one)) if is_logged else (lambda one: one.residual), replayed)
    near = _near(fits)
    led: frozenset[str] = frozenset()
    if near and FITS <= near[0].residual < ANY and bug is None:
        # Those with one residual decide alike in all that the file shows: one of them is tried for all.
        alike: dict[float, list[str]] = {}
        for one in near:
            alike.setdefault(one.residual, []).append(one.controller)
        tried = {names[0]: residual for residual, names in list(alike.items())[:MOST_LED]}
        found = led_by_waits(view, idle, skipped, tried)
        led = frozenset(name for names in alike.values() if names[0] in found for name in names)
    return Who(fits, bug, bug is not None and is_logged, led)


def _bug(fits: Sequence[Fit], far: Callable[[Fit], float], replayed: Callable[[str], Fit]) -> Fit | None:
    """The controller with a known bug that is close while all without it are far."""
    healthy = {one.controller: far(one) for one in fits}
    tried = [
        bug
        for bug, original in BUGS.items()
        if bug not in _NOT_TOLD and healthy.get(original, 0.0) >= CLEARLY * FITS
    ]
    found = [(far(one), one) for one in (replayed(f"mutant:bug={bug}") for bug in tried)]
    known = [(away, one) for away, one in found if CLEARLY * away <= FITS]
    if not known:
        return None
    away, closest = min(known, key=lambda entry: entry[0])
    return closest if CLEARLY * away <= np.nanmin(list(healthy.values())) else None


def _near(fits: Sequence[Fit]) -> list[Fit]:
    """The closest one, and what is not told from it."""
    known = [one for one in fits if one.is_known]
    bound = max(known[0].residual + LEAD, CLEARLY * known[0].residual) if known else 0.0
    return [one for one in known if one.residual < bound]


def _ordered(fits: list[Fit]) -> tuple[Fit, ...]:
    return tuple(sorted(fits, key=lambda one: (math.isnan(one.residual), one.residual)))


def others(view: View, held: Limits) -> npt.NDArray[np.bool_]:
    """Packets that left while something other than the controller limited the sender, or while it repaired."""
    place = np.maximum(0, np.searchsorted(held.begins_s, view.sent_s, side="right") - 1)
    return np.asarray(np.isin(held.causes[place], (APPLICATION, FLOW_CONTROL, STALLED)) | recovers(view))
