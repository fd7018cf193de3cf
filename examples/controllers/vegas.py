"""TCP Vegas: keep a few packets in the queue, and no more (Brakmo and Peterson, "TCP Vegas: End to End Congestion
Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, sections III.B and III.C).

It decides once each round trip, so it takes reports and hears of single packets only when they are lost. Limits: a loss
halves the window, as in Reno; retransmission is the transport's.
"""

import thalweg


class Vegas(thalweg.Controller):
    """`alpha` and `beta`: packets in the queue below which it grows and above which it shrinks; `gamma`: where slow
    start ends."""

    report_every = "1 rtt"

    def __init__(self, init, alpha: float = 2.0, beta: float = 4.0, gamma: float = 1.0):
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        self.window = init.initial_window
        self.slow_start, self.grows = True, True
        self.reduced = 0
        self.queued = 0.0  # packets

    def on_report(self, report, path):
        if report.min_rtt is None or not report.delivered:
            return
        # Expected less actual rate, times BaseRTT: what waits in the queue.
        self.queued = self.window / path.mtu * (1 - path.min_rtt / report.min_rtt)
        if report.app_limited and not path.window_limited:
            return
        if self.slow_start:
            if self.queued > self.gamma:
                self.slow_start = False
                self.window *= 7 / 8
            elif self.grows:
                self.window *= 2
            self.grows = not self.grows  # every other round trip: one to grow, one to see
        elif self.queued < self.alpha:
            self.window += path.mtu
        elif self.queued > self.beta:
            self.window -= path.mtu
        self.window = max(self.window, 2 * path.mtu)
        self.startup_done = not self.slow_start

    def on_lost(self, event, path):
        if event.packet >= self.reduced:
            self.window = max(self.window / 2, 2 * path.mtu)
            self.reduced, self.slow_start = path.next_packet, False

    def observe(self):
        return {
            "state": "slow start" if self.slow_start else "congestion avoidance",
            "queued_packets": self.queued,
        }
