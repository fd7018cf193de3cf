"""The envelope of a series: the mean over time, and the least and the greatest value, of each bucket."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from thalweg import Scenario
from thalweg.pages.figures import plot_trial
from thalweg.pages.figures.downsample import HIGH, LOW, envelope
from thalweg.pages.figures.theme import LOOKS


def at(times: np.ndarray, values: np.ndarray, when: np.ndarray) -> np.ndarray:
    """What a series of steps is at some times."""
    return values[np.searchsorted(times, when, side="right") - 1]


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_is_over_time_and_peaks_stay_in_the_envelope(seed: int) -> None:
    draw = np.random.default_rng(seed)
    times = np.sort(np.concatenate([[0.0, 1.0], draw.uniform(0, 1, 998)]))
    values = draw.uniform(0, 100, 1000)
    rows = envelope(pl.DataFrame({"time_s": times, "y": values}), "y", [], buckets=20)
    # By a hundred thousand looks at the steps: 5000 in each of 20 buckets.
    looks = at(times, values, (np.arange(100_000) + 0.5) / 100_000).reshape(20, -1)
    assert rows.height == 21  # the last value stands again at the end
    assert rows["y"].to_numpy()[:-1] == pytest.approx(looks.mean(axis=1), rel=0.01)
    assert (rows[LOW] <= rows["y"]).all()
    assert (rows["y"] <= rows[HIGH]).all()
    assert (rows[LOW].min(), rows[HIGH].max()) == (values[:-1].min(), values[:-1].max())


def test_groups_have_their_own_lines_and_what_has_no_end_is_a_gap() -> None:
    times = [number / 100 for number in range(400)]
    up = [math.inf if 100 <= number < 200 else 5.0 for number in range(400)]
    frame = pl.concat(
        pl.DataFrame({"time_s": times, "link": name, "y": values})
        for name, values in (("down", [1.0, 3.0] * 200), ("up", up))
    )
    rows = envelope(frame, "y", ["link"], buckets=8)
    down, of_up = (rows.filter(pl.col("link") == name) for name in ("down", "up"))
    assert down["y"].to_list() == pytest.approx([2.0] * down.height, abs=0.05)
    assert (set(down[LOW]), set(down[HIGH])) == ({1.0}, {3.0})
    gap = of_up.filter(pl.col("y").is_nan())["time_s"]  # the bucket before has a value for its first 2.5 ms
    assert gap.to_list() == pytest.approx([1.5], abs=0.01)
    assert set(of_up["y"].fill_nan(None).drop_nulls()) == {5.0}


def test_no_samples_and_few_samples_are_drawn_too() -> None:
    frame = pl.DataFrame({"time_s": [0.5, 1.0], "link": ["a", "a"], "y": [1.0, 2.0]})
    assert envelope(frame, "y", ["link"]).rows() == [(0.5, "a", 1.0, 1.0, 1.0), (1.0, "a", 2.0, 2.0, 2.0)]
    assert envelope(frame.clear(), "y", ["link"]).columns == ["time_s", "link", "y", LOW, HIGH]


def test_a_queue_is_a_line_with_its_envelope_behind() -> None:
    trial = Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"}).run(seed=1, trace=True)
    (panel,) = plot_trial(trial, panels=["queue"]).spec["vconcat"]
    area, line = panel["layer"][0]["layer"]
    assert (area["mark"]["type"], line["mark"]["type"]) == ("area", "line")
    assert area["mark"]["fillOpacity"] == LOOKS["envelope"]["opacity"] < 0.3
    assert trial.trace is not None
    delays = trial.trace.links.filter(pl.col("link") == "down")
    drawn = pl.read_csv(panel["layer"][0]["data"]["values"].encode()).filter(pl.col("label") == "queue, downlink")
    # In congestion avoidance the queue swings by a dozen packets of 0.6 ms with each burst, its mean by one.
    steady = drawn.filter(pl.col("time_s").is_between(2.5, 4.0))
    swings = (steady["high"] - steady["low"]).median()
    assert isinstance(swings, float)
    assert 3 < swings < 9
    assert np.abs(np.diff(steady["queue_delay_s"], 2)).mean() < swings / 3
    assert (drawn["high"].max() or 0) == pytest.approx(float(delays["queue_delay_s"].max() or 0) * 1e3, rel=1e-6)  # type: ignore[arg-type]
