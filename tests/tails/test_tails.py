"""How likely rare trials are: subset simulation against known probabilities, and the command."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pages.tails.cells import LARGEST, RUN, SUMS, threshold, uniform
from thalweg import Scenario
from thalweg.cli import main
from thalweg.experiments.tails.estimate import lognormal_mean
from thalweg.experiments.tails.subset import Level, Repeat, Seeds, Values, fresh, simulate
from thalweg.experiments.tails.tails import judge

BLOCKS = 100
LOSSY = """
title = "A download over a lossy path"
time_limit = "60 s"
[path]
rate = "10 Mbps"
rtt = "40 ms"
buffer = "100 ms"
loss = { model = "gilbert-elliott", good = "400 ms", bad = "40 ms" }
[[flow]]
name = "main"
controller = "cubic"
download = "300 kB"
"""


def exponentials(tapes: list[Seeds]) -> npt.NDArray[np.float64]:
    """An exponential number of each block, of its seed."""
    return np.array(
        [
            [np.random.default_rng([int(seed), block]).exponential() for block, seed in enumerate(tape)]
            for tape in tapes
        ]
    )


def run(
    values: object, blocks: int, threshold: float, seed: int, particles: int = 200, used: object = None
) -> Repeat:
    """One run on numbers that need no trial; `used` tells how many blocks the longest of some trials has."""
    going = simulate(blocks, particles, threshold, 1e-6, np.random.default_rng(seed))
    asked = next(going)
    while True:
        try:
            longest = used(list(asked)) if used else blocks  # type: ignore[operator]
            asked = going.send((values(list(asked)), longest))  # type: ignore[operator]
        except StopIteration as end:
            found: Repeat = end.value
            return found


def test_the_probability_of_a_sum_of_ten_numbers_is_that_of_the_gamma_distribution() -> None:
    # P(sum of 10 exponentials > x) = exp(-x) * sum of x^i / i! for i < 10; at 27 it is 1.7e-5.
    exact = sum(math.exp(-27) * 27**i / math.factorial(i) for i in range(10))
    runs = [run(lambda tapes: exponentials(tapes).sum(axis=1), 10, 27.0, seed) for seed in range(10)]
    how, probability = judge(runs, 27.0)
    assert how == "subset simulation"
    assert probability.low < exact < probability.high < 10 * probability.low
    assert 0.5 * exact < probability.value < 2 * exact


def test_what_is_not_rare_is_counted_and_a_value_that_all_share_is_only_bounded() -> None:
    often = [run(lambda tapes: exponentials(tapes)[:, 0], 3, 1.0, seed) for seed in range(3)]
    how, probability = judge(often, 1.0)
    assert how == "counted"
    assert probability.low < math.exp(-1) < probability.high
    same = [run(lambda tapes: np.zeros(len(tapes)), 3, 1.0, seed) for seed in range(3)]
    how, probability = judge(same, 1.0)
    assert all(one.stuck for one in same)
    # No event in 600 independent trials: 1 - 0.05^(1/600).
    assert (how, probability.value) == ("bounded", 0.0)
    assert probability.high == pytest.approx(1 - 0.05 ** (1 / 600))


def test_the_interval_of_equal_estimates_is_a_point() -> None:
    found = lognormal_mean([3e-6] * 10)
    assert found.low == pytest.approx(found.high) == pytest.approx(3e-6)


def test_runs_that_agree_by_chance_have_at_least_the_error_of_their_trials() -> None:
    going = Repeat([Level(-np.inf, 1.0, np.arange(100.0)), Level(90.0, 0.1, np.arange(90.0, 190.0))])
    # Of 100 trials 10 pass, and of 100 beyond it 10 are above 179: 0.9 / (0.1 * 100) for each share.
    assert going.probability(179.0) == pytest.approx(0.01)
    assert going.least_variance(179.0) == pytest.approx(2 * 0.9 / (0.1 * 100))
    _, found = judge([going] * 10, 179.0)
    assert found.low < 0.008 < found.value < 0.0125 < found.high


def test_what_the_first_trials_say_by_themselves_is_counted() -> None:
    """Where a metric has two values, a run ends after its first trials: one of 20 in each of three runs."""
    once = Repeat([Level(-np.inf, 1.0, np.array([1.0] + [0.0] * 19))])
    how, probability = judge([once] * 3, 0.5)
    # Clopper and Pearson, 3 of 60.
    assert how == "counted"
    assert (probability.low, probability.high) == pytest.approx((0.0104, 0.1392), abs=1e-4)


def test_steps_reach_the_blocks_of_trials_that_last_longer_than_the_first_ones() -> None:
    """The event needs the last of ten blocks, which only trials have that are near to it."""

    def lasting(tapes: list[Seeds]) -> Values:
        numbers = exponentials(tapes)
        early = numbers[:, :5].sum(axis=1)
        values: Values = np.where(early > 8, early + numbers[:, 5:].sum(axis=1), early)
        return values

    def used(tapes: list[Seeds]) -> int:
        return 10 if (exponentials(tapes)[:, :5].sum(axis=1) > 8).any() else 5

    runs = [run(lasting, 10, 24.0, seed, used=used) for seed in range(8)]
    how, probability = judge(runs, 24.0)
    assert how == "subset simulation"
    # 7 435 of 20 million draws.
    assert 0.5 * 3.72e-4 < probability.value < 2 * 3.72e-4
    # A tape begins as one number; the furthest one has others in its late blocks.
    assert all(one.best is not None and len(set(one.best[5:])) > 1 for one in runs)


def test_an_infinite_value_is_not_an_obstacle() -> None:
    def values(tapes: list[Seeds]) -> Values:
        numbers = exponentials(tapes).sum(axis=1)
        return np.where(numbers > 20, np.inf, numbers)

    assert 0 < run(values, 10, 25.0, 1).probability(25.0) < 0.05


def test_the_probabilities_of_the_cells_of_the_page_are_those_that_counting_finds() -> None:
    n, blocks = 100_000, 20
    rng = np.random.default_rng(1)
    numbers = uniform([fresh(rng, blocks) for _ in range(n)])
    for family in (*SUMS, RUN, LARGEST):
        at = threshold(family, blocks, 0.01)
        known, share = family.above(blocks, at), float(np.mean(family.statistic(numbers) > at))
        # 1000 of 100 000 have an error of 3 %; four of these.
        assert abs(share - known) < 4 * math.sqrt(known / n), family.name
        assert 0.009 < known < 0.1


@pytest.mark.soak
def test_intervals_cover_what_is_known_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(40):
        threshold = 19.0 + seed % 8
        exact = sum(math.exp(-threshold) * threshold**i / math.factorial(i) for i in range(10))
        runs = [
            run(lambda tapes: exponentials(tapes).sum(axis=1), 10, threshold, 100 * seed + n, 100)
            for n in range(6)
        ]
        _, probability = judge(runs, threshold)
        covered += probability.low <= exact <= probability.high
    # Of 40 intervals of 95 %, 34 or more cover in 98.5 % of cases.
    assert covered >= 34


def test_an_event_that_one_block_makes_by_itself_is_bounded_and_not_wrong() -> None:
    """No step goes half of the way: a limit of `subset`. P(largest of 20 > x) = 1 - (1 - e^-x)^20."""
    known = -math.expm1(20 * math.log1p(-math.exp(-13)))
    runs = [run(lambda tapes: exponentials(tapes).max(axis=1), 20, 13.0, seed, 100) for seed in range(4)]
    how, probability = judge(runs, 13.0)
    assert how == "bounded"
    assert known < probability.high < 1e-2


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """A scenario whose trials take a tenth of a millisecond."""
    file = tmp_path / "lossy.toml"
    file.write_text(LOSSY, encoding="utf-8")
    return file


def test_the_command_stores_the_furthest_trial_which_a_run_repeats(lossy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["tails", str(lossy), "--metric", "loss", "--above", "25 %", "--particles", "60", "--runs", "4"]
    assert main([*words, "--out", str(out), "--quiet"]) == 0
    found = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    again = Scenario.load(out / "worst.toml").run(found["worst"]["seed"])
    assert again.trace_hash == found["worst"]["trace_hash"]
    assert again.flows["loss"].item() == pytest.approx(found["worst"]["value"])
    low, high = found["probability_interval95"]
    # 1e6 trials with seeds from 1 on: 17.8 % is passed by 1e-1 of them, and 30.9 % by 1e-2.
    assert low < 0.1
    assert high > 0.01
    assert main([*words, "--out", str(tmp_path / "other"), "--quiet", "--jobs", "1"]) == 0
    other = json.loads((tmp_path / "other" / "experiment.json").read_text(encoding="utf-8"))
    assert other["runs"] == found["runs"]


def test_a_probability_agrees_with_counted_trials(lossy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--metric",
        "completion",
        "--above",
        "1500 ms",
        "--particles",
        "60",
        "--to",
        "1e-3",
        "--format",
        "json",
    ]
    assert main(["tails", str(lossy), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    times = Scenario.load(lossy).trials(2000).flows["completion_s"].to_numpy()
    share = float(np.mean(times > 1.5))
    low, high = found["probability_interval95"]
    # Within two standard deviations of the count of the interval.
    assert low - 2 * math.sqrt(share / 2000) < share < high + 2 * math.sqrt(share / 2000)


FEW = ["--particles", "40", "--runs", "3"]
"""The first trials are looked at, however many they are."""
NOTHING_RANDOM = ["-s", "noise.start=0 s", "-s", "noise.wakeup=0 s", "-s", "path.loss=0 %"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "lost", "--above", "1 %"], "accepted: a metric of flows or streams"),
        (["--metric", "loss"], "one of --above and --below is required"),
        (["--metric", "loss", "--above", "1 %", "--below", "1 %"], "--above cannot be combined with --below"),
        (["--metric", "limited", "--above", "1 %"], "'limited': accepted: a metric of flows or streams"),
        (["--metric", "trips", "--above", "5 %"], 'accepted: a value of trips, such as "3"'),
        (["--metric", "oscillation", "--above", "5 %", *FEW], "lossy: no trial has a value of oscillation"),
        (["--metric", "loss", "--above", "-1 %"], "accepted: a value of loss"),
        (["--metric", "loss", "--above", "1 %", "-s", "noise.tape=0:1"], "noise.tape: tails draws tapes itself"),
        (
            ["--metric", "loss", "--above", "1 %", "--particles", "1000000"],
            "10 runs of trials of up to 601 blocks take too much memory; accepted: at most 22332",
        ),
        (["--metric", "loss", "--above", "1 s"], "accepted: a value of loss"),
        (["--metric", "loss", "--above", "1 %", "--flow", "mian"], "no such flow; did you mean main?"),
        (["--metric", "loss", "--above", "1 %", "--stream", "video"], "--stream cannot be combined with loss"),
        (["--metric", "max-delay", "--above", "1 s"], "the trials have no main video"),
        (["--metric", "loss", "--above", "1 %", *FEW, *NOTHING_RANDOM], "nothing in it is random"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_one_message(
    lossy: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tails", str(lossy), *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


NEWRENO = Path(__file__).parents[2] / "examples" / "controllers" / "newreno.py"


@pytest.mark.parametrize(
    ("words", "controller", "settings"),
    [
        (["--stack", "quic"], "noq:cubic", {"flow.main.stack": "quic"}),
        ([], str(NEWRENO), {}),
    ],
)
def test_the_quic_stack_and_a_controller_in_python_agree_with_counted_trials(
    words: list[str],
    controller: str,
    settings: dict[str, str],
    lossy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    of = ["--metric", "completion", "--above", "3 s", "--particles", "100", "--runs", "4", "--to", "1e-2"]
    words = ["tails", str(lossy), *of, *words, "--controller", f"main={controller}"]
    assert main([*words, "--out", str(out), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["how"] == "subset simulation"
    assert Scenario.load(out / "worst.toml").run(found["worst"]["seed"]).trace_hash == found["worst"]["trace_hash"]
    counted = Scenario.load(lossy, settings, controllers={"main": controller}).trials(1000)
    share = float(np.mean(~(counted.flows["completion_s"].to_numpy() <= 3)))
    low, high = found["probability_interval95"]
    # Within two standard deviations of the count of the interval.
    error = 2 * math.sqrt(share / 1000)
    assert low - error < share < high + error
    assert high < 1


def test_processes_of_controllers_in_python_stay_for_all_levels(
    lossy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    popen = subprocess.Popen

    def start(*words: Any, **named: Any) -> subprocess.Popen[str]:
        started.append(words)
        return popen(*words, **named)

    monkeypatch.setattr(subprocess, "Popen", start)
    of = ["--metric", "completion", "--above", "3 s", "--particles", "40", "--runs", "3", "--to", "1e-2"]
    words = ["tails", str(lossy), *of, "--controller", f"main={NEWRENO}", "--jobs", "2", "--quiet"]
    assert main(words) == 0
    assert len(started) == 2
