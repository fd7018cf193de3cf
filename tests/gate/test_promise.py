"""How often a gate says that something is worse where nothing is, and the least amounts of thresholds."""

from __future__ import annotations

from itertools import combinations

import pytest

from thalweg.engine.scenario import Scenario
from thalweg.experiments.gate.baseline import Recorded, recorded
from thalweg.experiments.gate.judgement import judge_changes
from thalweg.judging.thresholds import DEFAULTS, Threshold

NAMES = ("bad-wifi", "wifi-fade", "cubic-short")
"""Scenarios whose trials differ much from each other."""
SETS, SIZE = 16, 20


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Recorded]]:
    """The same scenarios with disjoint seeds, 20 trials each."""
    everything = [Scenario.load(f"c4/{name}", controllers={"main": "cubic"}) for name in NAMES]
    return [
        {one.name: recorded(one.trials(SIZE, seed=1 + SIZE * number), "main", "", DEFAULTS) for one in everything}
        for number in range(SETS)
    ]


@pytest.mark.soak
def test_where_nothing_is_worse_a_gate_without_any_margin_says_so_in_at_most_one_of_twenty(
    samples: list[dict[str, Recorded]],
) -> None:
    # Trials of other seeds in place of those of a changed stack: all differ, and none is worse but by chance.
    strictest = dict.fromkeys(DEFAULTS, Threshold(0.0))
    pairs = list(combinations(samples, 2))
    alarms = 0
    for then, now in pairs:
        judgement = judge_changes(then, now, range(SIZE), strictest)
        assert judgement.compared == 5 * len(NAMES)
        assert judgement.n_changed == SIZE * len(NAMES)
        alarms += bool(judgement.of("worse"))
    # 120 pairs of 16 sets; the sets are not 120 independent draws: 5 % of 120 is 6, twice that is allowed.
    assert alarms <= 12


def test_an_unchanged_stack_is_identical_and_nothing_of_it_is_compared(samples: list[dict[str, Recorded]]) -> None:
    for sample in samples:
        judgement = judge_changes(sample, sample, range(SIZE), DEFAULTS)
        assert (judgement.compared, judgement.n_changed, judgement.n) == (0, 0, SIZE * len(NAMES))


def altered(one: Recorded, metric: str, factor: float, add: float = 0.0) -> Recorded:
    values = {**one.metrics, metric: [factor * value + add for value in one.metrics[metric]]}
    return Recorded(one.fingerprint, one.flow, one.controller, [f"{each}*" for each in one.trials], values)


@pytest.mark.parametrize(
    ("metric", "factor", "add", "answer"),
    [
        ("closed", 1.02, 0.0, "worse"),
        ("closed", 0.98, 0.0, "better"),
        ("closed", 1.005, 0.0, "alike"),
        ("rate", 0.98, 0.0, "worse"),
        ("rate", 1.02, 0.0, "better"),
        ("queue-delay", 1.0, 0.0005, "alike"),
    ],
)
def test_the_end_of_a_metric_that_is_better_decides(
    metric: str, factor: float, add: float, answer: str, samples: list[dict[str, Recorded]]
) -> None:
    flat = Recorded("", "main", "cubic", [str(n) for n in range(SIZE)], {})
    steady = {name: [1.0 + 1e-5 * n for n in range(SIZE)] for name in DEFAULTS}
    steady["queue-delay"] = [0.002] * SIZE
    then = Recorded("", "main", "cubic", flat.trials, {metric: steady[metric]})
    judgement = judge_changes(
        {"one": then}, {"one": altered(then, metric, factor, add)}, range(SIZE), {metric: DEFAULTS[metric]}
    )
    ((_, change),) = judgement.of(answer)  # type: ignore[arg-type]
    assert change.a.metric == metric


def test_the_worst_trial_is_the_one_that_lost_most_against_itself() -> None:
    hashes = [str(n) for n in range(SIZE)]
    then = Recorded("", "main", "cubic", hashes, {"closed": [1.0 + n for n in range(SIZE)]})
    slower = [1.5 + n for n in range(SIZE)]
    slower[7] += 0.25  # the slowest of all is the last one
    now = Recorded("", "main", "cubic", [f"{one}*" for one in hashes], {"closed": slower})
    judgement = judge_changes({"one": then}, {"one": now}, range(101, 101 + SIZE), {"closed": Threshold(0.01)})
    ((_, change),) = judgement.of("worse")
    assert change.comparison.document()["worst_seed"] == 108
