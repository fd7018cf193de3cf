"""The same trial without what stood in the way of a flow, and with other controllers: played, not guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.account import Account
from thalweg.judging.measures import METRICS
from thalweg.judging.statistics.interval import finite

RIVALS = ("cubic", "bbr", "c4")
"""Controllers that are tried in its place."""
_LEAST_SHARE = 0.05
"""A limit that held a smaller share of the time is not lifted."""
_LEAST_JITTER_S = 0.0005
"""Mean delay by jitter that is worth a trial without."""

OF_FLOWS = ("completion", "rate", "rtt")
OF_CALLS = ("media-rate", "p95-delay", "frozen", "mos")
"""What is shown of a flow; of a call the worst of its streams, and the sum of their rates."""

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Change:
    """What is played instead."""

    words: str
    settings: tuple[tuple[str, str], ...] = ()
    controllers: tuple[tuple[str, str], ...] = ()

    @property
    def options(self) -> str:
        """As `thalweg run` takes it."""
        sets = [f'--set {key}="{value}"' for key, value in self.settings]
        return " ".join(sets + [f"-c {flow}={name}" for flow, name in self.controllers])


@dataclass(frozen=True)
class Played:
    """One trial with a change, or as it was."""

    change: Change
    numbers: dict[str, float]
    """By metric; a time that was not reached is infinite."""

    def cells(self) -> tuple[str, ...]:
        """For a table, under `headers`."""
        numbers = (text(number, METRICS[name].unit, 4) for name, number in self.numbers.items())
        return (self.change.words, *numbers, self.change.options or "-")

    def headers(self) -> tuple[str, ...]:
        """The headings of its table."""
        return ("the same trial with", *(METRICS[name].heading for name in self.numbers), "options")

    def document(self) -> dict[str, Any]:
        """As JSON."""
        numbers = {METRICS[name].column: finite(number) for name, number in self.numbers.items()}
        return {"change": self.change.words, "options": self.change.options, **numbers}


def changes(found: Account, is_single: bool) -> Iterator[Change]:
    """What is worth playing, given what happened; `is_single`: the scenario has one path and not links."""
    flow, row = found.flow, found.row
    if found.shares.get("flow-control", 0.0) >= _LEAST_SHARE:
        yield Change("no limit of the receiver", ((f"flow.{flow}.receive_window", "1 GB"),))
    if is_single and row["packets_lost_at_random"]:
        yield Change("no random loss", (("path.loss", "0 %"),))
    if is_single and row["mean_jitter_s"] >= _LEAST_JITTER_S:
        yield Change("no jitter", (("path.jitter", "none"),))
    if is_single and found.dropped["queue"]:
        yield Change("an unlimited buffer", (("path.buffer", "unlimited"),))
    for name in RIVALS:
        if str(row["controller"]).split(":")[0] != name:
            yield Change(name, controllers=((flow, name),))


def what_if(
    read: Callable[[Pairs, Pairs], Scenario],
    settings: Pairs,
    controllers: Pairs,
    seed: int,
    trial: Trial,
    found: Account,
) -> Iterator[Played]:
    """The trial as it was, and with each change that its scenario takes; `read` makes it of both."""
    yield _played(Change("as it was"), trial, found.flow)
    if not found.has_started:
        return
    is_single = len(trial.links) == 2
    for change in changes(found, is_single):
        bound = dict(controllers) | dict(change.controllers)
        try:
            scenario = read([*settings, *change.settings], list(bound.items()))
        except RequestError:
            continue  # such as a path by name, or a stack without this controller
        yield _played(change, scenario.run(seed), found.flow)


def _played(change: Change, trial: Trial, flow: str) -> Played:
    row = next(one for one in trial.flows.iter_rows(named=True) if one["flow"] == flow)
    streams = trial.outcomes.streams
    own = [] if streams.is_empty() else [one for one in streams.iter_rows(named=True) if one["flow"] == flow]
    if own:
        known = {name: [one[METRICS[name].column] for one in own] for name in OF_CALLS}
        values = {name: [_number(one) for one in of if not math.isnan(_number(one))] for name, of in known.items()}
        worst = {
            name: math.nan if not of else min(of) if METRICS[name].better == "higher" else max(of)
            for name, of in values.items()
        }
        return Played(change, {**worst, "media-rate": sum(values["media-rate"])})
    numbers = {name: _number(row[METRICS[name].column]) for name in OF_FLOWS}
    numbers["completion"] = row["completion_s"] - row["start_s"] if row["finished"] else math.inf
    return Played(change, numbers)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
