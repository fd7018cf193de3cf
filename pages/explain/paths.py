"""Random paths and senders, each of a kind that one thing limits most of the time."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text

CONTROLLERS = ("cubic", "reno", "bbr", "bbr1", "c4", "cubic:start=classic", "ledbat-pp", "reno:variant=picoquic")
DURATION_S = 12.0


@dataclass(frozen=True)
class Made:
    """A scenario, and what its path is."""

    kind: str
    controller: str
    text: str
    rate_bps: float
    rtt_s: float
    buffer_bytes: float
    loss: float
    window_bytes: float = 0.0
    """Of the receiver, if it is fixed."""

    def scenario(self) -> Scenario:
        """To be run."""
        return Scenario.from_toml(self.text, self.kind)


KINDS = (
    "bulk", "loss", "application", "chunks", "pauses", "call", "receiver", "receiver-loss", "outage", "blackout",
    "satellite", "shared", "jitter", "policer",
)  # fmt: skip


def make(kind: str, seed: int, controller: str | None = None) -> Made:
    """One scenario of a kind."""
    draw = Random(f"{kind} {seed}")
    name = controller or draw.choice(CONTROLLERS)
    rate = 10 ** draw.uniform(0.5, 1.8) * 1e6
    rtt = draw.uniform(0.015, 0.15)
    if kind == "satellite":
        rtt = draw.uniform(0.55, 0.9)
    depth = draw.uniform(0.4, 4.0)
    bdp = rate / 8 * rtt
    buffer = max(depth * bdp, 8 * 1500)
    loss = 10 ** draw.uniform(-4, -2.3) if kind in ("loss", "receiver-loss") else 0.0
    path: dict[str, Any] = {"rate": f"{rate:.0f} bps", "rtt": f"{rtt * 1e3:.3f} ms", "buffer": f"{buffer:.0f} B"}
    if loss:
        path["loss"] = f"{loss * 100:.4f} %"
    if kind == "jitter":
        path["jitter"] = f"{draw.uniform(0.5, 4):.2f} ms"
    flow: dict[str, Any] = {"name": "main", "controller": name, "download": "4 GB"}
    keys: dict[str, Any] = {"title": f"{kind} {seed}", "time_limit": f"{DURATION_S} s"}
    keys |= {"path": path, "flow": [flow]}
    window = 0.0
    if kind == "application":
        flow["app_rate"] = f"{rate * draw.uniform(0.1, 0.7):.0f} bps"
    elif kind == "chunks":
        flow["chunk"] = f"{rate / 8 * draw.uniform(0.3, 1.2):.0f} B"
        flow["think_time"] = f"{draw.uniform(0.5, 3):.2f} s"
    elif kind == "pauses":
        begin = draw.uniform(2, 4)
        flow["pauses"] = [[f"{begin:.2f} s", f"{begin + draw.uniform(2, 5):.2f} s"]]
    elif kind == "call":
        del flow["download"]
        flow["call"] = f"{DURATION_S:.0f} s"
        path["rate"] = f"{max(rate, 8e6):.0f} bps"
        rate = max(rate, 8e6)
    elif kind.startswith("receiver"):
        window = max(bdp * draw.uniform(0.15, 0.6), 12_000)
        flow["receive_window"] = f"{window:.0f} B"
    elif kind in ("outage", "blackout"):
        begin = draw.uniform(3, 5)
        end = begin + draw.uniform(1.5, 4)
        out, back = ("rate", f"{rate:.0f} bps") if kind == "outage" else ("loss", "0 %")
        gone = "0 bps" if kind == "outage" else "100 %"
        more = {"up_loss": gone} if kind == "blackout" else {}
        less = {"up_loss": "0 %"} if kind == "blackout" else {}
        path["change"] = [{"at": f"{begin:.2f} s", out: gone, **more}, {"at": f"{end:.2f} s", out: back, **less}]
    elif kind == "shared":
        rival = {"name": "rival", "controller": draw.choice(("cubic", "bbr", "c4")), "download": "4 GB"}
        keys["flow"].append({**rival, "start": f"{draw.uniform(0, 3):.2f} s", "background": True})
    elif kind == "policer":
        policed = rate * draw.uniform(0.3, 0.7)
        path["policer"] = {"rate": f"{policed:.0f} bps", "burst": f"{policed / 8 * 0.1:.0f} B"}
    return Made(kind, name, scenario_text(keys), rate, rtt, buffer, loss, window)
