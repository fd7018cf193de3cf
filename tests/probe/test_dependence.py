"""How delays depend on each other in time, against arithmetic and against the media that differ in it."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from pages.wifi.spacing import ELEMENTS, SCENARIO
from thalweg import Scenario
from thalweg.probe.analysis import analyze
from thalweg.probe.dependence import correlate, dependence, event_lengths, growth
from thalweg.probe.series import Floats, Series
from thalweg.probe.simulated import simulate_probe


def series_of(delay: Floats, interval_s: float = 0.02) -> Series:
    sent = np.arange(len(delay)) * interval_s
    there = np.where(np.isnan(delay), np.nan, sent + delay / 2)
    ones = np.isfinite(delay).astype(np.int64)
    return Series("drawn", sent, there, there.copy(), sent + delay, ones, ones * 0)


def test_the_correlation_of_a_process_with_memory_is_its_power_of_the_lag() -> None:
    random = np.random.default_rng(1)
    # x' = 0.9 x + noise: the correlation is 0.9^lag, and below 1/e after ln(1/e) / ln 0.9 = 9.5 lags.
    values = [0.0]
    for draw in random.normal(size=100_000):
        values.append(0.9 * values[-1] + float(draw))
    found = dependence(series_of(0.01 + 1e-3 * (np.array(values) - min(values))))
    for lag, correlation in found.correlation.items():
        assert correlation == pytest.approx(0.9**lag, abs=0.02)
    assert 9 * 0.02 <= found.decay_s <= 11 * 0.02


def test_draws_that_do_not_depend_on_each_other_have_no_correlation() -> None:
    random = np.random.default_rng(2)
    found = dependence(series_of(0.003 + random.exponential(1e-3, 20_000)))
    # The standard error is 1/sqrt(20000), 0.007.
    assert all(abs(correlation) < 0.03 for correlation in found.correlation.values())
    assert found.decay_s == pytest.approx(0.02)
    assert found.events == ()


def test_what_does_not_vary_or_is_too_short_has_no_correlation() -> None:
    for delay in (np.full(100, 0.02), np.array([0.02, 0.03]), np.array([0.02, np.nan, np.nan, 0.03])):
        found = dependence(series_of(delay))
        assert all(isnan(correlation) for correlation in found.correlation.values())
        assert isnan(found.decay_s)
        assert analyze(series_of(delay)).document()["dependence"]["correlation"]["1"] is None


def test_a_series_that_ends_before_its_correlation_has_fallen_has_no_time_of_decay() -> None:
    assert isnan(dependence(series_of(np.linspace(0.001, 0.012, 12))).decay_s)


def test_an_event_is_as_long_as_its_long_delays_and_the_single_losses_between_them() -> None:
    long, short = 0.06, 0.001
    assert event_lengths(np.array([short, long, long, short, long])) == [2, 1]
    assert event_lengths(np.array([long, np.nan, long, np.nan, short])) == [3]
    assert event_lengths(np.array([long, np.nan, np.nan, long])) == [1, 1], "an outage is not part of an event"
    assert event_lengths(np.array([np.nan, short, np.nan])) == []
    found = dependence(series_of(np.array([short, long, np.nan, long, short])))
    assert list(found.events) == [pytest.approx(0.06)]


def test_a_correlation_leaves_out_what_was_lost() -> None:
    random = np.random.default_rng(3)
    whole = np.cumsum(random.normal(size=5000))
    holed = np.where(random.random(5000) < 0.3, np.nan, whole)
    assert correlate(holed, 1) == pytest.approx(correlate(whole, 1), abs=0.01)


def test_draws_for_each_packet_grow_with_their_number_and_contention_hardly_does() -> None:
    def grown(element: str) -> float:
        scenario = Scenario.from_toml(SCENARIO.format(ELEMENTS[element]), "path")
        found = [dependence(simulate_probe(scenario, 1, spacing, 30.0)) for spacing in (0.1, 0.0012)]
        assert isnan(growth(found)[0])
        return growth(found)[1]

    # 11.7 and 1.29 over more seeds: docs/evidence/wifi.md.
    assert 7 < grown("the draft's jitter, 7 ms") < 18
    assert 0.9 < grown("`home`") < 2
