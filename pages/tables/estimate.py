"""The suite `estimate` with every controller: the second table of its page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pages.made import DOCS, row
from thalweg.base.quantity import text
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario
from thalweg.judging.verdict import Statistics

CONTROLLERS = (
    *(
        "c4",
        "cubic",
        "reno",
        "bbr",
        "bbr1",
        "prague",
        "dctcp",
        "ledbat-pp",
        "screamv2",
        "nada",
        "gcc",
        "cbr:rate=3Mbps",
    ),
    *("noq:cubic", "noq:newreno"),
)
"""Ours, and the controllers of the QUIC stack whose trials repeat."""
SHOWN = (
    ("steady", "told-rate-error", "window"),
    ("steady", "told-rate-error", "pacing"),
    ("fall", "time-to-notice", "window"),
    ("fall", "time-to-notice", "pacing"),
    ("fall-with-little-data", "told-rate-error", "window"),
    ("fall-with-little-data", "told-rate-error", "pacing"),
    ("rise-with-little-data", "told-rate-error", "pacing"),
    ("fall-of-a-call", "told-rate-error", "media"),
    ("fall-of-a-call", "time-to-notice", "media"),
)
"""Scenario, metric and estimate of each column."""
PROBES = ("fall-of-a-small-call", "fall-of-a-padded-call", "fall-of-a-redundant-call")
"""The same call without probes and with both kinds."""
PROBED = ("c4", "cubic", "reno", "bbr", "prague", "ledbat-pp", "screamv2", "nada", "gcc")


def criteria(scenario: str, controller: str, seed: int) -> dict[str, Statistics]:
    """What the trials of a scenario say of a controller, by metric and estimate."""
    stack = [("flow.main.stack", "quic")] if controller.startswith("noq:") else []
    loaded = Scenario.load(f"estimate/{scenario}", stack, controllers={"main": controller})
    trials = loaded.trials(Suite.find("estimate").trials, seed=seed)
    return {" ".join(one.metric.split()[:3]): one for one in trials.verdict().criteria}


def section(seed: int) -> str:
    """The section of the page."""
    lines = [line for controller in CONTROLLERS for line in lines_of(controller, seed)]
    heads = [f"{scenario}: {metric} by {estimate}" for scenario, metric, estimate in SHOWN]
    return f"""## Every controller

Medians. `told-rate-error` is the share of the time, from 5 s on, in which the estimate is more than a fifth
off the capacity; `time-to-notice` is the time from the fall until it is not. `never`: not before the end. An
estimate that never changes can be right by coincidence: 40 and 60 % are the times before and after a change.
A window-based sender paces at 5/4 of its window over the RTT (RFC 9002 section 7.7), so its pacing rate is
more than a fifth above the capacity whenever its window is right.

<!-- made: controllers -->
{row("controller", *heads)}
{row(":--", *("--:" for _ in heads))}
{chr(10).join(lines)}
<!-- end -->

{probes(seed)}
{libraries()}"""


def probes(seed: int) -> str:
    """The section of calls that probe."""
    bare = [f"no probes: {what}" for what in _SAID if what != "probes"]
    heads = bare + [f"{kind}: {what}" for kind in ("padding", "redundancy") for what in _SAID]
    lines = [row(f"`{controller}`", *_probed(controller, seed)) for controller in PROBED]
    return f"""## Calls that probe

Media of 2 Mbps at most, on 8 Mbps that fall to 3, without
[probes](../../reference/scenarios.md#probes-of-a-call) and with probes of both kinds, up to 8 Mbps and at
most 75 % of what is sent. Medians: how long the estimate `media` is off, when it is right after the fall, the
bytes of probes, and the frames of 840 that never came.

<!-- made: probes -->
{row("controller", *heads)}
{row(":--", *("--:" for _ in heads))}
{chr(10).join(lines)}
<!-- end -->
"""


def libraries() -> str:
    """The section of stacks that others wrote, whose table `estimate_libraries` makes: here it stays."""
    page = DOCS / "evidence" / "suites" / "estimate.md"
    found = re.search(r"<!-- made: libraries -->\n(.*?)<!-- end -->", page.read_text(encoding="utf-8"), re.DOTALL)
    return f"""## Stacks of others

The same of shared libraries,
[built from this repository](../../how-to/stacks.md#stacks-in-the-repository), by their own controllers. A
library tells a window, an RTT and a pacing rate by `thalweg_stack_probe` as far as it knows them: `not told`
where it does not. Calls are left out, as media cannot be combined with the stack of a library.

<!-- made: libraries -->
{found[1] if found else ""}<!-- end -->
"""


_SAID = ("off", "notices", "probes", "lost frames")


def _probed(controller: str, seed: int) -> Iterator[str]:
    for name in PROBES:
        loaded = Scenario.load(f"estimate/{name}", controllers={"main": controller})
        trials = loaded.trials(Suite.find("estimate").trials, seed=seed)
        told = {one.metric: one for one in trials.verdict().criteria}
        yield cell(told["told-rate-error by media from 5 s"])
        yield cell(told["time-to-notice by media from 5 s"])
        if name != PROBES[0]:
            yield text(float(trials.flows["probe_bytes"].median()), "bytes", 3)  # type: ignore[arg-type]
        yield text(float(trials.streams["undelivered"].median() or 0.0), "", 3)  # type: ignore[arg-type]


def lines_of(controller: str, seed: int) -> list[str]:
    """The line of a controller in that table."""
    played = {name: criteria(name, controller, seed) for name in dict.fromkeys(name for name, *_ in SHOWN)}
    cells = [cell(played[scenario][f"{metric} by {estimate}"]) for scenario, metric, estimate in SHOWN]
    return [row(f"`{controller}`", *cells)]


def cell(one: Statistics) -> str:
    """The median of a criterion; `never` for what did not come before the end."""
    return text(one.median, one.unit, 3) if one.median < float("inf") else "never"
