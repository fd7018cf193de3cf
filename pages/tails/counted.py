"""Two rare events, counted among a million trials each. The counts are kept in counted.toml: they take a while."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pages.experiments.experiment import table
from pages.made import DOCS, commit, fill, made, row
from thalweg.engine.scenario import Scenario
from thalweg.experiments.tails.event import Event, read_event
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.rates import rate_interval
from thalweg.judging.verdict import values_of

HERE = DOCS / "evidence" / "tails"
PAGE = DOCS / "evidence" / "tails.md"
TRIALS = 1_000_000
_AT_ONCE = 20_000
_KEPT = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Rare:
    """A scenario, and the events in it that are counted."""

    name: str
    metric: str
    bounds: tuple[str, ...]

    @property
    def scenario(self) -> Scenario:
        """Without a tape: each trial has a seed of its own."""
        return Scenario.load(str(HERE / f"{self.name}.toml"))

    def events(self) -> list[Event]:
        """One of each bound."""
        return [read_event(self.scenario, self.metric, None, None, bound, None) for bound in self.bounds]


COUNTED = (
    Rare("call", "max-delay", ("400 ms", "500 ms", "600 ms")),
    Rare("bursts", "completion", ("5 s", "10 s", "15 s")),
)


def known(name: str, bound: str) -> Interval:
    """The counted share of an event, with its interval."""
    kept = tomllib.loads(_KEPT.read_text(encoding="utf-8"))
    return rate_interval(kept[name][bound], kept["trials"])


def make() -> None:
    """Counts, on all cores, and writes the counts and their table."""
    counts = {one.name: _count(one) for one in COUNTED}
    lines = [f"# Made by `make pages PAGES=tails-counted` with commit {commit()}.", f"trials = {TRIALS}"]
    for name, of in counts.items():
        lines += ["", f"[{name}]", *(f'"{bound}" = {count}' for bound, count in of.items())]
    _KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = ("event", "trials", "with it", "probability (interval of 95 %)")
    fill(PAGE, "counted", f"{table(head, 1, list(_lines(counts)))}\n\n{made('tails-counted')}")


def _lines(counts: dict[str, dict[str, int]]) -> Iterator[str]:
    for one in COUNTED:
        for event, bound in zip(one.events(), one.bounds, strict=True):
            count = counts[one.name][bound]
            cells = f"{count}", shown(rate_interval(count, TRIALS))
            yield row(f"{one.name}: {event.sentence}", f"{TRIALS}", *cells)


def shown(found: Interval) -> str:
    """A probability with its interval."""
    return f"{found.value:.2e} ({found.low:.2e} to {found.high:.2e})"


def _count(one: Rare) -> dict[str, int]:
    scenario, events = one.scenario, one.events()
    counts = np.zeros(len(events), dtype=int)
    for first in range(1, TRIALS, _AT_ONCE):
        outcomes = scenario.trials(_AT_ONCE, seed=first)
        for number, event in enumerate(events):
            starts_s = scenario.description.starts_s
            values = values_of(event.criterion, outcomes.flows, outcomes.streams, starts_s)["value"]
            counts[number] += int((values > event.bound).sum())
    return dict(zip(one.bounds, map(int, counts), strict=True))
