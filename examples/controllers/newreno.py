"""NewReno as RFC 9002 section 7 specifies it: event by event what `reno` of Thalweg does.

Windows are whole bytes, so nothing is rounded. Pacing is left to the transport (section 7.7).
"""

import math

import thalweg


class NewReno(thalweg.Controller):
    """RFC 9002 section 7, with its recovery period by packet numbers, in whose order packets leave."""

    def __init__(self, init):
        self.mtu = init.mtu
        self.window = max(init.initial_window, 2 * init.mtu)  # section 7.2
        self.ssthresh = math.inf
        self.acked = 0  # bytes acknowledged in congestion avoidance and not yet turned into growth
        self.recovery_end = 0  # first packet that the last reduction does not cover
        self.in_recovery = False

    @property
    def startup_done(self):
        return self.window >= self.ssthresh

    def on_ack(self, event, path):
        self.mtu = path.mtu
        self.window = max(self.window, 2 * self.mtu)
        if event.largest >= self.recovery_end:
            self.in_recovery = False
        if self.in_recovery or event.window_was_underused(path):  # sections 7.3.2 and 7.8
            return
        if self.window < self.ssthresh:  # section 7.3.1: slow start
            self.window += event.newly_acked
            return
        self.acked += event.newly_acked  # section 7.3.3: a packet for each window acknowledged
        if self.acked >= self.window:
            self.acked -= self.window
            self.window += self.mtu

    def on_lost(self, event, path):
        self.congestion(event.packet, path)
        if event.persistent_congestion:  # section 7.6.2
            self.window = 2 * self.mtu
            self.in_recovery = False

    def on_ecn(self, event, path):  # section 7.1: a mark is a congestion event
        self.congestion(event.largest_acked, path)

    def congestion(self, packet, path):
        """Section 7.3.2: at most one reduction for each round trip."""
        if packet < self.recovery_end:
            return
        self.recovery_end, self.in_recovery = path.next_packet, True
        self.ssthresh = max(self.window // 2, 2 * self.mtu)
        self.window = self.ssthresh
        self.acked = 0

    def observe(self):
        slow = "slow start" if self.window < self.ssthresh else "congestion avoidance"
        known = self.ssthresh if math.isfinite(self.ssthresh) else None
        return {"state": "recovery" if self.in_recovery else slow, "ssthresh": known}
