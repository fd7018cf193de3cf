"""Which mechanism `probe analyze` names, and when it abstains."""

from __future__ import annotations

import numpy as np
import pytest

from pages.wifi.second import KINDS
from thalweg.engine.scenario import Scenario
from thalweg.probe.mechanism.families import FAMILIES, Pace
from thalweg.probe.mechanism.naming import Mechanism, name_mechanism
from thalweg.probe.mechanism.reference import reference
from thalweg.probe.series import Floats, Series
from thalweg.probe.simulated import simulate_probe

SCENARIO = """\
title = "mechanism"
[path]
rate = "65 Mbps"
rtt = "4 ms"
buffer = "1 MB"
{}
[[flow]]
name = "main"
controller = "c4"
download = "1 MB"
"""
HIDDEN = '{ airtime = "2 ms", heard = "access-point", on = "20 ms", off = "180 ms" }'


def probed(element: str, seed: int = 7) -> Mechanism:
    """3750 probes at 20 ms, with seeds that no draw of the fit has."""
    scenario = Scenario.from_toml(SCENARIO.format(element), "mechanism")
    return name_mechanism(simulate_probe(scenario, seed, 0.02, 75.0))


def measured(rtt: Floats, interval: float = 0.02) -> Mechanism:
    """A series with these round-trip times."""
    sent = np.arange(len(rtt)) * interval
    there = np.where(np.isnan(rtt), np.nan, sent + rtt / 2)
    ones = np.isfinite(rtt).astype(np.int64)
    return name_mechanism(Series("hand-made", sent, there, there.copy(), sent + rtt, ones, ones * 0))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("element", "name"),
    [
        ('medium = { model = "wifi", preset = "home" }', "contention"),
        ('medium = { model = "wifi", preset = "apartment" }', "contention"),
        (f'medium = {{ model = "wifi", neighbours = [{HIDDEN}] }}', "hidden"),
        ('medium = { model = "wifi", preset = "hidden" }', "repeats"),
        ('medium = { model = "wifi", preset = "scan" }', "scans"),
        ('jitter = { model = "wifi", mean = "7 ms" }', "two Poissons"),
    ],
)
def test_a_mechanism_is_named_by_what_it_does_to_75_s_of_probes(element: str, name: str) -> None:
    found = probed(element)
    assert found.name == name
    assert found.posterior[name] >= 0.9
    assert found == probed(element)


@pytest.mark.soak
def test_a_client_that_scans_next_to_a_quiet_neighbour_is_named_so_or_not_at_all() -> None:
    kind = next(kind for kind in KINDS if kind.name == "scans, and a quiet neighbour")
    # Before a neighbour was among the draws of scans, six of these were named "repeats".
    rtts = (kind.draw(np.random.default_rng([77, index]), Pace(3750, 0.02)) for index in range(30))
    named = [measured(rtt + 3e-3).name for rtt in rtts]
    assert set(named) <= {"scans", None}
    assert named.count("scans") >= 10


@pytest.mark.soak
def test_the_intervals_hold_the_true_parameters() -> None:
    repeats = probed('medium = { model = "wifi", preset = "hidden" }').parameters
    # 30 attempts; one station that is on for 20 of 200 ms.
    assert repeats["attempts"].low <= 30 <= repeats["attempts"].high
    assert repeats["load"].low <= 0.1 <= repeats["load"].high
    scans = probed('medium = { model = "wifi", preset = "scan" }').parameters
    assert scans["every_s"].low <= 30 <= scans["every_s"].high
    assert scans["length_s"].low <= 0.25 <= scans["length_s"].high


@pytest.mark.soak
def test_nothing_is_named_on_a_path_without_wifi() -> None:
    random = np.random.default_rng(5)
    time = np.arange(3750) * 0.02
    sawtooth = 0.02 + 0.03 * (time % 7.3) / 7.3 + random.exponential(1e-4, 3750)
    for rtt in (
        np.full(3750, 0.02),
        0.02 + random.exponential(2e-4, 3750),
        sawtooth,
        0.05 + 0.02 * np.sin(time / 3) + random.random(3750) * 0.01,
        np.where(random.random(3750) < 0.03, np.nan, 0.04 + random.gamma(2, 8e-3, 3750)),
        np.concatenate([np.full(1800, 0.02), np.full(1950, -50.0)]),
        np.concatenate([np.full(1800, 0.02), np.full(1950, 1e6)]),
    ):
        assert measured(rtt).name is None


def test_samples_of_a_parameter_are_what_was_drawn_to_the_last_digit() -> None:
    # The exponential of the logarithm of 8 is less than 8: an interval up to it would not hold 8 attempts.
    table = reference(Pace(500, 0.02), 20)
    place = [family.name for family in FAMILIES].index("hidden")
    drawn = table.drawn[place]
    attempts = {parameters["attempts"] for parameters in drawn.parameters}
    assert len(attempts) >= 3
    assert attempts <= {4, 5, 6, 7, 8}
    for values in drawn.values:
        assert set(table.parameter(place, "attempts", values).tolist()) <= attempts


def test_a_series_that_cannot_be_compared_is_told_why() -> None:
    assert "0 probes are too few" in measured(np.array([])).reason
    assert "1 probes are too few" in measured(np.array([0.02])).reason
    assert "were answered" in measured(np.full(1000, np.nan)).reason
    assert "1 to 200 ms are needed" in measured(np.full(1000, 0.02), 0.5).reason
    assert "1 to 200 ms are needed" in measured(np.full(1_000_000, 0.02), 0.0).reason
