"""What every view is, so that no answer has to ask: finite times, and answers after their packets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thalweg.base.errors import printable
from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.view import View

_MOST_S = 7 * 86_400.0
"""Times that span more are of several clocks, as relative times amid absolute ones."""
_MOST_SIZE = 1 << 24
"""Bytes of a packet."""


def sound(view: View) -> View:
    """A view without answers that came before their packets left. Raises DamageError."""
    name = printable(view.name)
    if view.damage:
        return replace(view, name=name, source=printable(view.source))
    times = np.concatenate([view.sent_s, view.arrived_s, [view.duration_s]])
    if not np.isfinite(times).all():
        raise DamageError("a time is not a number", name)
    if view.duration_s > _MOST_S:
        raise DamageError(f"its times span {view.duration_s:.3g} s", name, "at most 7 days, by one clock")
    sizes = np.concatenate([view.sent_bytes, view.arrived_bytes])
    if ((sizes < 0) | (sizes > _MOST_SIZE)).any():
        raise DamageError("the size of a packet is impossible", name, f"0 to {_MOST_SIZE} bytes")
    is_early = view.acked_s < view.sent_s
    return replace(
        view,
        name=name,
        source=printable(view.source),
        acked_s=np.where(is_early, np.nan, view.acked_s),
        acked_by=np.where(is_early, -1, view.acked_by),
        lost_s=np.where(view.lost_s < view.sent_s, np.nan, view.lost_s),
    )
