"""How likely a rare trial is: against what is known, and what the command says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.experiments.tails.subset import Repeat, Seeds, Values, simulate
from thalweg.experiments.tails.tails import judge

Capture = pytest.CaptureFixture[str]
Valued = Callable[[Values], float]
BLOCKS = 20

SCENARIO = """
title = "A short download with loss"
time_limit = "20 s"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "50 ms"
loss = "2 %"
[[flow]]
name = "main"
controller = "cubic"
download = "200 kB"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def draws(tape: Seeds) -> Values:
    """What each block draws from its seed: exponential, of mean 1."""
    return np.array([np.random.default_rng([int(seed), n]).exponential() for n, seed in enumerate(tape)])


def runs(
    valued: Valued, threshold: float, to: float, seed: int, count: int = 10, particles: int = 200
) -> list[Repeat]:
    """Runs over trials that are a function of their blocks, and of nothing else."""
    found = []
    for number in range(count):
        asking = simulate(BLOCKS, BLOCKS, particles, threshold, to, np.random.default_rng([seed, number]))
        tapes = next(asking)
        while True:
            try:
                tapes = asking.send(np.array([valued(draws(tape)) for tape in tapes]))
            except StopIteration as end:
                found.append(end.value)
                break
    return found


def of_sum(threshold: float) -> float:
    """P(sum of 20 draws > x), by the Poisson process whose 20th event it is: e^-x sum of x^k / k! for k < 20."""
    return math.exp(-threshold) * sum(threshold**k / math.factorial(k) for k in range(BLOCKS))


@pytest.mark.soak
def test_a_probability_of_one_in_a_hundred_thousand_is_found_in_some_ten_thousand_trials() -> None:
    threshold = 43.0
    assert 1e-5 < of_sum(threshold) < 1e-4
    found = runs(np.sum, threshold, 1e-6, seed=1)
    how, probability = judge(found, threshold)
    assert how == "subset simulation"
    assert of_sum(threshold) / 2 < probability.value < of_sum(threshold) * 2
    # Counting would take a hundred over p trials for ten percent of error: more than a million.
    assert sum(run.trials for run in found) < 20_000


def test_an_event_that_one_block_makes_by_itself_is_bounded_and_not_wrong() -> None:
    """No step goes half of the way: a limit of `subset`. P(largest of 20 > x) = 1 - (1 - e^-x)^20."""
    threshold = 13.0
    known = -math.expm1(BLOCKS * math.log1p(-math.exp(-threshold)))
    how, probability = judge(runs(np.max, threshold, 1e-6, seed=1, count=4, particles=100), threshold)
    assert how == "bounded"
    assert known < probability.high < 1e-2


@pytest.mark.soak
def test_intervals_cover_what_is_known_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(40):
        threshold = 33.0 + seed % 10
        _, probability = judge(runs(np.sum, threshold, 1e-6, seed, count=6, particles=100), threshold)
        covered += probability.low <= of_sum(threshold) <= probability.high
    # Of 40 intervals of 95 %, 34 or more cover in 98.5 % of cases.
    assert covered >= 34


def test_a_run_over_trials_that_are_all_alike_says_that_it_is_stuck() -> None:
    [run] = runs(lambda _: 1.0, 2.0, 1e-6, seed=1, count=1)
    assert run.stuck
    how, probability = judge([run, run], 2.0)
    # None of 400 trials: 1 - 0.05^(1/400) = 0.0075 is not excluded.
    assert (how, probability.value) == ("bounded", 0.0)
    assert 0.004 < probability.high < 0.01


def command(capsys: Capture, *arguments: str) -> Any:
    assert main(["tails", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_probability_agrees_with_counted_trials_and_the_worst_one_is_played_again(
    scenario: Path, tmp_path: Path, capsys: Capture
) -> None:
    event = ["--metric", "completion", "--above", "1500 ms", "--particles", "50", "--out", str(tmp_path / "out")]
    found = command(capsys, str(scenario), *event, "--to", "1e-3")
    times = Scenario.load(scenario).trials(2000).flows["completion_s"].to_numpy()
    share = float(np.mean(times > 1.5))
    assert found["how"] == "subset simulation"
    # Some 2 % of 2 000 trials: within two standard deviations of the count of the interval.
    low, high = found["probability_interval95"]
    assert low - 2 * math.sqrt(share / 2000) < share < high + 2 * math.sqrt(share / 2000)
    worst = Scenario.load(tmp_path / "out" / "worst.toml").run(seed=found["worst"]["seed"])
    assert worst.trace_hash == found["worst"]["trace_hash"]
    # From the drawn start of the flow, as criteria count it; the table has it raw.
    assert 0 <= worst.flows["completion_s"][0] - found["worst"]["value"] < 0.01
    # The same set of draws has the same answer, another one another.
    again = command(capsys, str(scenario), *event[:-2], "--to", "1e-3")
    other = command(capsys, str(scenario), *event[:-2], "--to", "1e-3", "--seed", "2")
    assert again["probability"] == found["probability"] != other["probability"]


def test_what_most_trials_have_is_counted_and_what_none_can_have_is_bounded(
    scenario: Path, capsys: Capture
) -> None:
    few = ["--metric", "completion", "--particles", "20", "--runs", "3"]
    usual = command(capsys, str(scenario), *few, "--above", "1 ms")
    assert (usual["how"], usual["probability"]) == ("counted", 1.0)
    never = command(capsys, str(scenario), *few, "--below", "1 ms", "--to", "0.05")
    assert (never["how"], never["probability"]) == ("bounded", None)
    assert 0 < never["probability_interval95"][1] < 0.2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "max-dely"], "--metric 'max-dely': accepted: a metric of flows or streams"),
        (["--above", "600"], "--above '600': accepted: a value of completion, such as \"400 ms\""),
        (["--below", "1 ms"], "one of --above and --below is required"),
        (["--stream", "video"], "--stream cannot be combined with completion, which is of a flow"),
        (["--flow", "mian"], "--flow 'mian': the scenario has main; did you mean main?"),
    ],
)
def test_a_mistake_is_one_message(scenario: Path, capsys: Capture, arguments: list[str], said: str) -> None:
    given = ["--metric", "completion", "--above", "600 ms", "--particles", "20", "--runs", "3", *arguments]
    assert main(["tails", str(scenario), *given]) == 2
    message = capsys.readouterr().err
    assert said in message
    assert len(message.splitlines()) == 1
