"""The base class of controllers in Python, with the events and the decision of the Rust trait `Controller`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from thalweg._native import Ack, EcnCounts, Init, Lost, Path, Report, RttSample, Sent, SpuriousLoss, Timeout


class Controller:
    """A congestion control algorithm bound to one end of one connection.

    While it processes one ACK frame, the transport calls, in this order: `on_spurious_loss`, `on_ecn`, `on_rtt`,
    `on_seed` (at the first RTT sample only), `on_lost` once for each packet newly declared lost, then `on_ack`
    once. After each call it reads the decision: `window`, `pacing`, `quantum` and `startup_done`.

    What a handler may know comes from its arguments: no clock, no file, no random numbers but `path.random()`.
    A handler that a class does not define costs nothing. Arguments of the constructor after `init` are options:
    `./mine.py:Mine:beta=0.8`. Their types (`float`, `int`, `bool`, `str`, `Literal`) are checked.
    """

    window: float
    """Congestion window in bytes: the transport sends while no more than this is in flight."""
    pacing: float | None = None
    """Pacing rate in bits per second; None leaves pacing to the transport (RFC 9002 section 7.7)."""
    quantum: float | None = None
    """The most bytes that may leave in one burst; None for the initial window."""
    startup_done: bool = False
    """Whether the start-up phase is over. It steers only the acknowledgement frequency that is requested."""
    ecn: Literal["ect0", "ect1", "none"] | None = None
    """What packets carry; None for "ect0" if the class defines `on_ecn` or `on_report`, where it hears of marks,
    and else for "none". It is read once, when the controller has been made."""
    report_every: ClassVar[str | None] = None
    """How often `on_report` is called: "1 rtt" (smoothed), or a time such as "10 ms"."""
    senders_only: ClassVar[bool] = False
    """Whether only ends that send data are controlled: in virtual time, the other end keeps its initial window."""

    def __init__(self, init: Init) -> None:
        """Starts with the initial window of the transport. Constructors with options need not call it."""
        self.window = init.initial_window

    def on_handshake_rtt(self, path: Path) -> None:
        """The handshake gave the first RTT sample; no application data has left yet, unless by 0-RTT."""

    def on_sent(self, event: Sent, path: Path) -> None:
        """A packet left."""

    def on_ack(self, event: Ack, path: Path) -> None:
        """One ACK frame newly acknowledged one or more packets."""

    def on_lost(self, event: Lost, path: Path) -> None:
        """One packet was declared lost."""

    def on_timeout(self, event: Timeout, path: Path) -> None:
        """A probe timeout fired (RFC 9002 section 6.2). This by itself means no loss."""

    def on_spurious_loss(self, event: SpuriousLoss, path: Path) -> None:
        """A packet that was declared lost, or that a probe timeout had fired for, arrived after all."""

    def on_ecn(self, event: EcnCounts, path: Path) -> None:
        """An ACK frame reported more CE marks than before."""

    def on_rtt(self, event: RttSample, path: Path) -> None:
        """A new round-trip time sample; the smoothed values of the path include it."""

    def on_app_limited(self, path: Path) -> None:
        """The sender has run out of data although window and pacing would let it send."""

    def on_idle_restart(self, path: Path) -> None:
        """Data is about to leave after an idle period with nothing in flight."""

    def on_seed(self, window: int, path: Path) -> None:
        """A window in bytes remembered from an earlier connection over the same path (careful resume)."""

    def on_report(self, report: Report, path: Path) -> None:
        """Sums since the last report, every `report_every`, after the ACK or timeout that makes it due."""

    def observe(self) -> Mapping[str, float | str | None]:
        """Variables for traces and figures by name; `"state"` is a text. It steers nothing."""
        return {}


HANDLERS = (*(name for name in vars(Controller) if name.startswith("on_")), "observe")
"""The methods that a class may define."""
