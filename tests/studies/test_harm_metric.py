"""The metric of harm on series made by hand, whose answers are derived here, and the matrix of all controllers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from thalweg.cli import main
from thalweg.cli.study.harm import choose
from thalweg.experiments.studies.harm.metric import (
    durations,
    excess,
    geometric_mean,
    harm_less_is_better,
    harm_more_is_better,
    observed_durations,
    quantile,
)
from thalweg.experiments.studies.harm.parameters import PRESETS
from thalweg.judging.statistics.means import mean_interval

Capture = pytest.CaptureFixture[str]
RANDOM = [np.random.default_rng(seed).lognormal(0, 2, 50) for seed in range(20)]


def test_times_are_harmed_by_the_part_of_them_that_waiting_is() -> None:
    # 40 ms alone, 100 ms in competition: 60 of the 100 ms are the competitor's.
    assert harm_less_is_better(40.0, 100.0) == pytest.approx(0.6)
    # 176.2 ms alone and 1171.3 ms beside Prague, the first row that ccafct prints: 995.1 / 1171.3 = 0.8496.
    assert harm_less_is_better(176.2, 1171.3) == pytest.approx(0.850, abs=5e-4)


def test_throughput_is_harmed_by_the_part_of_it_that_is_lost() -> None:
    # 40 Mbps alone, 10 in competition: 30 of 40 are gone.
    assert harm_more_is_better(40e6, 10e6) == pytest.approx(0.75)


def test_a_rate_and_the_time_that_it_needs_are_harmed_alike() -> None:
    for sample in RANDOM:
        solo, competing = sample[:25], sample[25:]
        by_time = harm_less_is_better(1 / solo, 1 / competing)
        assert harm_more_is_better(solo, competing) == pytest.approx(by_time)


def test_the_two_forms_of_harm_to_a_time_tell_the_same_on_different_scales() -> None:
    # From 1 s to 4 s: three quarters of the 4 s, three times the 1 s; 3 / (1 + 3) = 0.75.
    assert harm_less_is_better(1.0, 4.0) == pytest.approx(0.75)
    assert excess(1.0, 4.0) == pytest.approx(3.0)
    for sample in RANDOM:
        more = excess(sample[:25], sample[25:])
        assert harm_less_is_better(sample[:25], sample[25:]) == pytest.approx(more / (1 + more))


def test_equal_measures_are_no_harm_whatever_they_are() -> None:
    for sample in [*RANDOM, np.array([0.0])]:
        assert (harm_less_is_better(sample, sample) == 0).all()
        assert (harm_more_is_better(sample, sample) == 0).all()
        assert (excess(sample, sample) == 0).all()


def test_a_benefit_is_negative_and_clamped_to_no_harm_only_when_asked_for() -> None:
    assert harm_less_is_better(2.0, 1.0, clamp=True) == 0.0
    assert harm_less_is_better(2.0, 1.0) == pytest.approx(-1.0)  # (1 - 2) / 1
    assert harm_more_is_better(10.0, 15.0, clamp=True) == 0.0
    assert harm_more_is_better(10.0, 15.0) == pytest.approx(-0.5)  # (10 - 15) / 10


def test_the_mean_harm_of_nothing_is_none_as_often_as_promised() -> None:
    # With a benefit taken for 0 before the mean, the interval of 20 replications left 0 out in 97 % of such cases.
    rng = np.random.default_rng(5)
    intervals = [mean_interval(harm_less_is_better(*rng.lognormal(0, 0.1, (2, 20)))) for _ in range(2000)]
    assert 0.01 < np.mean([interval.low > 0 for interval in intervals]) < 0.035
    clamped = [mean_interval(harm_less_is_better(*rng.lognormal(0, 0.1, (2, 20)), clamp=True)) for _ in range(200)]
    assert np.mean([interval.low > 0 for interval in clamped]) > 0.9


def test_a_time_that_becomes_infinite_is_harmed_entirely_and_one_that_was_is_not_known() -> None:
    assert harm_less_is_better([1.0, math.inf], [math.inf, 1.0]).tolist() == [1.0, -math.inf]
    assert math.isnan(float(harm_less_is_better(math.inf, math.inf)))


def test_clamped_harm_is_between_none_and_all() -> None:
    for sample in RANDOM:
        for harm in (harm_less_is_better, harm_more_is_better):
            values = harm(sample[:25], sample[25:], clamp=True)
            assert ((values >= 0) & (values <= 1)).all()
            assert values.max() > 0.5  # the samples spread over decades: some pair is harmed


def test_more_of_a_harmful_thing_harms_more() -> None:
    times = harm_less_is_better(1.0, np.array([1.0, 1.5, 2.0, 10.0, 1e6]))
    assert (np.diff(times) > 0).all()
    rates = harm_more_is_better(1.0, np.array([1.0, 0.7, 0.5, 0.1, 0.0]))
    assert (np.diff(rates) > 0).all()
    assert rates[-1] == 1.0


def test_a_measure_that_is_zero_alone() -> None:
    # Loss from 0 to 1 % is all of the 1 %; 0 that stays 0 is nothing; of a throughput of 0 nothing is taken.
    assert harm_less_is_better([0.0, 0.0], [0.01, 0.0]).tolist() == [1.0, 0.0]
    assert harm_more_is_better([0.0, 0.0], [5.0, 0.0]).tolist() == [0.0, 0.0]
    assert excess([0.0, 0.0], [0.01, 0.0]).tolist() == [math.inf, 0.0]


def test_the_unit_of_a_measure_does_not_matter() -> None:
    for sample in RANDOM:
        in_ms = harm_less_is_better(1e3 * sample[:25], 1e3 * sample[25:])
        assert in_ms == pytest.approx(harm_less_is_better(sample[:25], sample[25:]))


def test_the_geometric_mean_multiplies() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)  # sqrt(2 * 8)
    assert geometric_mean([5.0]) == pytest.approx(5.0)
    assert geometric_mean([0.0, 5.0]) == 0.0
    for sample in RANDOM:
        assert sample.min() < geometric_mean(sample) < sample.mean()


def test_harm_between_geometric_means_is_that_of_the_flows_one_by_one() -> None:
    solo, competing = RANDOM[0], RANDOM[1]
    one_by_one = 1 - 1 / geometric_mean(competing / solo)
    between = harm_less_is_better(geometric_mean(solo), geometric_mean(competing))
    assert between == pytest.approx(one_by_one)


@pytest.mark.parametrize(
    ("p", "answer"),
    [
        (0.0, 1.0),  # the least
        (0.05, 1.0),  # F(1) = 1/20 = 0.05: reached
        (0.051, 2.0),  # F(1) = 0.05 is too little
        (0.5, 10.0),  # F(10) = 10/20; an interpolating median is 10.5
        (0.95, 19.0),  # F(19) = 19/20
        (0.951, 20.0),
        (1.0, 20.0),
    ],
)
def test_a_quantile_is_the_smallest_value_with_enough_at_or_under_it(p: float, answer: float) -> None:
    assert quantile(np.random.default_rng(1).permutation(np.arange(1.0, 21.0)), p) == answer


def test_a_quantile_is_not_misled_by_rounding() -> None:
    # F(7) = 7/100 is enough for 0.07, though 0.07 * 100 is 7.000000000000001 in floating point.
    assert math.ceil(0.07 * 100) == 8
    assert quantile(np.arange(1.0, 101.0), 0.07) == 7.0


def test_a_flow_that_never_completed_is_infinite_in_quantiles_and_was_there_until_the_end() -> None:
    flows = [0.0, 20.0, 2.0], [3.0, np.nan, 2.5]
    assert durations(*flows).tolist() == [3.0, math.inf, 0.5]
    assert quantile(durations(*flows), 0.5) == 3.0
    assert quantile(durations(*flows), 0.95) == math.inf
    there = observed_durations(*flows, limit_s=60.0)
    assert there.tolist() == [3.0, 40.0, 0.5]
    assert geometric_mean(there) == pytest.approx(60 ** (1 / 3))  # 3 * 40 * 0.5 = 60


def test_replications_have_the_interval_of_student() -> None:
    # 1, 2, 3: mean 2, s = 1, s / sqrt(3) = 0.57735; t(0.975, 2) = 4.30265: 2 +- 2.48414.
    interval = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert interval.value == pytest.approx(2.0)
    assert (interval.low, interval.high) == pytest.approx((-0.48414, 4.48414), abs=1e-5)


def test_an_empty_sample_is_refused() -> None:
    for statistic in (geometric_mean, lambda sample: quantile(sample, 0.5)):
        with pytest.raises(ValueError, match="at least one value"):
            statistic([])


@pytest.mark.parametrize("bad", [-1.0, math.nan])
def test_impossible_measurements_are_refused(bad: float) -> None:
    for harm in (harm_less_is_better, harm_more_is_better, excess):
        with pytest.raises(ValueError, match="solo holds"):
            harm([1.0, bad], [1.0, 1.0])
        with pytest.raises(ValueError, match="competing holds"):
            harm([1.0, 1.0], [bad, 1.0])
    with pytest.raises(ValueError, match="the sample holds"):
        geometric_mean([1.0, bad])


def test_impossible_flows_and_quantiles_are_refused() -> None:
    with pytest.raises(ValueError, match="before it starts"):
        durations([2.0], [1.0])
    with pytest.raises(ValueError, match="beyond the limit"):
        observed_durations([0.0], [11.0], 10.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile([1.0], 95)


def test_a_matrix_without_names_takes_every_controller_whatever_the_preset(capsys: Capture) -> None:
    few = ["--preset", "ccafct-test", "--matrix", "--rtt", "20 ms", "--count", "2", "-n", "1"]
    assert main(["study", "harm", *few, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    everyone = ("c4", "cubic", "reno", "bbr", "bbr1", "prague")
    assert PRESETS["matrix"].controllers == everyone
    assert {(row["controller"], row["competitor"]) for row in rows} == {
        (first, other) for first in everyone for other in (None, *everyone)
    }


def test_a_matrix_takes_each_named_controller_on_both_sides(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "matrix"
    options = ["--queue", "drop-tail", "--count", "20", "--head-start", "1 s", "--rtt", "20 ms", "-n", "2"]
    options += ["--matrix", "-c", "reno", "-c", "bbr"]
    assert main(["study", "harm", *options, "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "beyond itself" in said
    rows = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))["rows"]
    sides = [(row["controller"], row["competitor"]) for row in rows]
    rivals = (None, "reno", "bbr")
    assert sides == [(victim, rival) for victim in ("reno", "bbr") for rival in rivals]
    assert "Who harms whom, 20 ms" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_matrix_in_real_time_is_of_the_kernels_controllers_if_none_is_named() -> None:
    chosen = choose({"controllers": None, "competitors": None, "matrix": True, "preset": "ccafct"}, live=True)
    assert any(name.startswith("kernel:") for name in chosen.controllers)
