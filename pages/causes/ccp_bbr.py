"""BBR of the Congestion Control Plane, for one line of a table: without Startup, Drain and a window of rates.

After its first round trip it paces by the largest delivery rate so far, at 5/4, 3/4 and 1 of it for 1, 1 and 6
minimum round trips (source: ccp-project/bbr, src/lib.rs, whose README calls it a simplified implementation). So
it starts at what the initial window delivers in a round trip, and gains at most a quarter in eight round trips.
Decisions change on acknowledgements, as CCP's programs run on them. A minimum RTT of 10 s is measured again,
with four packets for 200 ms.

Limits: CCP's messages to user space take no time here.
"""

from __future__ import annotations

from thalweg.engine.controllers import Ack, Controller, Init, Path

_LEAST_RTT_S, _LEAST_RATE_BPS = 1.0, 1e6
"""Before anything is measured."""
_RTT_WINDOW_S, _PROBE_RTT_S, _PROBE_RTT_PACKETS = 10.0, 0.2, 4


class CcpBbr(Controller):
    """BBR of CCP."""

    def __init__(self, init: Init) -> None:
        self.window = init.initial_window
        self.rate, self.min_rtt = _LEAST_RATE_BPS, _LEAST_RTT_S
        self.state = "first round trip"
        self.begun = self.rtt_since = init.now
        self.cycle_rtt = self.cycle_rate = 0.0
        self.is_quiet = True

    def on_ack(self, event: Ack, path: Path) -> None:
        """Runs the program of the present state."""
        if self.is_quiet:  # the clock of a program starts with its first packets
            self.begun, self.is_quiet = path.now - path.latest_rtt, False
        rtt = path.latest_rtt
        self.cycle_rtt = min(self.cycle_rtt or rtt, rtt)
        self.cycle_rate = max(self.cycle_rate, path.delivery_rate)
        elapsed = path.now - self.begun
        if self.state == "ProbeRTT":
            if elapsed > _PROBE_RTT_S and path.bytes_in_flight <= _PROBE_RTT_PACKETS * path.mtu:
                self.min_rtt, self.rtt_since = self.cycle_rtt, path.now
                self._probe(path)
        elif self.state == "first round trip":
            if elapsed > self.cycle_rtt and self._report(path):
                self._probe(path)
        elif self.state == "up" and elapsed > self.cycle_rtt:
            self._phase("down", 0.75, path)
        elif self.state == "down" and elapsed > 2 * self.cycle_rtt:
            self._phase("cruise", 1.0, path)
        elif self.state == "cruise" and elapsed > 8 * self.cycle_rtt and self._report(path):
            self._probe(path)

    def _phase(self, state: str, gain: float, path: Path) -> None:
        self.state, self.pacing = state, gain * self.rate
        self._report(path)

    def _probe(self, path: Path) -> None:
        self.state, self.begun = "up", path.now
        self.pacing = 1.25 * self.rate
        self.window = max(2 * self.rate / 8 * self.min_rtt, _PROBE_RTT_PACKETS * path.mtu)

    def _report(self, path: Path) -> bool:
        """Takes over what was measured since the last report; False if the minimum RTT is measured again now."""
        if self.cycle_rtt < self.min_rtt:
            self.min_rtt, self.rtt_since = self.cycle_rtt, path.now
        self.rate = max(self.rate, self.cycle_rate)
        self.cycle_rtt = self.cycle_rate = 0.0
        if path.now - self.rtt_since <= _RTT_WINDOW_S:
            return True
        self.state, self.begun, self.window = "ProbeRTT", path.now, _PROBE_RTT_PACKETS * path.mtu
        return False

    def observe(self) -> dict[str, float | str | None]:
        """For traces."""
        return {"state": self.state, "rate": self.rate}
