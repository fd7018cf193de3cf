"""A path and sender in a scenario that are like a file's, and draws of what the file leaves open.

The best scenario has the estimates. A draw varies each of them as far as the file allows: by the errors that
docs/evidence/explain.md measures where something was seen, over a wide range where only a bound is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.engine.scenario_text import nanoseconds, scenario_text
from thalweg.foreign.inference.flight import Flight
from thalweg.foreign.inference.idle import WHOLE, steady
from thalweg.foreign.inference.limits import APPLICATION, FLOW_CONTROL, Limits
from thalweg.foreign.inference.path import HEADERS, Path
from thalweg.foreign.reading import View

FLOW = "main"
_COLUMNS = 100
_CAPACITY_SD, _RTT_SD, _BUFFER_SD = 0.003, 0.003, 0.02
"""Relative errors of what was seen: somewhat above those that the page of evidence has."""
_WIDER = 4.0
"""What is only known from below may be so many times as much; a buffer, so many products of rate and RTT."""
RIVALS = ("cubic", "bbr", "c4")
"""What another flow may have: a file shows how much others took, and not how."""
_MOST_OF_RIVAL = 3e9
"""Bytes that it may send while the transfer lasts as long as in the file; a second of work has some 0.5 GB."""
_LIMIT_S, _LONGER = 600.0, 20.0
"""A transfer may take as long as trials do, or so many times as long as in the file."""
_LEAST_BUFFER = 8 * 1500.0
_LEAST_SHARE = 0.05
"""A limit that held a smaller share of the time is left out."""
_QUIC_HEADER = 34
"""Bytes of a packet of the model without its data: header, tag and frame (`transport/src/packet.rs`)."""
_LEAST_PAUSE_S = 0.1
_MOSTLY = 0.5
_MOST_PAUSES = 200
_EARLY = 5
"""Packets that leave before any probe of the path MTU comes back."""
_PAYLOADS = (1200, 1500)
"""Sizes of full UDP payloads that become the scenario's: others are of segmentation offload."""
_POLICED, _BURST_S = 4.0, 0.1
"""A policer shows neither what the path behind it carries, times its rate, nor its burst, in time."""


@dataclass(frozen=True)
class Draw:
    """One path that the file allows."""

    rate_bps: float
    rtt_s: float
    buffer_bytes: float
    loss: float
    rival: str = ""
    """The controller of another flow over it; none if empty."""


@dataclass(frozen=True)
class Twin:
    """The scenario of a file, up to its controller."""

    name: str
    """The connection."""
    path: Path
    best: Draw
    packets: int
    payloads: tuple[int, int] | None
    """Bytes of a full UDP payload at first, and after path MTU discovery; None for the defaults."""
    overhead: int
    download: int
    """Bytes of data that arrived."""
    duration_s: float
    """How long the file lasts."""
    application: tuple[tuple[str, Any], ...] = ()
    """Keys of the flow: what its application and its receiver held back."""

    @staticmethod
    def of(view: View, held: Limits | None, path: Path) -> Twin:
        """The twin of a sender. Raises RequestError where its file says too little."""
        rate = path.policer_bps * _POLICED if path.policer_bps else path.capacity_bps
        if not view.is_whole or not rate or not path.base_rtt_s:
            raise RequestError(
                f"{view.name}: it cannot become a scenario, which requires the packets of its sender with sizes "
                "and acknowledgements, and enough of them for a capacity"
            )
        if not path.is_capacity_seen and path.policer_bps is None:
            # Half of the range, on a scale of ratios.
            rate *= math.sqrt(_WIDER)
        bdp = rate / 8 * path.base_rtt_s
        seen = path.buffer_bytes or 0.0
        buffer = seen if path.is_buffer_seen else max(math.sqrt(_WIDER) * seen, bdp)
        is_played = path.others_bps and rate / 8 * view.duration_s < _MOST_OF_RIVAL
        rival = RIVALS[0] if is_played else ""
        best = Draw(rate, path.base_rtt_s, max(buffer, _LEAST_BUFFER), path.random_loss or 0.0, rival)
        more = _QUIC_HEADER if view.protocol == "TCP" else 0
        first, full = int(view.sent_bytes[:_EARLY].max()) + more, int(view.sent_bytes.max()) + more
        arrived = view.sent_bytes[np.isfinite(view.acked_s)].astype(float)
        data = float(np.maximum(arrived - (_QUIC_HEADER - more), 1).sum())
        if view.offered:
            # Frames that were sent count, and not what headers are here.
            data = min(data, float(view.offered.values.max()))
        keys = (*_application(view, held, data), *_receiver(view, held))
        is_usual = _PAYLOADS[0] <= first <= full <= _PAYLOADS[1]
        return Twin(
            view.name, path, best, view.sent_s.size, (first, full) if is_usual else None,
            HEADERS.get(view.protocol, 28) - more, max(1, round(data)), view.duration_s, keys,
        )  # fmt: skip

    def draws(self, count: int) -> list[Draw]:
        """Paths that the file allows, always the same."""
        random = np.random.default_rng(count)
        return [self._draw(random) for _ in range(count)]

    def _draw(self, random: np.random.Generator) -> Draw:
        known, best = self.path, self.best
        is_seen = known.is_capacity_seen
        low, high = (_POLICED**-0.5, _POLICED) if known.policer_bps else (_WIDER**-0.5, _WIDER**0.5)
        spread = math.exp(random.normal(0, _CAPACITY_SD) if is_seen else random.uniform(*np.log((low, high))))
        rate, rtt = best.rate_bps * spread, best.rtt_s * math.exp(random.normal(0, _RTT_SD))
        if known.is_buffer_seen:
            buffer = best.buffer_bytes * math.exp(random.normal(0, _BUFFER_SD))
        else:
            least = max(known.buffer_bytes or 0.0, _LEAST_BUFFER)
            most = max(_WIDER * rate / 8 * rtt, _WIDER * least)
            buffer = math.exp(random.uniform(math.log(least), math.log(most)))
        # Jeffreys' prior of a Poisson rate; without a random loss in the file, there may be none.
        lost = best.loss * self.packets
        loss = 0.0 if not lost and random.random() < 0.5 else random.gamma(lost + 0.5) / self.packets
        rival = str(random.choice(RIVALS)) if best.rival else ""
        return replace(
            best, rate_bps=rate, rtt_s=rtt, buffer_bytes=buffer, loss=min(float(loss), 0.9), rival=rival
        )

    def scenario(self, draw: Draw, controller: str) -> str:
        """The text of a scenario with this path."""
        path: dict[str, Any] = {
            "rate": f"{draw.rate_bps:.0f} bps",
            "rtt": nanoseconds(draw.rtt_s),
            "buffer": f"{draw.buffer_bytes:.0f} B",
        }
        if draw.loss:
            path["loss"] = f"{draw.loss * 100:.6f} %"
        if self.path.policer_bps:
            rate = self.path.policer_bps
            path["policer"] = {"rate": f"{rate:.0f} bps", "burst": f"{max(rate / 8 * _BURST_S, 15_000):.0f} B"}
        flow = {"name": FLOW, "controller": controller, "download": f"{self.download} B", **dict(self.application)}
        keys: dict[str, Any] = {"title": f"As {self.name}", "overhead": f"{self.overhead} B"}
        keys |= {"time_limit": f"{max(_LIMIT_S, _LONGER * self.duration_s):.0f} s", "path": path}
        if self.payloads:
            keys["transport"] = {"initial_mtu": f"{self.payloads[0]} B", "max_mtu": f"{self.payloads[1]} B"}
        return scenario_text({**keys, "flow": [flow, *self._rival(draw)]})

    def _rival(self, draw: Draw) -> list[dict[str, Any]]:
        """Another flow from when on others took a part of the capacity: one that always has something to send."""
        if not draw.rival or self.path.others_from_s is None:
            return []
        size = draw.rate_bps / 8 * max(_LIMIT_S, _LONGER * self.duration_s)
        start = nanoseconds(self.path.others_from_s)
        rival = {"name": "rival", "controller": draw.rival, "download": f"{size:.0f} B", "start": start}
        return [{**rival, "background": True}]

    def commented(self, controller: str, said: Sequence[str]) -> str:
        """The text of the best scenario under comments: `said`, and what it assumes."""
        lines = [*said, "Unknown:", *(f"- {one}." for one in self.unknown())]
        comments = "\n".join(f"# {part}" for line in lines for part in wrap(line, _COLUMNS))
        return f"{comments}\n\n{self.scenario(self.best, controller)}"

    def unknown(self) -> list[str]:
        """What the scenario assumes, as the file does not show it."""
        known = self.path
        found = []
        if known.policer_bps:
            found.append("the capacity behind the policer, and its burst: they are assumed")
        elif not known.is_capacity_seen:
            least = text(known.capacity_bps, "bps")
            found.append(f"the capacity, which was never full: at least {least}, twice that is assumed")
        if not known.is_buffer_seen:
            least = f"at least {text(known.buffer_bytes, 'B', 3)}, more" if known.buffer_bytes else "one BDP"
            found.append(f"the buffer, which never overflowed: {least} is assumed")
        if known.random_loss is None:
            found.append(f"random loss below 1 in {self.packets}: none is assumed")
        if known.others_bps:
            taken = text(known.others_bps, "bps", 3)
            rival = f"one download of {self.best.rival}" if self.best.rival else "for so long a transfer none"
            found.append(f"what others are, who took {taken} of the capacity: {rival} is assumed")
        if known.is_exceeded:
            found.append("the capacity amid jitter: it may be more")
        others = "" if known.others_bps else "other flows, "
        found.append(f"jitter, {others}and what acknowledgements meet: none is assumed")
        return found


def _application(view: View, held: Limits | None, data: float) -> list[tuple[str, Any]]:
    """What the application held back: a rate, or the times at which it had nothing."""
    if held is None or held.shares["application"] < _LEAST_SHARE:
        return []
    if sum(end - begin for begin, end in steady(view)) > WHOLE * view.duration_s:
        return [("app_rate", f"{data * 8 / view.duration_s:.0f} bps")]
    # The file begins with its first event; data leaves a round trip and a half after the start of a flow.
    rtt = float(view.rtt.values.min()) if view.rtt else 0.0
    shift = 1.5 * rtt - float(view.sent_s[0])
    spans: list[list[float]] = []
    for begin, end in zip(
        held.begins_s[held.causes == APPLICATION], held.ends_s[held.causes == APPLICATION], strict=True
    ):
        if spans and begin - spans[-1][1] < 1e-9:
            spans[-1][1] = float(end)
        else:
            spans.append([float(begin), float(end)])
    # After its last packet it has nothing to send because the transfer is over.
    last = float(view.sent_s[-1])
    spans = [one for one in spans if one[0] < last]
    long = [one for one in spans if one[1] - one[0] >= max(_LEAST_PAUSE_S, rtt)][:_MOST_PAUSES]
    pauses = [[nanoseconds(max(0.0, begin + shift)), nanoseconds(end + shift)] for begin, end in long]
    paused, idle = (sum(end - begin for begin, end in some) for some in (long, spans))
    keys: list[tuple[str, Any]] = [("pauses", pauses)] if pauses else []
    if paused < _MOSTLY * idle:
        # Waits too short to be told one by one, as between frames: what it writes between pauses, on average.
        keys.append(("app_rate", f"{data * 8 / max(last - float(view.sent_s[0]) - paused, 1e-3):.0f} bps"))
    return keys


def _receiver(view: View, held: Limits | None) -> list[tuple[str, Any]]:
    """The window of the receiver: what was in flight while flow control limited the sender, in the median."""
    if held is None or held.shares["flow-control"] < _LEAST_SHARE:
        return []
    place = np.maximum(0, np.searchsorted(held.begins_s, view.sent_s, side="right") - 1)
    flight = Flight.of(view).after_sends()[held.causes[place] == FLOW_CONTROL]
    if not flight.size:
        return []
    packet = float(view.sent_bytes.mean())
    data = 1.0 if view.protocol == "TCP" else max(0.1, 1 - _QUIC_HEADER / packet)
    return [("receive_window", f"{max(float(np.median(flight)) * data, packet):.0f} B")]
