"""Figures of trials: what a reader must find on them, and what Vega-Lite accepts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from calls import CALL, CALL_IN_BOTH_DIRECTIONS, CALL_THAT_STOPS
from drawings import drawn, parts, vega_lite_schema
from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes, Trial
from thalweg.engine.scenario import Scenario
from thalweg.pages.figures import PANELS, Figure, plot_distribution, plot_trial, plot_trials
from thalweg.pages.figures.frames import fates, freezes, spans
from thalweg.pages.figures.states import STATES
from thalweg.pages.figures.theme import distinct

Make = Callable[..., Outcomes]

FLOWS = """
title = "Eight flows"
time_limit = "1 s"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "50 ms"
""" + "".join(
    f'[[flow]]\nname = "flow{number}"\ncontroller = "{name}"\ndownload = "1 MB"\n'
    for number, name in enumerate(("c4", "cubic", "bbr", "reno") * 2)
)


@pytest.fixture(scope="module")
def call() -> Trial:
    return Scenario.from_toml(CALL, "call").run(seed=1, trace=True)


@pytest.fixture(scope="module")
def download() -> Trial:
    return Scenario.load("c4/simple-20mbps").run(seed=1, trace=True)


@pytest.fixture(scope="module")
def flows() -> Trial:
    return Scenario.from_toml(FLOWS, "flows").run(seed=1, trace=True)


def colours(spec: Any) -> list[tuple[str, str]]:
    """What each colour of a figure stands for: label and colour, each pair once."""
    scales = [
        part["color"]["scale"]
        for part in parts(spec)
        if isinstance(part.get("color"), dict) and "scale" in part["color"]
    ]
    pairs = [pair for scale in scales for pair in zip(scale["domain"], scale["range"], strict=True)]
    return list(dict.fromkeys(pairs))


def test_every_kind_of_figure_is_valid_vega_lite(
    call: Trial, download: Trial, flows: Trial, outcomes_of: Make
) -> None:
    from altair.utils.schemapi import validate_jsonschema  # noqa: PLC0415 - takes half a second to load

    figures = [
        plot_trial(call),
        plot_trial(download),
        plot_trial(flows),
        plot_trials({"one": call, "other": call}),
        plot_distribution(outcomes_of([4.5, 4.6])),
    ]
    accepted = vega_lite_schema()
    for figure in figures:
        for theme in ("screen", "dark", "paper"):
            validate_jsonschema(figure.to_dict(theme), accepted)
        validate_jsonschema(figure._noted(figure.to_dict()), accepted)
    broken = plot_trial(download).to_dict()
    broken["vconcat"][0]["height"] = "tall"
    with pytest.raises(Exception, match="tall"):
        validate_jsonschema(broken, accepted)


def test_every_frame_of_a_call_is_in_its_trace_once_with_the_delays_of_the_outcome(call: Trial) -> None:
    assert call.trace is not None
    frames = call.trace.frames
    # 30 frames a second of video for 4 s; the stream of audio has its own rate.
    assert set(frames["stream"]) >= {"audio", "video"}
    video = frames.filter(pl.col("stream") == "video")
    assert video.height == 120
    assert video["time_s"].is_sorted()
    for row in call.outcomes.streams.iter_rows(named=True):
        counted = frames.filter((pl.col("stream") == row["stream"]) & pl.col("counted"))
        came = counted.filter(pl.col("delay_s").is_not_nan())
        assert came.height == row["frames"]
        assert came["delay_s"].mean() == pytest.approx(row["mean_delay_s"], abs=1e-6)
        assert came["delay_s"].max() == pytest.approx(row["max_delay_s"], abs=1e-9)
        assert (came["delay_s"] > came["deadline_s"]).sum() == row["late"]
        stalls = list(freezes(counted))
        assert len(stalls) == row["freezes"]
        # A freeze to the end of the stream ends one interval after the last frame, which has whole nanoseconds.
        assert sum(end - begin for begin, end in stalls) == pytest.approx(row["frozen_s"], abs=2e-9)


def test_what_jitter_held_back_is_in_the_trace_and_no_more_than_that(call: Trial, download: Trial) -> None:
    assert call.trace is not None
    assert download.trace is not None
    held = call.trace.held
    # Each packet that came was held back by what the link reports on the mean; those by nothing have no row.
    links = {row["link"]: row for row in call.links.iter_rows(named=True)}
    for (link,), rows in held.group_by("link"):
        mean = float(rows["held_s"].sum()) / links[link]["delivered_packets"]
        assert mean == pytest.approx(links[link]["experienced_jitter_s"], rel=1e-6)
    assert held["held_s"].min() > 0  # type: ignore[operator]
    assert download.trace.held.is_empty()


def test_calls_of_several_controllers_have_one_scale_and_a_row_of_freezes_each() -> None:
    trials = {
        name: Scenario.from_toml(CALL, "call", controllers=[("main", name)]).run(seed=1, trace=True)
        for name in ("c4", "cubic", "gcc")
    }
    figure = plot_trials(trials, panels=["freezes", "frames"])
    strip, *panels = figure.spec["vconcat"]
    assert strip["name"] == "freezes"
    rows = drawn(figure, "freezes")
    assert rows["flow"].unique(maintain_order=True).to_list() == [
        f"{name}: {stream}" for name in trials for stream in ("video", "video-high")
    ]
    for name, trial in trials.items():
        assert trial.trace is not None
        video = trial.trace.frames.filter(pl.col("stream") == "video")
        own = rows.filter((pl.col("flow") == f"{name}: video") & (pl.col("until_s") > pl.col("time_s")))
        assert own.select("time_s", "until_s").rows() == [pytest.approx(stall) for stall in freezes(video)]
    scales = [
        str(layer["encoding"]["y"]["scale"])
        for panel in panels
        for layer in panel["layer"]
        if layer["mark"]["type"] == "point"
    ]
    # Three streams of each trial, in one order.
    assert len(scales) == 9
    assert scales[:3] == scales[3:6] == scales[6:]


def test_the_rows_of_freezes_of_a_call_in_both_directions_have_names_that_fit() -> None:
    trials = {
        name: Scenario.from_toml(CALL_IN_BOTH_DIRECTIONS, "call", controllers=[("call", name)]).run(
            seed=1, trace=True
        )
        for name in ("screamv2", "gcc")
    }
    strip, *_ = plot_trials(trials, panels=["freezes", "frames"]).spec["vconcat"]
    # The call is the only flow, so that a row is of a controller and a stream, on two lines.
    assert strip["encoding"]["y"]["sort"] == [
        f"{name}: {stream}" for name in trials for stream in ("video", "camera")
    ]
    assert strip["encoding"]["y"]["axis"]["labelExpr"] == "split(datum.label, ': ')"
    assert strip["height"] == 4 * 26


def test_a_picture_that_never_comes_back_is_frozen_to_the_last_frame_of_the_figure() -> None:
    trial = Scenario.from_toml(CALL_THAT_STOPS, "call").run(seed=1, trace=True)
    assert trial.trace is not None
    [stream] = trial.outcomes.streams.iter_rows(named=True)
    [(begin, end)] = freezes(trial.trace.frames)
    # 480 kbps meet 100 kbps after 1 s: frames are skipped from the first one on that is 200 ms late.
    assert (stream["freezes"], stream["undelivered"]) == (1, stream["skipped"])
    assert 1.0 < begin < 1.6
    assert stream["frozen_s"] > 2
    assert stream["frozen_s"] >= end - begin > 0.2
    # A row of freezes needs no frame that ends one.
    ends_none = trial.trace.frames.with_columns(frozen_s=pl.lit(float("nan")))
    [(_, _, row_begin, row_end)] = spans(ends_none, {}).rows()
    assert (row_begin, row_end) == (begin, end)


def test_no_row_of_freezes_is_drawn_where_the_frames_of_one_stream_show_them(call: Trial) -> None:
    assert call.trace is not None
    frames = call.trace.frames
    one = replace(call, trace=replace(call.trace, frames=frames.filter(pl.col("stream") == "video")))
    for trial, drawn_ in ((call, True), (one, False)):
        names = [panel["name"] for panel in plot_trial(trial).spec["vconcat"]]
        assert ("freezes" in names) is drawn_


def test_some_flows_of_a_trial_are_drawn_with_their_own_drops(flows: Trial) -> None:
    figure = plot_trial(flows, flows=["flow2", "flow5"])
    assert set(drawn(figure, "rtt")["flow"]) == {"flow2", "flow5"}
    assert flows.trace is not None
    own = flows.trace.drops.filter(pl.col("flow").is_in(["flow2", "flow5"])).height
    said = re.findall(r"(\d+) dropped", json.dumps(figure.spec["vconcat"]))
    assert sum(map(int, dict.fromkeys(said))) == own < flows.trace.drops.height
    # All flows by name are the figure without names.
    names = flows.flows["flow"].to_list()
    assert plot_trial(flows, flows=names).spec == plot_trial(flows).spec
    with pytest.raises(
        RequestError, match=r"no flow has the name 'flow'; did you mean .*; accepted: flow0, flow1"
    ):
        plot_trial(flows, flows=["flow"])


def test_a_call_is_drawn_with_a_panel_for_each_stream_its_deadline_and_what_held_packets_back(call: Trial) -> None:
    figure = plot_trial(call)
    names = [panel["name"] for panel in figure.spec["vconcat"]]
    assert call.trace is not None
    streams = call.trace.frames["stream"].n_unique()
    assert [name for name in names if name.startswith("frames")] == [f"frames-{n}" for n in range(streams)]
    assert "held" in names
    text = json.dumps(figure.spec)
    assert "deadline 250 ms" in text
    assert "late" in drawn(figure, "frames-0")["label"].to_list() + drawn(figure, "frames-1")["label"].to_list()


def test_late_frames_and_missing_ones_are_never_thinned_away() -> None:
    frames = pl.DataFrame(
        {
            "time_s": np.arange(50_000) / 100,
            "flow": "main",
            "stream": "audio",
            "delay_s": np.where(np.arange(50_000) % 50 == 7, 0.3, 0.03),
            "deadline_s": 0.25,
            "frozen_s": float("nan"),
            "counted": True,
        }
    ).with_columns(pl.when(pl.col("time_s") == 5.0).then(float("nan")).otherwise("delay_s").alias("delay_s"))
    from thalweg.pages.figures.frames import frames as panels  # noqa: PLC0415 - the name of the table here

    (panel,) = panels(frames, {"main": "main"}, 100)
    data = next(part["values"] for part in parts(panel.spec) if part.get("name") == "frames-0")
    labels = pl.read_csv(data.encode())["label"].value_counts()
    counts = dict(labels.iter_rows())
    assert counts["late"] == 1000
    assert counts["never came"] == 1
    assert 100 <= counts["in time"] <= 400


def test_the_fate_of_a_frame_is_that_of_the_outcome() -> None:
    rows = pl.DataFrame(
        {
            "time_s": [0.0, 1.0, 1.1, 1.5],
            "delay_s": [9.0, 0.25, 0.2501, float("nan")],
            "deadline_s": 0.25,
            "frozen_s": [float("nan"), float("nan"), 0.2, float("nan")],
            "counted": [False, True, True, True],
        }
    )
    assert fates(rows)["fate"].to_list() == ["before the start of measurement", "in time", "late", "never came"]
    # The third came at 1.1 + 0.2501 = 1.3501 s and ended a freeze of 200 ms.
    ((begin, end),) = freezes(rows)
    assert (begin, end) == pytest.approx((1.1501, 1.3501))


def test_a_sentence_says_how_many_frames_failed_where_and_why(call: Trial) -> None:
    said = plot_trial(call).spec["title"]["subtitle"][1]
    late = call.outcomes.streams["late"].sum()
    assert late > 0
    assert said.startswith(f"{late:.0f} late frame")
    assert re.search(r"packets held back up to \d+ ms by Wi-Fi", said)
    assert re.search(r"queues never exceeded [\d.]+ [um]?s", said)


def test_a_call_in_time_says_so_and_a_download_what_held_it_up(download: Trial) -> None:
    quiet = Scenario.from_toml(CALL.replace(', jitter = { model = "wifi", mean = "30 ms" }', ""), "quiet")
    said = plot_trial(quiet.run(seed=1, trace=True)).spec["title"]["subtitle"][1]
    assert re.match(r"All \d+ frames came in time, the slowest after \d+ ms", said)
    said = plot_trial(download).spec["title"]["subtitle"][1]
    row = download.flows.row(0, named=True)
    # What noise adds to the start is not part of a completion time; it is less than 1 ms.
    took = float(re.match(r"Done after ([\d.]+) s, ", said).group(1))  # type: ignore[union-attr]
    assert took == pytest.approx(row["completion_s"], abs=1.5e-3)
    assert f"{download.links['dropped_packets'].sum()} packets dropped by full queues" in said


def test_no_colour_stands_for_two_things(call: Trial, download: Trial, flows: Trial) -> None:
    for trial in (call, download, flows):
        meant = colours(plot_trial(trial).spec)
        assert len({colour for _, colour in meant}) == len({label for label, _ in meant})


def test_states_have_colours_that_can_be_told_apart() -> None:
    def rgb(text: str) -> np.ndarray[Any, Any]:
        return np.array([int(text[index : index + 2], 16) for index in (1, 3, 5)])

    named = [(name, rgb(colour)) for name, (colour, _) in STATES.items()]
    apart = [
        float(np.linalg.norm(colour - other)) for at, (_, colour) in enumerate(named) for _, other in named[:at]
    ]
    assert min(apart) > 14  # of 442 between black and white
    assert np.linalg.norm(rgb(STATES["slow start"][0]) - rgb(STATES["Probing"][0])) > 50


def test_eight_flows_differ_and_the_legend_names_flow_and_controller(flows: Trial) -> None:
    scale = panel_of(plot_trial(flows), "window")["encoding"]["color"]["scale"]
    assert scale["domain"] == [f"flow{n} ({('c4', 'cubic', 'bbr', 'reno')[n % 4]})" for n in range(8)]
    assert len(set(scale["range"])) == 8
    assert len(set(distinct(100))) == 100


def test_a_label_of_ones_own_takes_the_place_of_the_name(flows: Trial) -> None:
    scale = panel_of(plot_trial(flows, labels={"flow1": "mild"}), "window")["encoding"]["color"]["scale"]
    assert scale["domain"][:2] == ["flow0 (c4)", "mild"]


def test_states_moments_and_queues_are_explained(download: Trial, tmp_path: Path) -> None:
    notes = plot_trial(download).notes
    assert {"floor", "completed", "closed", "queue, uplink", "queue, downlink"} <= set(notes)
    assert {"Cruising", "Probing"} <= set(notes)
    plot_trial(download, panels=["window"]).save(tmp_path / "figure.svg")
    assert "floor: the least completion time" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_single_panels_can_be_drawn_and_others_are_refused(download: Trial) -> None:
    figure = plot_trial(download, panels=["queue", "rtt"])
    assert [panel["name"] for panel in figure.spec["vconcat"]] == ["rtt", "queue"]
    with pytest.raises(RequestError, match="did you mean queue"):
        plot_trial(download, panels=["queues"])
    with pytest.raises(RequestError, match="nothing to draw in frames"):
        plot_trial(download, panels=["frames"])
    every = ("states", "limits", "window", "rtt", "rate", "queue", "marks", "held", "encoder", "freezes", "frames")
    assert every == PANELS


def test_trials_are_drawn_over_each_other_by_their_labels(download: Trial) -> None:
    other = Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"}).run(seed=1, trace=True)
    figure = plot_trials({"c4": download, "mild": other}, panels=["rtt", "states"])
    data = drawn(figure, "rtt")
    assert set(data["label"]) == {"c4", "mild"}
    assert set(drawn(figure, "states")["called"]) == {"c4", "mild"}


def test_equal_targets_are_both_seen(outcomes_of: Make) -> None:
    first = outcomes_of([4.0, 4.5]).scenario.criteria[0]
    outcomes = outcomes_of([4.0, 4.5], more_criteria=[{**first, "informative": True, "source": "another"}])
    lines = [
        part["mark"]
        for part in parts(plot_distribution(outcomes).spec["vconcat"][1])
        if isinstance(part.get("mark"), dict) and part["mark"].get("type") == "rule"
    ]
    # Each draws five pixels and leaves five, and the second begins where the first stops.
    assert [(line["strokeDash"], line["strokeDashOffset"]) for line in lines[:2]] == [([5, 5], 0), ([5, 5], -5)]
    assert lines[2]["strokeDash"] == [5, 3]  # the floor stands alone


@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_a_picture_has_the_width_that_was_asked_for(download: Trial, tmp_path: Path, theme: Any) -> None:
    figure = plot_trial(download)
    figure.save(tmp_path / "figure.svg", 120, theme)
    svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    width = float(re.search(r'width="([\d.]+)pt"', svg).group(1))  # type: ignore[union-attr]
    assert width == pytest.approx(120 / 25.4 * 72, abs=1.5)  # of a point there are 72 in an inch
    assert "<text" in svg
    assert "congestion window" in svg
    with pytest.raises(RequestError, match="accepted: at least"):
        figure.save(tmp_path / "narrow.svg", 20, theme)
    assert not (tmp_path / "narrow.svg").exists()


def test_a_pdf_has_its_width_in_points_and_its_text_as_text(download: Trial, tmp_path: Path) -> None:
    file = tmp_path / "figure.pdf"
    plot_trial(download, panels=["rtt"]).save(file, 88, "paper")
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ", file.read_bytes())
    assert box is not None
    assert float(box.group(1)) == pytest.approx(88 / 25.4 * 72, abs=1.5)
    assert b"/Font" in file.read_bytes()
    if reader := shutil.which("pdftotext"):
        text = subprocess.run([reader, str(file), "-"], capture_output=True, text=True, check=True).stdout
        assert "smoothed RTT" in text


def test_a_figure_says_in_words_what_it_shows(call: Trial, download: Trial) -> None:
    for trial in (call, download):
        figure: Figure = plot_trial(trial)
        assert figure.description.startswith(trial.outcomes.scenario.title)
        assert figure.spec["title"]["subtitle"][1] in figure.description
        assert figure.to_dict()["description"] == figure.description


def test_traces_and_qlog_hold_the_frames(call: Trial, tmp_path: Path) -> None:
    assert call.trace is not None
    call.trace.save(tmp_path / "call.parquet")
    table = pl.read_parquet(tmp_path / "call.parquet")
    frames = table.filter(pl.col("kind") == "frame")
    assert frames.height == call.trace.frames.height
    assert frames["time_s"].is_sorted()
    call.trace.save(tmp_path / "call.sqlog")
    records = [
        json.loads(line) for line in (tmp_path / "call.sqlog").read_text(encoding="utf-8").split("\x1e")[2:]
    ]
    logged = [record["data"] for record in records if record["name"] == "thalweg:frame"]
    assert len(logged) == frames.height
    late = sum(1 for record in logged if record.get("late"))
    known = call.trace.frames.filter(pl.col("delay_s").is_not_nan())
    assert late == (known["delay_s"] > known["deadline_s"]).sum()
    assert any(record["name"] == "thalweg:held_back" for record in records)


@pytest.fixture(scope="module")
def over(download: Trial) -> Figure:
    other = Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"}).run(seed=1, trace=True)
    return plot_trials({"c4": download, "mild": other})


def panel_of(figure: Figure, name: str) -> dict[str, Any]:
    (panel,) = (panel for panel in figure.spec["vconcat"] if panel["name"] == name)
    return dict(panel)


def test_trials_over_each_other_have_the_queue_and_the_drops_of_each_in_its_colour(
    over: Figure, download: Trial
) -> None:
    assert set(drawn(over, "queue")["label"]) == {"c4", "mild"}
    window = panel_of(over, "window")["encoding"]["color"]["scale"]
    own = dict(zip(window["domain"], window["range"], strict=True))
    line, *marks = panel_of(over, "queue")["layer"]
    scale = line["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == own
    counts = [mark["encoding"]["color"]["scale"]["domain"] for mark in marks]
    assert counts[0] == [f"c4: {download.links['dropped_packets'].sum()} dropped (queue)"]
    assert [mark["encoding"]["color"]["scale"]["range"] for mark in marks] == [[own["c4"]], [own["mild"]]]
    assert len({mark["encoding"]["y"]["value"] for mark in marks}) == 2
    assert "links and drops" not in json.dumps(over.spec["title"])


def test_trials_of_several_flows_have_queues_in_colours_of_their_own(flows: Trial) -> None:
    figure = plot_trials({"one": flows, "other": flows}, panels=["window", "queue"])
    meant = colours(figure.spec)
    assert len({colour for _, colour in meant}) >= 16 + 2


def test_a_legend_names_each_thing_once_and_shows_dashes_long_enough_to_tell_apart(over: Figure) -> None:
    encoding = panel_of(over, "rate")["encoding"]
    assert encoding["color"]["legend"]["values"] == ["c4", "mild"]
    assert "capacity" in encoding["strokeDash"]["scale"]["domain"]
    symbol = encoding["strokeDash"]["legend"]
    longest = max(sum(dash) for dash in encoding["strokeDash"]["scale"]["range"])
    left, right = (float(part.split(",")[0]) for part in symbol["symbolType"].removeprefix("M").split("L"))
    assert (right - left) * symbol["symbolSize"] ** 0.5 / 2 > 2 * longest


def test_the_first_label_of_the_time_axis_stands_below_its_tick(over: Figure, tmp_path: Path) -> None:
    over.save(tmp_path / "figure.svg")
    svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    anchors = re.findall(r'<text text-anchor="(\w+)"[^>]*>0\.0</text>(?=<text[^>]*>0\.5)', svg)
    assert set(anchors) == {"end", "middle"}  # of the data beside its axis, and of the time below its


def test_a_picture_for_paper_has_its_title_and_no_sentences(over: Figure, tmp_path: Path) -> None:
    for theme, says in (("screen", True), ("paper", False)):
        over.save(tmp_path / "figure.svg", 120, theme)  # type: ignore[arg-type]
        svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
        assert "Simple 20 Mbps" in svg
        assert ("more than the least" in svg or "dropped by" in svg) == says
