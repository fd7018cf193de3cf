"""Whatever a store holds of the trials that are asked for, the answer is that of an executor without a store."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from short_download import SCENARIO
from thalweg.base.executor import Batch
from thalweg.engine.outcome import TABLES, Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.trials.gathering import gather
from thalweg.trials.store.outcome_store import OutcomeStore
from thalweg.trials.store.stored import Stored
from thalweg.trials.threads import Threads

SERIES = 'sample = "50 ms"\n'
CALL = SCENARIO.replace('download = "200 kB"', 'call = "1 s"')
REQUESTS = SCENARIO.replace(
    'download = "200 kB"', 'requests = { count = 5, p5 = "1 kB", p95 = "90 kB", mean_gap = "50 ms" }'
)


def scenarios() -> list[Scenario]:
    texts = {"plain": SCENARIO, "series": SERIES + SCENARIO, "call": CALL, "requests": REQUESTS}
    bounds = {"call": CALL.replace('metric = "completion"', 'metric = "rtt"')}
    return [Scenario.from_toml(bounds.get(name, text), name) for name, text in texts.items()]


def asked(executor: Threads | Stored, some: list[Scenario], seeds: range) -> dict[str, Outcomes]:
    found: dict[str, Outcomes] = {}
    gather(executor, some, seeds, lambda number, outcomes: found.__setitem__(some[number].name, outcomes))
    return found


def assert_same(one: dict[str, Outcomes], other: dict[str, Outcomes]) -> None:
    assert one.keys() == other.keys()
    for name, outcomes in one.items():
        for table in TABLES:
            mine, its = (getattr(found, table) for found in (outcomes, other[name]))
            if table == "trials":
                mine, its = mine.drop("core_s"), its.drop("core_s")
            assert mine.equals(its, null_equal=True), f"{name}: {table}"


@pytest.mark.parametrize("chance", range(12))
def test_any_part_of_the_trials_may_be_there(tmp_path: Path, chance: int) -> None:
    draw, some = random.Random(chance), scenarios()
    first = draw.randrange(1, 1000)
    seeds = range(first, first + draw.randrange(1, 12))
    plain = asked(Threads(), some, seeds)
    for _ in range(3):  # each run leaves more
        with OutcomeStore.opened(tmp_path) as store:
            part = [scenario for scenario in some if draw.random() < 0.7]
            drawn = draw.sample(seeds, draw.randrange(len(seeds) + 1))  # in any order, with gaps
            if part and drawn:
                Stored(Threads(), store).play([Batch(part, drawn)], lambda _: None)
        with OutcomeStore.opened(tmp_path) as store:
            stored = Stored(Threads(draw.randrange(1, 3)), store)
            wanted = draw.sample(some, draw.randrange(1, len(some) + 1))
            found = asked(stored, wanted, seeds)
            assert stored.present + stored.played == len(wanted) * len(seeds)
        assert_same(found, {scenario.name: plain[scenario.name] for scenario in wanted})


def test_series_come_back_with_the_trials(tmp_path: Path) -> None:
    (scenario,) = (one for one in scenarios() if one.name == "series")
    for _ in range(2):
        with OutcomeStore.opened(tmp_path) as store:
            stored = Stored(Threads(), store)
            outcomes = asked(stored, [scenario], range(1, 4))["series"]
    assert (stored.present, stored.played) == (3, 0)
    plain = asked(Threads(), [scenario], range(1, 4))["series"]
    for trial in range(3):
        assert (outcomes.series(trial, "main").received == plain.series(trial, "main").received).all()
        assert (outcomes.capacity(trial, "down") == plain.capacity(trial, "down")).all()
