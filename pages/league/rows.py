"""What is played: scenarios, and the number that a cell shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from pages.league.contestants import Contestant
from pages.made import DOCS, ROOT
from thalweg.base.errors import StackError
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.laws.scenarios import PACKET
from thalweg.experiments.studies.laws.window_law import average_window

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
    """Those that are under test."""
    options: dict[str, str] = field(default_factory=dict)
    """Keys that are set."""
    law: Callable[[str], str] | None = None
    """What the law says of `cubic` or `reno`."""

    @property
    def trials(self) -> int:
        """Of a contestant that is not slow."""
        return TRIALS

    def cell(self, contestant: Contestant) -> str:
        """What a contestant achieves."""
        if contestant.is_slow and any(name in self.scenario for name in _LONG_FOR_PYTHON):
            return NOT_PLAYED
        stacks = {f"flow.{flow}.stack": contestant.carried_by for flow in self.flows}
        controllers = dict.fromkeys(self.flows, contestant.controller)
        name = ROOT / self.scenario if self.scenario.endswith(".toml") else self.scenario
        scenario = Scenario.load(name, self.options | stacks, controllers)
        try:
            return self.metric(scenario.trials(SLOW_TRIALS if contestant.is_slow else TRIALS, seed=SEED))
        except StackError:
            return FAULT

    def command(self, contestant: Contestant) -> list[str]:
        """What plays a cell again, in the root of the repository."""
        trials = SLOW_TRIALS if contestant.is_slow else TRIALS
        settings = [word for key, value in self.options.items() for word in ("--set", f"{key}={value}")]
        return ["thalweg", "run", self.scenario, "-n", str(trials), *contestant.options(self.flows), *settings]


def median(outcomes: Outcomes, column: str) -> float | None:
    """Of the flow `main` over the trials; none where the middle one has none."""
    values = outcomes.flows.filter(pl.col("flow") == "main")[column].fill_nan(None).to_list()
    ordered = sorted(float("inf") if value is None else float(value) for value in values)
    middle = ordered[len(ordered) // 2]
    return None if middle == float("inf") else middle


def completion(outcomes: Outcomes) -> str:
    """Seconds to the last byte."""
    value = median(outcomes, "completion_s")
    return "never" if value is None else f"{value:.3g}"


def rate(outcomes: Outcomes) -> str:
    """Megabits per second."""
    return f"{(median(outcomes, 'mean_rate_bps') or 0.0) / 1e6:.3g}"


def share(outcomes: Outcomes) -> str:
    """Of the bytes of both flows, per cent."""
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
    """Access networks, beside CUBIC of the model."""
    for name in _BESIDE:
        yield Row(f"profiles/{name}-beside-cubic", share, options={"time_limit": "30s"})


def laws() -> Iterator[Row]:
    """Random loss on a path that is never full."""
    for name, loss, rtt_s in (("loss-1", 0.01, 0.1), ("loss-0.1", 0.001, 0.1), ("loss-0.1-10ms", 0.001, 0.01)):
        path = (LAWS / f"{name}.toml").relative_to(ROOT)
        yield Row(str(path), rate, law=partial(law_rate, loss, rtt_s))


def two() -> Iterator[Row]:
    """Two flows of one kind."""
    path = (LAWS / "two.toml").relative_to(ROOT)
    yield Row(str(path), share, flows=("main", "other"), law=lambda _: "50 %")


GROUPS: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
    "c4": ("Seconds until `main` has all, in the c4 suite", c4),
    "profiles": ("Mbps and mean queue delay of a flow alone in access networks, in 20 s", profiles_alone),
    "beside": ("Share of a flow beside CUBIC of the model, which starts 2 s earlier, in 30 s", profiles_beside),
    "laws": ("Mbps under random loss", laws),
    "two": ("Share of a flow that starts 5 s after another one of its kind", two),
}
"""The tables: what they show, and their rows."""
