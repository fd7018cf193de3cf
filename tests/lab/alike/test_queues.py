"""Queues as their mean and its envelope: the page of the lab and figures draw the same of the same samples."""

from __future__ import annotations

import math
import random

import numpy as np
import polars as pl
import pytest

from lab.alike.conftest import Ask
from thalweg.pages.figures.downsample import HIGH, LOW, envelope

WIDTH, HEIGHT, TOP = 600.0, 100.0, 50.0
SPAN = {"from": 0.0, "until": 10.0, "left": 0.0, "width": WIDTH}
FRAME = {**SPAN, "top": 0.0, "height": HEIGHT, "least": 0.0, "most": TOP}


def sawtooth(seed: int, count: int) -> tuple[list[float], list[float]]:
    """Times from 0 to 10 and values that swing; now and then a link carries nothing, and waits have no end."""
    draw = random.Random(seed)
    times = sorted([0.0, 10.0, *(draw.uniform(0.0, 10.0) for _ in range(count - 2))])
    values = [20 + 15 * math.sin(time) + draw.uniform(-2, 2) for time in times]
    for number in range(count // 3, count // 3 + count // 20):
        values[number] = math.inf
    return times, values


def means(ask: Ask, times: list[float], values: list[float], pixels: float) -> tuple[np.ndarray, np.ndarray]:
    """Means by interval as the lab draws them, and the corners of the band, as values."""
    written = [value if math.isfinite(value) else "Infinity" for value in values]
    [drawn] = ask("chart/thin.ts", [["swing", times, written, FRAME, pixels]])
    numbers = {key: np.array([float(value) for value in points]).reshape(-1, 2) for key, points in drawn.items()}
    for points in numbers.values():
        points[:, 1] = (HEIGHT - points[:, 1]) / HEIGHT * TOP
    return numbers["line"], numbers["band"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_means_and_envelopes_are_those_of_the_figure(ask: Ask, seed: int) -> None:
    times, values = sawtooth(seed, 3000)
    count = 200
    ours = envelope(pl.DataFrame({"time_s": times, "y": values}), "y", [], buckets=count)
    line, band = means(ask, times, values, WIDTH / count)
    starts = line[line[:, 0] < WIDTH][:, 0] / WIDTH * 10
    known = pl.DataFrame({"time_s": starts + 1e-9}).join_asof(ours, on="time_s")
    drawn = line[line[:, 0] < WIDTH][:, 1]
    # An interval begins where the one before ends: the later of two points at one place is its mean.
    last = np.append(np.diff(starts) > 1e-9, True)
    expected = known["y"].to_numpy()[last]
    assert np.array_equal(np.isnan(drawn[last]), np.isnan(expected))
    assert np.isnan(expected).sum() >= 5
    assert drawn[last] == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert np.nanmax(band[:, 1]) == pytest.approx(ours[HIGH].fill_nan(None).max())
    assert np.nanmin(band[:, 1]) == pytest.approx(ours[LOW].fill_nan(None).min())


def test_few_samples_are_drawn_as_they_are(ask: Ask) -> None:
    times, values = sawtooth(4, 40)
    values = [value if math.isfinite(value) else 7.0 for value in values]
    line, band = means(ask, times, values, 3.0)
    assert len(band) == 0
    assert {round(value, 6) for value in values} <= {round(value, 6) for value in line[:, 1]}
