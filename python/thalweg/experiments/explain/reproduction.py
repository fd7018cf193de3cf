"""Whether the scenario of a file reproduces it: played, and held against the same numbers of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.base.quantity import text
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.twin import FLOW
from thalweg.foreign.reading import View
from thalweg.foreign.reading.own import of_tables
from thalweg.judging.statistics.interval import finite
from thalweg.trials.machine import ThisMachine

SEEDS = range(1, 6)
TOLERANCE = 0.1
"""Share of the number of the file."""
_LEAST_RTT_S = 1e-3


@dataclass(frozen=True)
class Numbers:
    """What a sender sees of a transfer."""

    time_s: float
    """From the first packet to the last acknowledgement."""
    rate_bps: float
    rtt_s: float
    """The median."""

    @staticmethod
    def of(view: View) -> Numbers:
        """The numbers of one view."""
        time = float(np.nanmax(view.acked_s) - view.sent_s[0]) if view.has_acks else math.nan
        arrived = float(view.sent_bytes[np.isfinite(view.acked_s)].sum())
        rtt = float(np.median(view.rtt.values)) if view.rtt else math.nan
        return Numbers(time, arrived * 8 / time if time > 0 else math.nan, rtt)


@dataclass(frozen=True)
class Reproduction:
    """The numbers of a file, and of its scenario in the median of some seeds."""

    controller: str
    file: Numbers
    scenario: Numbers

    @property
    def is_close(self) -> bool:
        """Whether the time and the RTT are within the tolerance."""
        return _near(self.file.time_s, self.scenario.time_s, 0.0) and _near(
            self.file.rtt_s, self.scenario.rtt_s, _LEAST_RTT_S
        )

    @property
    def distance(self) -> float:
        """How far the time and the RTT are from the file: the sum of their ratios in logarithms."""
        pairs = ((self.scenario.time_s, self.file.time_s), (self.scenario.rtt_s, self.file.rtt_s))
        known = [(ours, theirs) for ours, theirs in pairs if ours > 0 and theirs > 0]
        return sum(abs(math.log(ours / theirs)) for ours, theirs in known) if known else math.inf

    def sentence(self) -> str:
        """Whether it does, with all numbers."""
        parts = [
            f"{what} {text(ours, unit)} against {text(theirs, unit)} in the file"
            for what, unit, ours, theirs in (
                ("time", "s", self.scenario.time_s, self.file.time_s),
                ("mean rate", "bps", self.scenario.rate_bps, self.file.rate_bps),
                ("median RTT", "s", self.scenario.rtt_s, self.file.rtt_s),
            )
        ]
        verdict = "reproduces it" if self.is_close else "does not reproduce it"
        return f"The scenario {verdict} with {self.controller}: {', '.join(parts)}."

    def document(self) -> dict[str, Any]:
        """As JSON."""
        numbers = {
            name: {key: finite(value) for key, value in vars(one).items()}
            for name, one in (("file", self.file), ("scenario", self.scenario))
        }
        return {"controller": self.controller, "reproduces": self.is_close, **numbers}


def reproduction(view: View, scenario: Scenario) -> Reproduction:
    """Plays the scenario of a view."""
    played = ThisMachine().each(scenario, list(SEEDS), _numbers)
    rows = np.asarray([[one.time_s, one.rate_bps, one.rtt_s] for one in played])
    time, rate, rtt = (float(value) for value in np.median(rows, axis=0))
    return Reproduction(str(scenario.flows[0]["controller"]), Numbers.of(view), Numbers(time, rate, rtt))


def _numbers(trial: Trial) -> Numbers:
    assert trial.trace is not None, "asked for"
    views = of_tables(trial.trace.flows, trial.trace.packets, logged=False)
    return Numbers.of(next(view for view in views if view.name == FLOW))


def _near(file: float, scenario: float, least: float) -> bool:
    return abs(scenario - file) <= max(TOLERANCE * file, least)
