"""Trials of the suite c4-05 for its page, each set played once."""

from __future__ import annotations

from functools import cache

import numpy as np

from thalweg import Scenario
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.results.published import Published, published

TRIALS = 100
DRAFT_05 = "c4:variant=draft-05"
MAINS = {"C4": DRAFT_05, "BBR": "bbr:variant=picoquic", "CUBIC": "cubic:variant=picoquic"}
"""Name in tables, and the controller of the reference runs."""
BUFFERS = {
    ("alone", "BBR"): "alone-30ms",
    ("wifi-bad", "BBR"): "wifi-bad-80ms",
    ("wifi-bad", "CUBIC"): "wifi-bad-80ms",
}
"""The scenario that a main flow had in the reference runs where C4 had another buffer."""
_BESIDES = {"alone-30ms", "wifi-bad-80ms", "media-backload"}


def tests() -> list[str]:
    """The 42 tests, in the order of the draft."""
    return [entry.name for entry in Suite.find("c4-05").entries if entry.name not in _BESIDES]


@cache
def played(scenario: str, controller: str) -> Outcomes:
    """The trials of a scenario whose main flow has this controller, seeds 1 to TRIALS."""
    return Scenario.load(scenario, controllers={"main": controller}).trials(TRIALS)


def as_run(test: str, main: str) -> tuple[str, str]:
    """Scenario and controller of a test as the reference runs had them for a main flow of MAINS."""
    return f"c4-05/{BUFFERS.get((test, main), test)}", MAINS[main]


@cache
def numbers(scenario: str, controller: str) -> Published:
    """What the draft publishes of a scenario."""
    return published(played(scenario, controller))


def median_s(outcomes: Outcomes) -> float:
    """The median of the time until the main flow has closed."""
    return float(np.median(outcomes.flows.filter(outcomes.flows["flow"] == "main")["closed_s"].to_numpy()))
