"""The figure of the delays of frames over trials."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calls import CALL
from drawings import vega_lite_schema
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.pages.calls.delays import plot_delays
from thalweg.pages.figures import Figure


def frames(delays_ms: list[float | None], counted: bool = True) -> pl.DataFrame:
    """The frames of a trial with these delays; None for one that never came."""
    delays = [float("nan") if delay is None else delay / 1e3 for delay in delays_ms]
    return pl.DataFrame(
        {
            "time_s": [float(number) for number in range(len(delays))],
            "flow": "call",
            "stream": "video",
            "delay_s": delays,
            "deadline_s": 0.1,
            "frozen_s": float("nan"),
            "counted": counted,
        }
    )


def curve(figure: Figure, label: str, panel: int = 0) -> pl.DataFrame:
    """What is drawn of a label: delay in milliseconds, low, middle, high."""
    data: dict[str, Any] = figure.spec["vconcat"][panel]["layer"][0]["data"]
    return pl.read_csv(io.StringIO(data["values"])).filter(pl.col("label") == label)


def test_the_curve_is_the_share_of_frames_that_came_by_a_delay() -> None:
    """Of four frames one is there after 20 ms, two after 40 ms, three after 80 ms, and one never."""
    drawn = curve(plot_delays({"a": [frames([20, 40, 80, None])]}, "A call"), "a")
    for delay, share in ((19, 0.0), (21, 0.25), (41, 0.5), (79, 0.5), (81, 0.75), (109, 0.75)):
        at = drawn.filter(pl.col("delay") <= delay).row(-1, named=True)
        assert (at["low"], at["middle"], at["high"]) == (share, share, share), delay


def test_the_band_has_the_middle_nine_tenths_of_the_trials() -> None:
    """Of 21 trials the share in time is 0, 5, ... 100 %: the band is from the second to the last but one."""
    trials = [frames([10.0] * number + [None] * (20 - number)) for number in range(21)]
    last = curve(plot_delays({"a": trials}, "A call"), "a").row(-1, named=True)
    assert (last["low"], last["middle"], last["high"]) == pytest.approx((0.05, 0.5, 0.95))


def test_the_same_trials_have_the_same_curve_and_frames_before_measurement_do_not_count() -> None:
    early = pl.concat([frames([90.0] * 9, counted=False), frames([20, 40])])
    figure = plot_delays({"a": [early], "b": [early]}, "A call")
    one, other = (curve(figure, label).drop("label") for label in ("a", "b"))
    assert one.equals(other)
    assert one.row(-1, named=True)["middle"] == 1.0
    assert one.filter(pl.col("delay") < 39).row(-1, named=True)["middle"] == 0.5
    assert "a 100.0% within 100 ms, b 100.0% within 100 ms" in figure.description


def test_each_stream_of_a_trial_has_a_panel_which_vega_lite_accepts() -> None:
    from altair.utils.schemapi import validate_jsonschema  # noqa: PLC0415 - takes half a second to load

    trial = Scenario.from_toml(CALL, "call").run(seed=1, trace=True)
    assert trial.trace is not None
    figure = plot_delays({"c4": [trial.trace.frames] * 2}, "A call")
    assert len(figure.spec["vconcat"]) == 3
    validate_jsonschema(figure.spec, vega_lite_schema())
    with pytest.raises(RequestError, match="no counted frame of a call"):
        plot_delays({"c4": [trial.trace.frames.head(0)]}, "A call")


def test_the_command_draws_it_and_refuses_what_it_cannot_be_combined_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "call.toml"
    file.write_text(CALL, encoding="utf-8")

    def said(*options: str) -> tuple[int, str]:
        code = main(["plot", str(file), "-o", str(tmp_path / "a.svg"), *options])
        return code, capsys.readouterr().err

    assert said("--delays", "3", "-c", "main=c4", "-c", "main=cubic")[0] == 0
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").count("<svg") == 1
    for options, message in (
        (("--delays", "3", "--panels", "queue"), "--delays cannot be combined with --panels"),
        (("--delays", "3", "--seed", "1", "--seed", "2"), "--delays takes one --seed"),
        (("--delays", "0"), "--delays"),
    ):
        code, error = said(*options)
        assert code == 2
        assert message in error, error
    # Before a trial is played: a thousand would take seconds.
    assert main(["plot", "c4/bad-wifi", "--delays", "1000", "-o", str(tmp_path / "b.svg")]) == 2
    assert "--delays requires a call" in capsys.readouterr().err
