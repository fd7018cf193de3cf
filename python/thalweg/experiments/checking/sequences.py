"""Random sequences of events for a controller in Python, without a path that explains them.

A sequence sends packets as the window allows, and then draws what happens to them: they are acknowledged in any
order, lost, declared lost by mistake, marked; time passes, up to five seconds at once; data runs out; the packet
size grows. The state of the path stays consistent with the events, and come in the order of
`thalweg.Controller`. After each handler must hold:

- it has raised nothing;
- window, pacing rate and quantum are finite numbers, the rate and the quantum not zero;
- the window is two packets or more (RFC 9002 section 7.2, kMinimumWindow), of their size at the start.

Events are stand-ins with the attributes of the simulator's events. Limits: at most 200 packets are in flight; a
handler that takes for ever is stopped only by Ctrl-C.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from thalweg.engine.controllers.definition import Definition, of_file
from thalweg.engine.controllers.source import place, raised

_EVENTS = 150
_FLIGHT = 200
_MTU = 1252


@dataclass(frozen=True)
class BrokenSequence:
    """What did not hold in a sequence, and the events before."""

    number: int
    what: str
    events: tuple[str, ...]
    """The last of them, in words."""


def check_sequences(text: str, seed: int = 1, n: int = 100) -> Iterator[BrokenSequence | None]:
    """Plays so many sequences to the controller of a text; of each, what did not hold. Raises RequestError."""
    definition = of_file(text)
    for number in range(n):
        yield _Sequence(definition, number, random.Random(f"{seed}/{number}")).play()


class _Violation(Exception):  # noqa: N818 - it ends a sequence
    """A rule is broken."""


@dataclass
class _Sequence:
    definition: Definition
    number: int
    draw: random.Random
    events: list[str] = field(default_factory=list)
    sent: dict[int, SimpleNamespace] = field(default_factory=dict)
    """What is remembered of the packets in flight."""
    gone: dict[int, SimpleNamespace] = field(default_factory=dict)
    """Packets that were declared lost."""

    def play(self) -> BrokenSequence | None:
        """Plays it to its end, or until a rule is broken."""
        try:
            self._begin()
            common = (self._fill, self._fill, self._ack, self._ack, self._ack_all, self._lose)
            for _ in range(_EVENTS):
                self.draw.choice((*common, *self._rare))()
        except _Violation as broken:
            return BrokenSequence(self.number, str(broken), tuple(self.events[-5:]))
        return None

    @property
    def _rare(self) -> tuple[Any, ...]:
        return (
            self._timeout,
            self._spurious,
            self._mark,
            self._wait,
            self._run_dry,
            self._grow_packets,
            self._report,
        )

    def _begin(self) -> None:
        counts = SimpleNamespace(ect0=0, ect1=0, ce=0, largest_acked=0, total=0)
        self.path = SimpleNamespace(
            now=self.draw.uniform(0, 10),
            mtu=_MTU,
            smoothed_rtt=0.333,
            rtt_var=0.1665,
            min_rtt=0.0,
            latest_rtt=0.0,
            bytes_in_flight=0,
            delivered=0,
            lost=0,
            delivery_rate=0.0,
            peak_rate=0.0,
            next_packet=0,
            largest_acked=None,
            lowest_unacked=0,
            ecn=counts,
            established=True,
            window_limited=False,
            app_limited=False,
            last_idle=0.0,
            newest_acked_data_sent=0.0,
            random=self.draw.random,
        )
        init: Any = SimpleNamespace(now=self.path.now, mtu=_MTU, initial_window=10 * _MTU)
        self.controller = self._calling("__init__", lambda: self.definition.make(init))
        self._check("__init__")
        if self.draw.random() < 0.5:
            self._take_rtt(10 ** self.draw.uniform(-4, 0))
            self._tell("on_handshake_rtt", self.path)

    def _calling(self, method: str, call: Any) -> Any:
        try:
            return call()
        except Exception as error:
            source = self.definition.source
            where = place(error, source.file if source else Path())
            raise _Violation(f"{where}: {raised(error)} (in {method})") from None

    def _tell(self, handler: str, *arguments: Any) -> None:
        """Calls a handler if the class defines it, and checks the decision."""
        self.events.append(f"{handler} at {self.path.now:.3f} s")
        if handler in self.definition.handlers:
            self._calling(handler, lambda: getattr(self.controller, handler)(*arguments))
            self._check(handler)

    def _check(self, handler: str) -> None:
        where = f"{self.definition.line_of(handler)}: after {handler} "
        window, pacing, quantum = (self._number(handler, name, where) for name in ("window", "pacing", "quantum"))
        assert window is not None
        if window < 2 * _MTU:
            needed = f"two packets ({2 * _MTU}) or more"
            raise _Violation(f"{where}the window is {window:.0f} bytes; accepted: {needed}")
        if pacing is not None and pacing <= 0:
            raise _Violation(f"{where}the pacing rate is {pacing:g}; accepted: more than 0, or None")
        if quantum is not None and quantum < _MTU:
            raise _Violation(f"{where}the quantum is {quantum:g}; accepted: a packet ({_MTU}) or more")

    def _number(self, handler: str, name: str, where: str) -> float | None:
        """A part of the decision, as a trial reads it: what has a float; None if it is left to the transport."""
        value = self._calling(handler, lambda: getattr(self.controller, name, None))
        if value is None and name != "window":
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number) or number < 0:
            raise _Violation(f"{where}{name} is {value!r:.60}; accepted: a finite number, 0 or more")
        return number

    def _fill(self) -> None:
        """Packets leave as the window allows."""
        for _ in range(self.draw.randint(1, _FLIGHT)):
            path = self.path
            if path.bytes_in_flight + path.mtu > self.controller.window or len(self.sent) >= _FLIGHT:
                break
            prior = path.bytes_in_flight
            path.bytes_in_flight += path.mtu
            self.sent[path.next_packet] = SimpleNamespace(
                sent=path.now,
                in_flight_at_send=path.bytes_in_flight,
                delivered_at_send=path.delivered,
                lost_at_send=path.lost,
                app_limited=path.app_limited,
                window_limited=path.bytes_in_flight + path.mtu > self.controller.window,
                size=path.mtu,
            )
            event = SimpleNamespace(
                packet=path.next_packet, size=path.mtu, prior_in_flight=prior, was_idle=prior == 0
            )
            path.next_packet += 1
            self._tell("on_sent", event, path)
        self.path.window_limited = self.path.bytes_in_flight + self.path.mtu > self.controller.window

    def _snapshot(self, of: SimpleNamespace) -> SimpleNamespace:
        since = {
            "delivered_since_sent": self.path.delivered - of.delivered_at_send,
            "lost_since_sent": max(0, self.path.lost - of.lost_at_send),
        }
        return SimpleNamespace(**vars(of), **since)

    def _ack(self) -> None:
        if self.sent:
            self._acknowledge(self.draw.sample(sorted(self.sent), self.draw.randint(1, min(8, len(self.sent)))))

    def _ack_all(self) -> None:
        self._acknowledge(list(self.sent))

    def _acknowledge(self, packets: list[int], marked: int = 0) -> None:
        if not packets:
            return
        path, largest = self.path, max(packets)
        path.now += 10 ** self.draw.uniform(-5, 0)
        prior, newest = path.bytes_in_flight, self.sent[largest]
        size = sum(self.sent[packet].size for packet in packets)
        for packet in packets:
            del self.sent[packet]
        path.bytes_in_flight -= size
        path.largest_acked = max(path.largest_acked or 0, largest)
        path.lowest_unacked = min(self.sent, default=path.next_packet)
        path.newest_acked_data_sent = max(path.newest_acked_data_sent, newest.sent)
        path.ecn.ect0 += len(packets) - marked
        path.ecn.total += len(packets)
        if marked:
            path.ecn.ce += marked
            path.ecn.largest_acked = largest
            self._tell("on_ecn", path.ecn, path)
        rtt = path.now - newest.sent
        self._take_rtt(rtt)
        self._tell("on_rtt", SimpleNamespace(rtt=rtt, raw=rtt), path)
        path.delivered += size
        interval = max(rtt, 1e-6)
        rate_bps = (path.delivered - newest.delivered_at_send) * 8 / interval
        path.delivery_rate, path.peak_rate = rate_bps, max(path.peak_rate, rate_bps)
        rate = SimpleNamespace(delivered=size, interval=interval, rate=rate_bps, app_limited=newest.app_limited)
        snapshot = self._snapshot(newest)
        underused = snapshot.app_limited and not snapshot.window_limited and not path.window_limited
        event = SimpleNamespace(
            largest=largest,
            newly_acked=size,
            newly_acked_packets=len(packets),
            newly_lost=0,
            lost_ranges=0,
            rtt=rtt,
            snapshot=snapshot,
            rate=self.draw.choice((rate, None)),
            prior_in_flight=prior,
            window_was_underused=lambda _: underused,
        )
        self._tell("on_ack", event, path)

    def _take_rtt(self, rtt: float) -> None:
        path = self.path
        path.latest_rtt = rtt
        if not path.min_rtt:
            path.min_rtt = path.smoothed_rtt = rtt
            path.rtt_var = rtt / 2
            return
        path.min_rtt = min(path.min_rtt, rtt)
        path.rtt_var = 0.75 * path.rtt_var + 0.25 * abs(path.smoothed_rtt - rtt)
        path.smoothed_rtt = 0.875 * path.smoothed_rtt + 0.125 * rtt

    def _lose(self) -> None:
        for packet in self.draw.sample(sorted(self.sent), self.draw.randint(0, min(5, len(self.sent)))):
            of = self.sent.pop(packet)
            self.gone[packet] = of
            self.path.bytes_in_flight -= of.size
            self.path.lost += of.size
            event = SimpleNamespace(
                packet=packet,
                size=of.size,
                snapshot=self._snapshot(of),
                persistent_congestion=self.draw.random() < 0.1,
            )
            self._tell("on_lost", event, self.path)

    def _timeout(self) -> None:
        if self.sent:
            packet = min(self.sent)
            event = SimpleNamespace(
                count=self.draw.randint(1, 6), packet=packet, snapshot=self._snapshot(self.sent[packet])
            )
            self._tell("on_timeout", event, self.path)

    def _spurious(self) -> None:
        if self.gone:
            packet = self.draw.choice(sorted(self.gone))
            of = self.gone.pop(packet)
            self.path.lost -= of.size
            event = SimpleNamespace(packet=packet, size=of.size, sent=of.sent, timeout_only=False)
            self._tell("on_spurious_loss", event, self.path)

    def _mark(self) -> None:
        if self.sent:
            self._acknowledge([self.draw.choice(sorted(self.sent))], marked=1)

    def _wait(self) -> None:
        self.path.now += self.draw.uniform(0, 5)
        if not self.sent:
            self._tell("on_idle_restart", self.path)

    def _run_dry(self) -> None:
        self.path.app_limited = not self.path.app_limited
        if self.path.app_limited:
            self.path.last_idle, self.path.window_limited = self.path.now, False
            self._tell("on_app_limited", self.path)

    def _grow_packets(self) -> None:
        self.path.mtu = max(self.path.mtu, self.draw.choice((1252, 1440, 9000)))

    def _report(self) -> None:
        if self.definition.report_every is None:
            return
        rtt, elapsed = self.path.latest_rtt or None, 10 ** self.draw.uniform(-4, 1)
        delivered, sent = (self.draw.choice((0, self.path.mtu, self.path.delivered)) for _ in range(2))
        event = SimpleNamespace(
            elapsed=elapsed,
            delivered=delivered,
            sent=sent,
            lost=self.draw.choice((0, self.path.mtu)),
            marked=self.draw.choice((0, 3)),
            timeouts=self.draw.choice((0, 0, 1)),
            min_rtt=rtt,
            mean_rtt=rtt,
            max_rtt=rtt,
            delivery_rate=delivered * 8 / elapsed,
            send_rate=sent * 8 / elapsed,
            max_delivery_rate=self.path.delivery_rate,
            app_limited=self.path.app_limited,
        )
        self._tell("on_report", event, self.path)
