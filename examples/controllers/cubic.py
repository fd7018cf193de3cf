"""CUBIC as RFC 9438 specifies it, with HyStart++ (RFC 9406): event by event what `cubic` of Thalweg does.

Where real numbers are computed, the order of operations is as in Thalweg; times are compared as whole nanoseconds.
"""

import math

import thalweg

C, BETA = 0.4, 0.7
ALPHA = 3.0 * (1.0 - BETA) / (1.0 + BETA)  # RFC 9438 section 4.3
MS = 1_000_000
COPIED = ("window", "ssthresh", "w_max", "prior", "stage", "hystart", "recovery_end", "in_recovery")


def nanoseconds(seconds):
    return round(seconds * 1e9)


class Cubic(thalweg.Controller):
    """RFC 9438 over the recovery period of RFC 9002 section 7.3.2."""

    def __init__(self, init):
        self.mtu = init.mtu
        self.window = float(max(init.initial_window, 2 * init.mtu))
        self.ssthresh, self.w_max, self.prior = math.inf, 0.0, self.window
        self.stage = None  # epoch, K, plateau, W_est, packet
        self.hystart = HyStart()
        self.recovery_end, self.in_recovery = 0, False
        self.undo = None  # what a congestion event changed, and how many of its losses are missing
        self.last_ack = nanoseconds(init.now)

    @property
    def startup_done(self):
        return self.window >= self.ssthresh

    def on_ack(self, event, path):
        now = nanoseconds(path.now)
        self.mtu = path.mtu
        self.window = max(self.window, 2.0 * self.mtu)
        self.in_recovery = self.in_recovery and event.largest < self.recovery_end
        if event.window_was_underused(path):
            self.pause(now)
        elif not self.in_recovery and self.window < self.ssthresh:
            self.slow_start(event, path)
        elif not self.in_recovery:
            self.avoid_congestion(event, path, now)
        self.last_ack = now

    def pause(self, now):
        """RFC 9438 section 5.8."""
        if self.stage:
            self.stage[0] += now - self.last_ack

    def slow_start(self, event, path):
        growth = self.hystart.growth(event, path) if self.hystart else event.newly_acked
        if growth is None:
            self.ssthresh = self.w_max = self.prior = self.window
            self.hystart = None
            return
        self.window += growth
        if self.window >= self.ssthresh:
            self.w_max = self.window

    def avoid_congestion(self, event, path, now):
        if self.stage is None:
            packet, plateau = float(max(self.mtu, 1)), max(self.w_max, self.window)
            self.stage = [now, math.cbrt((plateau - self.window) / packet / C), plateau, self.window, packet]
        epoch, k, plateau, w_est, packet = self.stage
        t, share = (now - epoch) / 1e9, event.newly_acked / self.window
        w_est += (1.0 if w_est >= self.prior else ALPHA) * share * packet
        self.stage[3] = w_est

        def cubic(x):
            return plateau + C * packet * (x - k) * (x - k) * (x - k)

        if cubic(t) < w_est:
            self.window = max(w_est, self.window)
        else:
            target = min(max(cubic(t + path.smoothed_rtt), self.window), 1.5 * self.window)
            self.window += (target - self.window) * min(share, 1.0)

    def reduce(self, path):
        """RFC 9438 sections 4.6 and 4.7."""
        self.w_max = self.window * (1.0 + BETA) / 2.0 if self.window < self.w_max else self.window
        self.prior = self.window
        self.ssthresh = self.window = max(self.window * BETA, 2.0 * self.mtu)
        self.stage = self.hystart = None
        self.recovery_end, self.in_recovery = path.next_packet, True

    def on_lost(self, event, path):
        if event.packet >= self.recovery_end:
            before = {name: getattr(self, name) for name in COPIED}
            self.reduce(path)
            self.undo = [before, 1]
        elif self.undo and event.packet >= self.undo[0]["recovery_end"]:
            self.undo[1] += 1
        if event.persistent_congestion:
            self.window, self.stage, self.undo = 2.0 * self.mtu, None, None
            self.in_recovery = False

    def on_spurious_loss(self, event, path):
        """RFC 9438 section 4.9.2."""
        if not self.undo or event.timeout_only:
            return
        before = self.undo[0]
        if not before["recovery_end"] <= event.packet < self.recovery_end:
            return
        self.undo[1] = max(self.undo[1] - 1, 0)
        if self.undo[1] == 0:
            if self.window < before["window"]:
                vars(self).update(before)
            self.undo = None

    def on_ecn(self, event, path):
        if event.largest_acked >= self.recovery_end:
            self.reduce(path)
        self.undo = None

    def on_idle_restart(self, path):
        now = nanoseconds(path.now)
        self.pause(now)
        self.last_ack = now

    def observe(self):
        return {"w_max": self.w_max, "k": self.stage[1] if self.stage else None}


class HyStart:
    """RFC 9406; times in nanoseconds."""

    def __init__(self):
        self.round_end, self.last, self.current, self.samples = None, math.inf, math.inf, 0
        self.baseline, self.rounds = None, 0

    def growth(self, event, path):
        """Bytes to grow by; None once conservative slow start is over."""
        if self.round_end is None or event.largest >= self.round_end:
            if self.round_end is not None and self.baseline is not None:
                self.rounds += 1
                if self.rounds >= 5:
                    return None
            self.round_end = path.next_packet
            self.last, self.current, self.samples = self.current, math.inf, 0
        growth = event.newly_acked // (1 if self.baseline is None else 4)
        if event.rtt is not None:
            self.current = min(self.current, nanoseconds(event.rtt))
            self.samples += 1
        if self.samples >= 8:
            if self.baseline is None and self.last < math.inf:
                if self.current >= self.last + min(max(self.last // 8, 4 * MS), 16 * MS):
                    self.baseline, self.rounds = self.current, 0
            elif self.baseline is not None and self.current < self.baseline:
                self.baseline = None
        return growth
