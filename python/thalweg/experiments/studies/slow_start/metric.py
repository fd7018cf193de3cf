"""What a slow start is measured by, on plain arrays from any source.

Model: samples of one sender at increasing times: its window, what has been acknowledged so far, and the phase of
its controller. A start is *left* at the first sample in a phase that is not one of a start. What it *reached* is
the largest window before. What it *left* is the window with which congestion avoidance begins: after the recovery
period if the start ended with one, and after the slow start that follows it if that left less than the threshold
(Safe Retreat, draft-ietf-tsvwg-careful-resume-22 section 3.5).

A start is *early* if it leaves less than the path holds without a queue, and *late* if it reached more than
path and buffer hold together: then packets were dropped, or were about to be. It can be both.

Units: seconds and bytes. Limits: windows, not bytes in flight, so a start of a flow without enough data is late
only by its window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from thalweg import _native

if TYPE_CHECKING:
    import numpy.typing as npt


Values: TypeAlias = "npt.NDArray[np.float64]"
STARTS, REDUCTIONS = (
    frozenset(name for name, part in _native.phases() if part == wanted) for wanted in ("start", "reduction")
)
"""Phases of a start, and those in which the window comes down; all others are congestion avoidance."""


@dataclass(frozen=True)
class Exit:
    """The end of a start."""

    at_s: float
    """When it was left; NaN if it never was."""
    reached_bytes: float
    """The largest window before."""
    left_bytes: float
    """The window with which congestion avoidance begins; NaN if it never did."""
    over_s: float
    """When that began; the last sample if it did not."""


def exit_of(times: Values, windows: Values, phases: Sequence[str]) -> Exit:
    """The end of a start in the samples of a sender, of which there is at least one.

    >>> times, windows = np.array([0.0, 0.1, 0.2, 0.3]), np.array([10.0, 20.0, 14.0, 15.0])
    >>> exit_of(times, windows, ["slow start", "slow start", "recovery", "congestion avoidance"])
    Exit(at_s=0.2, reached_bytes=20.0, left_bytes=15.0, over_s=0.3)
    """
    exit_ = next((sample for sample, phase in enumerate(phases) if phase not in STARTS), None)
    if exit_ is None:
        return Exit(float("nan"), float(windows.max()), float("nan"), float(times[-1]))
    reached = float(windows[: exit_ + 1].max())
    rest = range(exit_, len(phases))
    avoidance = next((sample for sample in rest if phases[sample] not in STARTS | REDUCTIONS), None)
    if avoidance is None:
        return Exit(float(times[exit_]), reached, float("nan"), float(times[-1]))
    return Exit(float(times[exit_]), reached, float(windows[avoidance]), float(times[avoidance]))


def is_early(end: Exit, pipe_bytes: float) -> bool:
    """Whether the start left less than the path holds; False for one that was never left."""
    return bool(end.left_bytes < pipe_bytes)


def is_late(end: Exit, full_bytes: float) -> bool:
    """Whether the start reached more than path and buffer hold."""
    return end.reached_bytes > full_bytes


def times_until(times: Values, acknowledged: Values, levels: Sequence[float]) -> list[float]:
    """When so many bytes have been acknowledged; NaN for what never was.

    >>> times_until(np.array([1.0, 2.0, 3.0]), np.array([100.0, 1500.0, 9000.0]), [1500, 15000])
    [2.0, nan]
    """
    samples = np.searchsorted(acknowledged, levels)
    return [float(times[sample]) if sample < len(times) else float("nan") for sample in samples]
