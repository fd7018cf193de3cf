"""The panel of the encoders of calls: their rate, what they are told, and the capacity."""

from __future__ import annotations

import polars as pl
import pytest

from drawings import drawn, vega_lite_schema
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.pages.figures import plot_trial, plot_trials

CALL = """title = "A call whose path falls"
time_limit = "20 s"
path = { rate = "4 Mbps", rtt = "40 ms", buffer = "100 ms", change = [{ at = "8 s", rate = "1 Mbps" }] }
[[flow]]
name = "call"
controller = "cubic"
background = true
[[flow.media]]
name = "video"
carriage = "datagrams"
per_second = 30
duration = "15 s"
rate = { least = "150 kbps", most = "6 Mbps", uses = "50 %", reaction = "0 s" }
[[flow.media]]
name = "audio"
carriage = "datagrams"
per_second = 50
duration = "15 s"
frame = "100 B"
"""


@pytest.fixture(scope="module")
def trial() -> Trial:
    return Scenario.from_toml(CALL, "call").run(seed=1, trace=True)


def test_a_trace_has_the_rate_of_an_encoder_and_what_it_was_told_at_each_frame(trial: Trial) -> None:
    assert trial.trace is not None
    frames = trial.trace.frames
    video, audio = (frames.filter(pl.col("stream") == stream) for stream in ("video", "audio"))
    assert video.height == 450
    assert audio["encoder_bps"].is_nan().all()
    assert audio["told_bps"].is_nan().all()
    # It uses half of what it is told, within its range.
    told = video.filter(pl.col("told_bps").is_not_nan())
    assert told.height >= 449
    half = (told["told_bps"] / 2).clip(150e3, 6e6)
    assert (told["encoder_bps"] - half).abs().to_numpy().max() <= 1.0
    mean = trial.outcomes.streams.filter(pl.col("stream") == "video")["encoder_rate_bps"][0]
    # Sizes deviate by 15 %: over 450 frames their mean is within four times 0.15 * sqrt(2 / 450) = 1 %.
    assert video["encoder_bps"].mean() == pytest.approx(mean, rel=0.04)


def test_one_stream_has_three_lines_and_three_trials_a_colour_each(trial: Trial) -> None:
    from altair.utils.schemapi import validate_jsonschema  # noqa: PLC0415 - takes half a second to load

    figure = plot_trial(trial, panels=["encoder"])
    data = drawn(figure, "encoder")
    assert data["label"].unique(maintain_order=True).to_list() == ["encoder", "what it is told", "capacity"]
    capacity = data.filter(pl.col("series") == "capacity")
    assert set(capacity["value"].round(3).to_list()) == {4.0, 1.0}
    validate_jsonschema(figure.spec, vega_lite_schema())
    three = plot_trials(dict.fromkeys(("one", "two", "three"), trial), panels=["encoder"])
    labels = drawn(three, "encoder")["label"].unique(maintain_order=True).to_list()
    assert labels == ["one", "two", "three", "capacity"]
    validate_jsonschema(three.spec, vega_lite_schema())


def test_a_trial_without_an_encoder_has_no_such_panel() -> None:
    download = Scenario.load("c4/simple-20mbps").run(seed=1, trace=True)
    assert "encoder" not in {panel["name"] for panel in plot_trial(download).spec["vconcat"]}
