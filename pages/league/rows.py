"""What is played: scenarios, and the number that a cell shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import polars as pl

from pages.league.contestants import Contestant
from pages.made import DOCS, ROOT
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.laws.scenarios import PACKET
from thalweg.experiments.studies.laws.window_law import average_window
from thalweg.judging.statistics import quantiles
from thalweg.trials.gathering import outcomes_of
from thalweg.trials.processes import Processes
from thalweg.trials.threads import Threads

TRIALS, SLOW_TRIALS, SEED = 3, 1, 1
LAWS = DOCS / "evidence" / "league"
FAULT = "fault"
NOT_PLAYED = "-"
_ALONE = ("dsl", "lte", "leo", "geo", "docomo-mall", "congested", "bdp20")
_BESIDE = ("dsl", "lte", "leo", "geo", "congested", "bdp20")
_LONG_FOR_PYTHON = (
    "profiles/leo",
    "profiles/geo",
    "profiles/docomo-mall",
    "leo-beside",
    "geo-beside",
    "lte-beside",
)


@dataclass(frozen=True)
class Row:
    """A scenario, and what is measured of its flow `main`."""

    scenario: str
    """A name, or a path below the root."""
    metric: Callable[[Outcomes], str]
    flows: tuple[str, ...] = ("main",)
    """The flows that are under test."""
    options: dict[str, str] = field(default_factory=dict)
    """Keys that are set."""
    law: Callable[[str], str] | None = None
    """What the law says of `cubic` or `reno`."""

    def is_played_by(self, contestant: Contestant) -> bool:
        """Whether it is not too long."""
        return not (contestant.is_slow and any(name in self.scenario for name in _LONG_FOR_PYTHON))

    def scenario_of(self, contestant: Contestant) -> Scenario:
        """The scenario with a contestant in it."""
        stacks = {f"flow.{flow}.stack": contestant.carried_by for flow in self.flows}
        controllers = dict.fromkeys(self.flows, contestant.controller)
        name = ROOT / self.scenario if self.scenario.endswith(".toml") else self.scenario
        return Scenario.load(name, self.options | stacks, controllers)


def cells(rows: Sequence[Row], contestants: Sequence[Contestant]) -> dict[tuple[str, str], str]:
    """What each contestant achieves in each row, by their names. Each kind of process plays all of its trials."""
    found = {(one.scenario, by.title): NOT_PLAYED for one in rows for by in contestants}
    played = [(one, by) for one in rows for by in contestants if one.is_played_by(by)]
    for executor, trials, mine in (
        (Threads(), TRIALS, [pair for pair in played if not pair[1].is_library]),
        (Processes(), TRIALS, [pair for pair in played if pair[1].is_library and not pair[1].is_slow]),
        (Processes(), SLOW_TRIALS, [pair for pair in played if pair[1].is_slow]),
    ):
        seeds = range(SEED, SEED + trials)
        answers = outcomes_of(executor, [one.scenario_of(by) for one, by in mine], seeds) if mine else []
        for (one, by), answer in zip(mine, answers, strict=True):
            fault = isinstance(answer, Exception)
            found[one.scenario, by.title] = FAULT if fault else one.metric(cast("Outcomes", answer))
    return found


def median(outcomes: Outcomes, column: str) -> float | None:
    """The median of the flow `main` over the trials; none where the middle one has none."""
    values = outcomes.flows.filter(pl.col("flow") == "main")[column].fill_nan(None).fill_null(math.inf)
    middle = quantiles.median(values.to_numpy())
    return middle if math.isfinite(middle) else None


def completion(outcomes: Outcomes) -> str:
    """Seconds to the last byte."""
    value = median(outcomes, "completion_s")
    return "never" if value is None else f"{value:.3g}"


def rate(outcomes: Outcomes) -> str:
    """Megabits per second."""
    return f"{(median(outcomes, 'mean_rate_bps') or 0.0) / 1e6:.3g}"


def share(outcomes: Outcomes) -> str:
    """The share of the bytes of both flows, per cent."""
    return f"{median(outcomes, 'share') or 0.0:.0%}".replace("%", " %")


def alone(outcomes: Outcomes) -> str:
    """The rate, and the mean wait in the queue."""
    return f"{rate(outcomes)}, {1e3 * (median(outcomes, 'mean_queue_delay_s') or 0.0):.3g} ms"


def law_rate(loss: float, rtt_s: float, controller: str) -> str:
    """The rate of the window that the documents imply."""
    return f"{average_window(controller, loss, rtt_s) * PACKET * 8 / rtt_s / 1e6:.3g}"


def c4() -> Iterator[Row]:
    """The c4 suite, but for calls and careful resume, which libraries do not have."""
    for entry in Suite.find("c4").entries:
        if not entry.name.startswith("media") and entry.name != "satellite":
            yield Row(f"c4/{entry.name}", completion)


def profiles_alone() -> Iterator[Row]:
    """Access networks, alone."""
    for name in _ALONE:
        yield Row(f"profiles/{name}", alone)


def profiles_beside() -> Iterator[Row]:
    """Access networks, against CUBIC of the model."""
    for name in _BESIDE:
        yield Row(f"profiles/{name}-beside-cubic", share, options={"time_limit": "30s"})


def laws() -> Iterator[Row]:
    """Random loss on a path that the law does not fill."""
    for name, loss, rtt_s in (("loss-1", 0.01, 0.1), ("loss-0.1", 0.001, 0.1), ("loss-0.1-10ms", 0.001, 0.01)):
        path = (LAWS / f"{name}.toml").relative_to(ROOT)
        yield Row(str(path), rate, law=partial(law_rate, loss, rtt_s))


def two() -> Iterator[Row]:
    """Two flows of one kind."""
    path = (LAWS / "two.toml").relative_to(ROOT)
    yield Row(str(path), share, flows=("main", "other"), law=lambda _: "50 %")


GROUPS: dict[str, Callable[[], Iterator[Row]]] = {
    "c4": c4,
    "profiles": profiles_alone,
    "shares": profiles_beside,
    "laws": laws,
    "two": two,
}
"""The tables, by the first word of their names on the page, and their rows."""
