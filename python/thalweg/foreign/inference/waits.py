"""Controllers that do not replay closely, but that the exact times of a file bring closer than others would.

Slow starts that end by delay, probes and rounds decide by single samples. Where these scatter, as on Wi-Fi, an
event before the file begins, or one that is a little late in it, leads to another window for seconds: the sender's
own controller does not replay closely either. But with the same events in the same order, and each wait between
them up to a fifth longer or shorter, it decides otherwise and replays worse. To most others the times of the file
are no better than these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from thalweg.foreign.inference.replay import Script, fit
from thalweg.foreign.reading.view import Floats, Steps, View

DRAWS, _SEED = 9, 9
SHARE = 0.2
"""By how much of it each wait is longer or shorter."""
WORSE = 1.1
"""The median residual with other waits, over the residual with the file's waits."""


def led_by_waits(
    view: View, idle_s: Floats, skipped: npt.NDArray[np.bool_], residuals: dict[str, float]
) -> frozenset[str]:
    """Which of the controllers, with their residuals, replay worse with other waits."""
    found = medians(view, idle_s, skipped, residuals)
    return frozenset(name for name, residual in residuals.items() if found[name] > WORSE * residual)


def medians(
    view: View,
    idle_s: Floats,
    skipped: npt.NDArray[np.bool_],
    names: Iterable[str],
    share: float = SHARE,
    seed: int = _SEED,
) -> dict[str, float]:
    """The median residual of each controller with other waits, which differ by up to a share."""
    scripts = [(drawn, Script.of(drawn, idle)) for drawn, idle in _drawn(view, idle_s, share, seed)]
    return {
        name: float(np.median([fit(drawn, script, name, skipped).residual for drawn, script in scripts]))
        for name in names
    }


def _drawn(view: View, idle_s: Floats, share: float, seed: int) -> Iterator[tuple[View, Floats]]:
    """The view with other waits between its events, always the same ones."""
    random = np.random.default_rng(seed)
    marks = view.marks.times_s
    every = np.concatenate([view.sent_s, view.acked_s, view.lost_s, marks, idle_s])
    times = np.unique(every[np.isfinite(every)])
    waits = np.diff(times)
    for _ in range(DRAWS):
        longer = waits * (1 + random.uniform(-share, share, waits.size))
        new = times[0] + np.append(0.0, np.cumsum(longer))
        sent, acked, lost, marked, idle = (
            np.interp(one, times, new) for one in (view.sent_s, view.acked_s, view.lost_s, marks, idle_s)
        )
        yield (
            replace(view, sent_s=sent, acked_s=acked, lost_s=lost, marks=Steps(marked, view.marks.values)),
            idle,
        )
