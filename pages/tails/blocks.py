"""How many blocks make a rare event: those without which the furthest trial would not have come as far."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pages.experiments.experiment import table
from pages.made import fill, made, row
from pages.tails.counted import COUNTED, PAGE, Rare
from thalweg.engine.scenario import Scenario
from thalweg.experiments.tails.event import Event
from thalweg.experiments.tails.subset import Seeds, Values
from thalweg.experiments.tails.tails import Tails
from thalweg.experiments.tails.tape import KEY, tape_text
from thalweg.trials.threads import Threads

SEARCHES = (1, 2, 3)
DRAWS = 8
"""How often each block is drawn anew."""
KEPT = 0.8
"""A block matters if the median of the values that are left is less than this part of the furthest."""


def make() -> None:
    """Writes the table."""
    head = ("event", "search", "furthest", "blocks", "blocks that matter")
    lines = [line for one in COUNTED for search in SEARCHES for line in _lines(one, search)]
    fill(PAGE, "blocks", f"{table(head, 1, lines)}\n\n{made('tails')}")


def _lines(one: Rare, search: int) -> Iterator[str]:
    scenario, event = one.scenario, one.events()[1]
    found = Tails(scenario.toml, one.name, event, 1e-4, 100, runs=3, seed=search).run(Threads(1))
    furthest = max(found.runs, key=lambda run: run.best_value)
    assert furthest.best is not None
    values = _values(scenario, event, _redrawn(furthest.best, furthest.blocks, search))
    left = np.median(values.reshape(furthest.blocks, DRAWS), axis=1)
    end = min(furthest.best_value, scenario.description.time_limit_s)
    matter = f"{int(np.sum(left < KEPT * end))}"
    yield row(event.sentence, f"{search}", event.shown(furthest.best_value), f"{furthest.blocks}", matter)


def _redrawn(tape: Seeds, blocks: int, search: int) -> Iterator[Seeds]:
    rng = np.random.default_rng(search)
    for block in range(blocks):
        for _ in range(DRAWS):
            other = tape.copy()
            other[block : block + 1] = rng.integers(2**63, dtype=np.uint64)
            yield other


def _values(scenario: Scenario, event: Event, tapes: Iterator[Seeds]) -> Values:
    played = [
        Scenario.from_toml(scenario.toml, scenario.name, {KEY: tape_text(tape)}).native.trials([1], 1)
        for tape in tapes
    ]
    return event.values(scenario, played)
