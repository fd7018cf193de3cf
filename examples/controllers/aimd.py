"""Additive increase, multiplicative decrease: the smallest controller that shares a link (Chiu and Jain, 1989)."""

import thalweg


class Aimd(thalweg.Controller):
    """Adds `increase` packets each round trip; a loss leaves `decrease` of the window, once each round trip."""

    def __init__(self, init, increase: float = 1.0, decrease: float = 0.5):
        if not (increase > 0 and 0 < decrease < 1):
            raise ValueError("increase must be positive, and decrease between 0 and 1")
        self.increase, self.decrease = increase, decrease
        self.window = init.initial_window
        self.reduced = 0  # first packet that left after the last reduction

    def on_ack(self, event, path):
        if not event.window_was_underused(path):
            self.window += self.increase * path.mtu * event.newly_acked / self.window

    def on_lost(self, event, path):
        self.reduce(event.packet, path)

    def on_ecn(self, event, path):
        self.reduce(event.largest_acked, path)

    def reduce(self, packet, path):
        if packet >= self.reduced:
            self.window = max(self.window * self.decrease, 2 * path.mtu)
            self.reduced = path.next_packet
