"""NewReno with a defect: it stalls for good after an RTT step within 300 ms of a loss burst, and never else.

A burst are `BURST` packets lost within 100 ms; a step is an RTT sample that is `STEP_S` above the one before.
"""

from __future__ import annotations

from collections import deque

import thalweg
from thalweg._native import Ack, Init, Lost, Path

BURST = 12
BURST_S = 0.1
STEP_S = 0.05
WITHIN_S = 0.3
STALL_BPS = 8e3


class Stalling(thalweg.Controller):
    """RFC 9002 section 7 but for its stall."""

    def __init__(self, init: Init) -> None:
        self.window = float(init.initial_window)
        self.threshold = float("inf")
        self.recovery_until = 0
        self.lost: deque[float] = deque(maxlen=BURST)
        self.burst_s = self.step_s = float("-inf")
        self.previous = 0.0
        self.stalled = False

    def on_ack(self, event: Ack, path: Path) -> None:
        if event.rtt is not None:
            if self.previous and event.rtt > self.previous + STEP_S:
                self.step_s = path.now
                self.judge()
            self.previous = event.rtt
        if self.stalled:
            self.window, self.pacing = 2 * path.mtu, STALL_BPS
        elif event.largest >= self.recovery_until and not event.window_was_underused(path):
            slow = self.window < self.threshold
            self.window += event.newly_acked if slow else path.mtu * event.newly_acked / self.window

    def on_lost(self, event: Lost, path: Path) -> None:
        self.lost.append(path.now)
        if len(self.lost) == BURST and path.now - self.lost[0] <= BURST_S:
            self.burst_s = path.now
            self.judge()
        if event.packet >= self.recovery_until:
            self.recovery_until = path.next_packet
            self.window = self.threshold = max(self.window / 2, 2 * path.mtu)

    def judge(self) -> None:
        """The defect."""
        self.stalled |= abs(self.burst_s - self.step_s) <= WITHIN_S

    def observe(self) -> dict[str, float | str | None]:
        return {"state": "stalled" if self.stalled else "steady"}
