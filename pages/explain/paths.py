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
    """The window of the receiver, if it is fixed."""

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
    if kind == "call":
        rate = max(rate, 8e6)
    rtt = draw.uniform(0.55, 0.9) if kind == "satellite" else draw.uniform(0.015, 0.15)
    bdp = rate / 8 * rtt
    buffer = max(draw.uniform(0.4, 4.0) * bdp, 8 * 1500)
    is_lossy = kind in ("loss", "receiver-loss") or (kind == "wired" and draw.random() < 0.5)
    loss = 10 ** draw.uniform(-4, -2.3) if is_lossy else 0.0
    window = max(bdp * draw.uniform(0.15, 0.6), 12_000) if kind.startswith("receiver") else 0.0
    path = {"rate": f"{rate:.0f} bps", "rtt": f"{rtt * 1e3:.3f} ms", "buffer": f"{buffer:.0f} B"}
    path |= {"loss": f"{loss * 100:.4f} %"} if loss else {}
    flow: dict[str, Any] = {"name": "main", "controller": name}
    flow |= {"call": f"{DURATION_S:.0f} s"} if kind == "call" else {"download": "400 MB"}
    flow |= {"receive_window": f"{window:.0f} B"} if window else {}
    keys: dict[str, Any] = {"title": f"{kind} {seed}", "time_limit": f"{DURATION_S} s"}
    keys |= {"path": {**path, **_of_path(kind, draw, rate)}, "flow": [{**flow, **_of_flow(kind, draw, rate)}]}
    if kind == "shared":
        rival = {"name": "rival", "controller": draw.choice(("cubic", "bbr", "c4")), "download": "400 MB"}
        keys["flow"].append({**rival, "start": f"{draw.uniform(0, 3):.2f} s", "background": True})
    return Made(kind, name, scenario_text(keys), rate, rtt, buffer, loss, window)


def _of_path(kind: str, draw: Random, rate: float) -> dict[str, Any]:
    """What else the path of a kind has."""
    if kind == "jitter":
        return {"jitter": f"{draw.uniform(0.5, 4):.2f} ms"}
    if kind == "wifi":
        return {"jitter": {"model": "wifi", "mean": f"{draw.uniform(1.5, 8):.2f} ms"}}
    if kind == "aqm":
        return {"queue": draw.choice(("fq-codel", "pie", "codel"))}
    if kind == "policer":
        policed = rate * draw.uniform(0.3, 0.7)
        return {"policer": {"rate": f"{policed:.0f} bps", "burst": f"{policed / 8 * 0.1:.0f} B"}}
    if kind not in ("outage", "blackout"):
        return {}
    begin = draw.uniform(3, 5)
    end = begin + draw.uniform(1.5, 4)
    gone, back = {"rate": "0 bps"}, {"rate": f"{rate:.0f} bps"}
    if kind == "blackout":
        gone, back = {"loss": "100 %", "up_loss": "100 %"}, {"loss": "0 %", "up_loss": "0 %"}
    return {"change": [{"at": f"{begin:.2f} s", **gone}, {"at": f"{end:.2f} s", **back}]}


def _of_flow(kind: str, draw: Random, rate: float) -> dict[str, Any]:
    """What else the application of a kind does."""
    if kind == "application":
        return {"app_rate": f"{rate * draw.uniform(0.1, 0.7):.0f} bps"}
    if kind == "chunks":
        size = rate / 8 * draw.uniform(0.3, 1.2)
        return {"chunk": f"{size:.0f} B", "think_time": f"{draw.uniform(0.5, 3):.2f} s"}
    if kind == "pauses":
        begin = draw.uniform(2, 4)
        return {"pauses": [[f"{begin:.2f} s", f"{begin + draw.uniform(2, 5):.2f} s"]]}
    return {}
