"""A trial in real time, told while it runs: what crosses the links of the emulator, and how long it waits there.

Reports of the emulator are sums since its start. Reported are the sums of the link towards the clients, ten times
a second; the page draws their differences. Whether this machine can is known when it has tried: Linux, with the
right to make network namespaces and TUN devices.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.outcome import Trial
from thalweg.realtime import LiveScenario
from thalweg.realtime.report import reasons

TOLD_EVERY_S = 0.1
_TOLD = (
    "offered_packets",
    "delivered_packets",
    "delivered_bytes",
    "dropped_packets",
    "mean_queue_delay_s",
)

OnReport = Callable[[Mapping[str, float]], None]


def run_live(
    native: _native.Scenario, name: str, resolver: Resolver, seed: int, tell: OnReport
) -> tuple[Trial, str]:
    """Runs it; returns the trial with its trace, and how faithful the run was. Raises ThalwegError."""
    scenario = LiveScenario(native, name, None, resolver)
    # A page may have a scenario from a stranger, and a stranger's commands would have all rights of the lab.
    if scenario.has_programs:
        raise RequestError(f"{name}: [flow.command] cannot be run from a page; use thalweg run --live")
    begin = time.monotonic()

    def hear(report: Mapping[str, Any]) -> None:
        link = next(link for link in report["links"] if link["name"] == "down")
        duration_s = float(report.get("duration_s", time.monotonic() - begin))
        tell({"time_s": duration_s, **{key: link[key] for key in _TOLD}})

    live = scenario.run(seed, trace=True, on_statistics=hear, every_s=TOLD_EVERY_S)
    said = "; ".join(reasons(live.report))
    return live.trial, f"not faithful to the scenario: {said}" if said else "faithful to the scenario"
