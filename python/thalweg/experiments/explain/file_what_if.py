"""How a transfer of a file would have gone with other controllers: its twin, played with draws of its path.

Each draw is a path that the file allows, with a seed of its own, and all controllers play it. Of 39 draws the
second smallest and the second largest bound another one with a probability of 36/40 = 90 %, and the extremes with
38/40 = 95 %, whatever the distribution (Wilks, Annals of Mathematical Statistics 12, 1941).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.executor import Batch, Executor, Failed, Finished
from thalweg.base.quantity import text
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.reproduction import TOLERANCE
from thalweg.experiments.explain.twin import FLOW, Twin
from thalweg.foreign.reading.view import Floats
from thalweg.judging.answer import Answer, Comparison
from thalweg.judging.measures import METRICS
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.quantiles import median
from thalweg.judging.thresholds import DEFAULTS
from thalweg.trials.machine import ThisMachine

DRAWS = 39
HEADERS = ("controller", "completion", "90 % of draws", "RTT", "90 % of them", "completion is")


@dataclass(frozen=True)
class Swap:
    """What a controller does with the twin of a transfer."""

    controller: str
    completion_s: Floats
    """From the start of the flow; infinite if it does not end within the time limit. One entry for each draw."""
    rtt_s: Floats
    is_own: bool
    """Whether it is the controller of the sender."""
    comparison: Comparison | None
    """Its completion over the completion with the sender's own controller, of the same draws."""

    def cells(self) -> tuple[str, ...]:
        """For a table, under `HEADERS`."""
        numbers = []
        for values in (self.completion_s, self.rtt_s):
            found = expected(values)
            numbers += [text(found.value, "s", 4), f"{text(found.low, 's', 4)} to {text(found.high, 's', 4)}"]
        answer = self.comparison.answer if self.comparison else "-"
        return (self.controller, *numbers, "its own" if self.is_own else answer)

    def sentence(self) -> str:
        """For the page, in one line."""
        found = expected(self.completion_s)
        took = f"{text(found.value, 's')} ({text(found.low, 's')} to {text(found.high, 's')} in 90 % of draws)"
        answer = (
            f": {self.comparison.answer}" if self.comparison else ", its own controller" if self.is_own else ""
        )
        return f"With {self.controller}, the transfer takes {took} in its twin{answer}."

    def document(self) -> dict[str, Any]:
        """As JSON."""
        numbers = {}
        for name, values in (("completion", self.completion_s), ("rtt", self.rtt_s)):
            found = expected(values)
            column = METRICS[name].column
            numbers[column] = {"median": finite(found.value), "interval90": found.document()}
        comparison = self.comparison.document() if self.comparison else None
        return {"controller": self.controller, "is_own": self.is_own, **numbers, "comparison": comparison}


def doubt(own: Swap, took_s: float) -> str:
    """Why its answers may not hold; empty if its own controller takes as long in the twin as in the file.

    A tenth is what `reproduction` allows too, beyond the draws.
    """
    found = expected(own.completion_s)
    if (1 - TOLERANCE) * found.low <= took_s <= (1 + TOLERANCE) * found.high:
        return ""
    return (
        f"Do not rely on it: with its own controller the twin takes {text(found.value, 's')}, where the file has "
        f"{text(took_s, 's')}. Something was not inferred, such as other flows."
    )


def expected(values: Floats) -> Interval:
    """The median of draws, and what bounds another draw with 90 %."""
    known = np.sort(np.where(np.isnan(values), math.inf, values))
    outside = max(0, round(0.05 * (known.size + 1)) - 1)
    return Interval(median(known), float(known[outside]), float(known[known.size - 1 - outside]), known.size)


def swaps(
    twin: Twin, own: str | None, controllers: Sequence[str], count: int = DRAWS, executor: Executor | None = None
) -> list[Swap]:
    """Plays the twin with each controller, with the sender's own one first, if that is known.

    Raises RequestError for a controller that does not exist.
    """
    names = list(dict.fromkeys([*([own] if own else []), *controllers]))
    for name in names:
        try:
            Scenario.from_toml(twin.scenario(twin.best, name), FLOW)
        except ScenarioError as error:
            raise RequestError(f"--what-if {name}: {error.reason}") from None
    batches = [
        Batch([Scenario.from_toml(twin.scenario(draw, name), FLOW) for name in names], [number + 1], label=number)
        for number, draw in enumerate(twin.draws(count))
    ]
    times, rtts = np.full((2, len(names), count), math.inf)

    def take(result: Finished | Failed) -> None:
        if isinstance(result, Failed):
            raise result.error
        scenario = result.batch.scenarios[result.number]
        flows = Outcomes.of(result.outcomes, scenario.description).flows
        row = flows.filter(pl.col("flow") == FLOW).row(0, named=True)
        if row["finished"]:
            times[result.number, result.batch.label] = row["completion_s"] - row["start_s"]
        rtts[result.number, result.batch.label] = row["mean_rtt_s"]

    (executor or ThisMachine()).play(batches, take)
    return [
        Swap(
            name,
            times[place],
            rtts[place],
            name == own,
            _compared(times[0], times[place]) if own and place else None,
        )
        for place, name in enumerate(names)
    ]


def _compared(own: Floats, other: Floats) -> Comparison:
    """What the draws say about a completion, each with what the own controller made of the same path."""
    with np.errstate(invalid="ignore"):
        ratios = other / own
    unknown = np.isnan(ratios)
    low = float(np.where(unknown, -math.inf, ratios).min())
    high = float(np.where(unknown, math.inf, ratios).max())
    margin = DEFAULTS["completion"].share
    found = Interval(median(np.where(unknown, 1.0, ratios)), low, high, ratios.size)
    return Comparison(
        answer=_answer(low - 1, high - 1, margin),
        a=median(own),
        b=median(other),
        difference=found,
        margin=margin,
        is_paired=True,
        family=1,
        worst_seed=int(np.argmax(np.where(unknown, 1.0, ratios))) + 1,
        is_ratio=True,
    )


def _answer(low: float, high: float, margin: float) -> Answer:
    """The answer on completion times, which are better where they are less."""
    if low > margin:
        return "worse"
    if high < -margin:
        return "better"
    return "alike" if max(-low, high) <= margin else "undecided"
