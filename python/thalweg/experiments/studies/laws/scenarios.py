"""The parts of the scenarios of the study, as keys of scenario files.

Flow control is wide open, so that only the controller limits a flow; everything else is the default, the rules
of the RFCs for the modelled endpoint among it. Flows start up to a round trip late, redrawn in each trial.
"""

from __future__ import annotations

from typing import Any

from thalweg.engine.scenario_text import nanoseconds

PACKET = 1440
"""Bytes of a full packet as windows count them: the UDP payload after path MTU discovery."""
WIRE = PACKET + 28
"""Bytes of the same on a link: with IP and UDP headers."""
INITIAL_WINDOW = 10 * WIRE
"""The initial window of RFC 9002 section 7.2 on a link: the least buffer, so that a path takes the first
flight."""


def header(name: str, duration_s: float, rtt_s: float, sample_s: float | None = None) -> dict[str, Any]:
    """What every scenario begins with."""
    return {
        "title": name,
        "sample": nanoseconds(sample_s) if sample_s else None,
        "time_limit": nanoseconds(duration_s),
        "noise": {"start": nanoseconds(rtt_s)},
        "transport": {"initial_max_data": "4 GiB", "initial_max_stream_data": "4 GiB"},
    }


def path(
    rate_bps: float, rtt_s: float, buffer: str, queue: str = "drop-tail", loss: float = 0.0
) -> dict[str, Any]:
    """The path. Loss is only in the direction of the data: acknowledgements arrive."""
    keys: dict[str, Any] = {
        "rate": f"{rate_bps:.0f} bps",
        "rtt": nanoseconds(rtt_s),
        "buffer": buffer,
        "queue": {"model": queue},
    }
    if loss:
        keys["loss"] = {"model": "random", "rate": f"{loss:.9f}"}
        keys["up"] = {"loss": {"model": "random", "rate": "0"}}
    return {"path": keys}


def bulk(name: str, controller: str, stack: str) -> dict[str, Any]:
    """A flow that always has data."""
    return {
        "name": name,
        "controller": controller,
        "stack": stack,
        "download": "100000 GB",
        "background": True,
    }
