"""The suite `wifi` with six controllers: the second table of its page."""

from __future__ import annotations

from pages.made import row
from thalweg.engine.scenario import Scenario
from thalweg.judging.measures import METRICS
from thalweg.judging.statistics.digits import bracketed
from thalweg.judging.verdict import judge

CONTROLLERS = ("c4", "cubic", "reno", "prague", "bbr", "bbr1")
TRIALS = 100
DOWNLOADS = ("jitter-by-packet", "jitter-in-time", "home", "apartment", "office", "hidden", "scan")
"""Downloads of 10 MB."""


def section(seed: int) -> str:
    """The section of the page."""
    lines = [line for scenario in DOWNLOADS for line in lines_of(scenario, seed)]
    return f"""## Six controllers

Completion of the 10 MB: medians of {TRIALS} trials, with intervals of 95 %. The first two lines have the same
distribution of delays; in the first each packet draws its own, in the second they change every 20 ms. The
others have stations that contend for the channel. None of these shows the gap between BBR and C4 of the first
line: it follows from the draws, as the second line shows. Limits: the presets are ours, and a harder medium
than these may rank controllers in another way.

<!-- made: controllers -->
{row("scenario", *(f"`{name}`" for name in CONTROLLERS))}
{row(":--", *("--:" for _ in CONTROLLERS))}
{chr(10).join(lines)}
<!-- end -->
"""


def lines_of(scenario: str, seed: int) -> list[str]:
    """The line of a scenario in that table."""
    return [row(scenario, *(_completion(scenario, controller, seed) for controller in CONTROLLERS))]


def _completion(scenario: str, controller: str, seed: int) -> str:
    outcomes = Scenario.load(f"wifi/{scenario}", controllers={"main": controller}).trials(TRIALS, seed=seed)
    asked = [METRICS["completion"].criterion("main")]
    (found,) = judge(asked, outcomes.flows, outcomes.streams, outcomes.scenario.starts_s).criteria
    return bracketed(found.median_interval, found.unit)
