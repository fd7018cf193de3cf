"""Bytes in flight of a sender over time, from when its packets were sent, acknowledged and lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.foreign.reading.view import Counts, Floats, View

SENT, ACKED, LOST = 0, 1, 2


@dataclass(frozen=True)
class Flight:
    """Events in the order of time; what came back at an instant is before what left at it."""

    times_s: Floats
    kinds: Counts
    packets: Counts
    """The place of the packet in the view."""
    bytes: Floats
    """In flight after each event."""

    @staticmethod
    def of(view: View) -> Flight:
        """The flight of a sender. What is acknowledged or declared lost leaves it, whichever is first."""
        count = view.sent_s.size
        number = np.arange(count)
        acked, lost = np.isfinite(view.acked_s), np.isfinite(view.lost_s)
        times = np.concatenate([view.acked_s[acked], view.lost_s[lost], view.sent_s])
        kinds = np.repeat([ACKED, LOST, SENT], [int(acked.sum()), int(lost.sum()), count])
        packets = np.concatenate([number[acked], number[lost], number])
        leaves_late = np.where(acked & lost, np.maximum(view.acked_s, view.lost_s), np.nan)
        size = view.sent_bytes[packets].astype(float)
        is_last = (kinds == ACKED) == (view.acked_s >= view.lost_s)[packets]
        is_second = (kinds != SENT) & is_last & (times == leaves_late[packets])
        change = np.where(kinds == SENT, size, np.where(is_second, 0.0, -size))
        order = np.lexsort((kinds == SENT, times))
        return Flight(times[order], kinds[order].astype(np.int64), packets[order], np.cumsum(change[order]))

    def after_sends(self) -> Floats:
        """Bytes in flight after each packet that was sent, in the order of the view."""
        return np.asarray(self.bytes[self.kinds == SENT])
