"""Copa in its default mode (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet",
NSDI 2018, sections 2 and 2.1).

The target rate is 1 / (delta x queueing delay) packets per second. The standing RTT is the smallest of the last half of a
smoothed RTT. Limits: no competitive mode, in which Copa would raise its share against flows that fill buffers.
"""

from collections import deque

import thalweg


class Copa(thalweg.Controller):
    """`delta`: 1 / packets that each flow keeps in the queue on average."""

    def __init__(self, init, delta: float = 0.5):
        self.delta = delta
        self.window = init.initial_window
        self.samples = deque()  # (time, RTT), RTTs rising: the first is the smallest
        self.least = deque()
        self.velocity, self.direction = 1.0, 0
        self.round_end, self.round_window, self.same = 0, self.window, 0
        self.slow_start = True

    def on_ack(self, event, path):
        if event.rtt is None:
            return
        standing = _least(self.samples, path.now, event.rtt, path.smoothed_rtt / 2)
        queueing = standing - _least(self.least, path.now, event.rtt, 10.0)
        rate = self.window / path.mtu / standing  # packets per second
        below = queueing <= 0 or rate <= 1 / (self.delta * queueing)
        if event.window_was_underused(path):
            return
        if self.slow_start and below:
            self.window += event.newly_acked
        else:
            self.slow_start = False
            step = self.velocity * event.newly_acked * path.mtu / (self.delta * self.window)
            self.window += step if below else -step
            self.window = max(self.window, 2 * path.mtu)
        if event.largest >= self.round_end:
            self.end_round(path)
        self.pacing = 2 * self.window * 8 / standing
        self.startup_done = not self.slow_start

    def end_round(self, path):
        """The velocity doubles once the window has moved one way for three round trips (section 2.2)."""
        direction = 1 if self.window > self.round_window else -1
        self.same = self.same + 1 if direction == self.direction else 0
        self.velocity = self.velocity * 2 if self.same >= 3 else 1.0
        self.direction, self.round_window, self.round_end = direction, self.window, path.next_packet

    def on_lost(self, event, path):
        if event.persistent_congestion:
            self.window = 2 * path.mtu

    def observe(self):
        return {"state": "slow start" if self.slow_start else "steady", "velocity": self.velocity}


def _least(samples, now, rtt, span):
    """The smallest sample of the last `span` seconds, this one included."""
    while samples and samples[-1][1] >= rtt:
        samples.pop()
    samples.append((now, rtt))
    while samples[0][0] < now - span:
        samples.popleft()
    return samples[0][1]
