"""Figures and the report: what must be in them. How they look is for the eye."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from drawings import drawn, figures_of
from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.pages.figures import plot_distribution, plot_trial, save
from thalweg.pages.figures.downsample import changes, downsample, gaps
from thalweg.pages.figures.theme import THEMES
from thalweg.pages.report import write_report
from thalweg.results.suite_result import SuiteResult

Make = Callable[..., Outcomes]


def test_thinning_keeps_every_peak_and_far_fewer_points() -> None:
    values = np.zeros(100_000)
    values[[1_234, 77_777]] = [50.0, -50.0]
    frame = pl.DataFrame({"time_s": np.linspace(0, 10, 100_000), "y": values, "flow": "main"})
    thin = downsample(frame, "y", ["flow"], buckets=100)
    assert thin.height <= 400
    assert (thin["y"].max(), thin["y"].min()) == (50.0, -50.0)
    assert (thin["time_s"].min(), thin["time_s"].max()) == (0.0, 10.0)


def test_thinning_leaves_out_what_was_not_measured() -> None:
    frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0], "y": [None, float("nan"), 3.0], "flow": "main"})
    assert downsample(frame, "y", ["flow"])["y"].to_list() == [3.0]


def test_steps_keep_the_changes_and_the_end() -> None:
    frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 3.0, 4.0], "state": ["a", "a", "b", "b", "b"], "flow": "main"})
    assert changes(frame, "state", ["flow"])["time_s"].to_list() == [0.0, 2.0, 4.0]


def test_a_distribution_shows_every_finished_trial_the_target_and_the_floor(outcomes_of: Make) -> None:
    chart = plot_distribution(outcomes_of([4.5, 4.6, float("nan")]))
    text = json.dumps(chart.to_dict())
    assert "target: 5 s" in text
    assert "floor: 4 s" in text
    table = drawn(chart, "trials")
    assert table["value"].to_list() == [4.5, 4.6]
    assert table["share"].to_list() == pytest.approx([1 / 3, 2 / 3], abs=1e-6)


def test_a_trial_cannot_be_drawn_without_a_trace() -> None:
    with pytest.raises(RequestError, match="trace=True"):
        plot_trial(Scenario.load("c4/simple-20mbps").run())


def test_a_figure_of_several_flows_can_be_drawn(scenario_file: Path, tmp_path: Path) -> None:
    second = '\n[[flow]]\nname = "other"\ncontroller = "cubic"\ndownload = "100 kB"\n'
    scenario_file.write_text(scenario_file.read_text(encoding="utf-8") + second, encoding="utf-8")
    trial = Scenario.load(scenario_file).run(trace=True)
    save(plot_trial(trial), tmp_path / "two.svg")
    drawn = (tmp_path / "two.svg").read_text(encoding="utf-8")
    assert "other" in drawn
    assert "smoothed RTT" in drawn


def test_the_report_is_one_page_without_a_network(tmp_path: Path, scenario_file: Path) -> None:
    text = scenario_file.read_text(encoding="utf-8").replace("A short download", "<b>Short</b> & </script> sweet")
    outcomes = Scenario.from_toml(text, "short").trials(4)
    result = SuiteResult(None, "By hand", None, seed=1, outcomes=[outcomes], folder=tmp_path)
    page = tmp_path / "report.html"
    write_report(result, page)
    html = page.read_text(encoding="utf-8")
    markup = re.sub(r"(<script[^>]*>).*?</script>", r"\1</script>", html, flags=re.S)
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", markup)
    assert "&lt;b&gt;Short&lt;/b&gt; &amp; &lt;/script&gt; sweet" in markup
    assert "<b>Short</b>" not in html
    assert set(figures_of(html)) == {"short-main-completion", "short-worst"}
    assert html.count(f"thalweg replay {tmp_path} short") == 1


def test_a_flow_that_is_not_paced_has_no_pacing_rate_in_files_and_figures(tmp_path: Path) -> None:
    scenario = Scenario.load("c4/simple-20mbps", controllers={"main": "cubic:variant=picoquic"})
    trial = scenario.run(seed=1, trace=True)
    assert trial.trace is not None
    pacing = trial.trace.flows["pacing_bps"]
    # The window begins with ten packets, but what is not paced yet waits for a round-trip time to pace by.
    assert np.isnan(pacing[0])
    # The path carries 20 Mbps; slow start paces at 5/4 of the window over the RTT, a few times that.
    assert 20e6 < float(pacing.fill_nan(None).max()) < 200e6  # type: ignore[arg-type]
    trial.trace.save(tmp_path / "trial.csv")
    written = pl.read_csv(tmp_path / "trial.csv", infer_schema_length=None)["pacing_bps"]
    assert written.max() == pacing.fill_nan(None).max()


def test_a_line_ends_where_a_value_is_unknown_for_longer_than_a_bucket() -> None:
    frame = pl.DataFrame(
        {
            "time_s": [0.0, 1.0, 2.0, 3.0, 3.1, 3.2, 10.0],
            "flow": "main",
            "y": [1.0, float("nan"), float("nan"), 2.0, None, 3.0, 4.0],
        }
    )
    # Ten buckets of a second: the gap from 1 to 3 s is one, that from 3.1 to 3.2 s is not.
    ends = gaps(frame, "y", ["flow"], buckets=10)
    assert ends.rows() == [(1.0, "main", 1.0), (1.0, "main", None)]


def test_every_word_of_a_figure_is_readable_on_a_dark_page() -> None:
    # What a theme does not name is black.
    for name, theme in THEMES.items():
        ground = 0x16 if name == "dark" else 0xFF
        for part in ("axis", "legend", "header"):
            for word in ("labelColor", "titleColor"):
                grey = int(theme[part][word][1:3], 16)
                assert abs(grey - ground) > 100, (name, part, word)


def test_a_dark_picture_brings_its_background_along() -> None:
    assert THEMES["dark"]["background"].startswith("#")
