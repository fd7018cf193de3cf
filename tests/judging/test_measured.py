"""What was measured, criteria or not, for each flow, link and stream."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import thalweg
from thalweg.cli import main
from thalweg.engine.outcome import Outcomes
from thalweg.results import measured

Capture = pytest.CaptureFixture[str]


def outcomes() -> Outcomes:
    return thalweg.Scenario.load("c4/c4-background-first").trials(11, 1)


def test_medians_of_flows_are_those_of_their_columns() -> None:
    result = outcomes()
    main_flow, background = measured.flows(result)
    assert main_flow.names == {"flow": "main", "controller": "c4"}
    rows = result.flows.filter(pl.col("flow") == "background")
    # Of 11 trials the median is the sixth.
    assert background.values["mean_rate_bps"].value == rows["mean_rate_bps"].sort()[5]
    loss = (rows["packets_lost"] / rows["packets_sent"]).sort()[5]
    assert background.values["loss"].value == pytest.approx(loss)
    assert all(
        interval.low <= interval.value <= interval.high and interval.n == 11
        for interval in background.values.values()
    )


def test_completion_is_that_of_the_verdict() -> None:
    result = thalweg.Scenario.load("c4/c4-background-first", {"noise.start": "100 ms"}).trials(11, 1)
    (statistics,) = (criterion for criterion in result.verdict().criteria if criterion.metric == "completion")
    assert measured.flows(result)[0].values["completion_s"] == statistics.median_interval


def test_shares_of_links_are_of_all_offered_packets() -> None:
    result = thalweg.Scenario.load("c4/simple-20mbps", {"path.loss": '{ model = "random", rate = "5 %" }'}).trials(
        9
    )
    down = measured.links(result)[0]
    rows = result.links.filter(pl.col("link") == "down")
    came = rows["delivered_packets"] + rows["dropped_packets"] + rows["lost_packets"]
    assert down.values["lost"].value == pytest.approx((rows["lost_packets"] / came).median())
    # 7 000 packets at 5 %: one standard deviation of the share is 0.26 %, of the median of nine about 0.11 %.
    assert 0.045 < down.values["lost"].value < 0.055


def test_medians_of_streams_are_those_of_their_table() -> None:
    result = thalweg.Scenario.load("c4/media-bad-wifi").trials(7, 1)
    streams = measured.streams(result)
    assert [stream.names["stream"] for stream in streams] == ["audio", "video", "video-high"]
    video = result.streams.filter(pl.col("stream") == "video-high")
    assert streams[2].values["max_delay_s"].value == video["max_delay_s"].median()


def test_a_flow_that_never_finishes_is_reported_without_a_median(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "never.toml"
    assert main(["new", str(file)]) == 0
    capsys.readouterr()
    # Reno at 20 % loss takes minutes for 5 MB.
    settings = ["time_limit=4 s", 'path.loss={ model = "random", rate = "20 %" }', "flow.main.controller=reno"]
    arguments = ["run", str(file), "-n", "7", *(word for setting in settings for word in ("--set", setting))]
    assert main([*arguments, "--format", "json"]) != 0
    (flow,) = json.loads(capsys.readouterr().out)["flows"]
    assert flow["completion_s"] == {"median": None, "interval95": [None, None], "n": 7}
    assert main(arguments) != 0
    assert "did not finish" in capsys.readouterr().out


def test_documents_have_a_row_for_each_flow_link_and_stream(tmp_path: Path, capsys: Capture) -> None:
    suite = ["suite", "c4", "--only", "media-bad-*", "-n", "2", "--format", "json", "--out", str(tmp_path / "r")]
    assert main(suite) in {0, 1}
    document = json.loads(capsys.readouterr().out)
    assert [row["flow"] for row in document["flows"]] == ["main"]
    assert [row["link"] for row in document["links"]] == ["down", "up"]
    assert [row["stream"] for row in document["streams"]] == ["audio", "video", "video-high"]
    rows = [row for kind in ("flows", "links", "streams") for row in document[kind]]
    assert {row["scenario"] for row in rows} == {"media-bad-wifi"}


def test_run_shows_measurements_without_any_criterion(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "free.toml"
    assert main(["new", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index("# Every trial must keep")], encoding="utf-8")
    capsys.readouterr()
    assert main(["run", str(file), "-n", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "medians of 3 trials" in lines
    assert any(line.split()[:2] == ["main", "c4"] for line in lines)
    assert any(line.split()[:1] == ["down"] for line in lines)


def test_a_trial_that_does_not_define_a_metric_is_left_out_of_its_median() -> None:
    rtts = {"a": [0.1, math.nan, 0.3], "b": [math.nan] * 3, "c": [1.0, 2.0, 3.0]}
    # Trial by trial, as outcomes have them.
    rows = [{"flow": flow, "mean_rtt_s": rtts[flow][trial]} for trial in range(3) for flow in rtts]
    found = dict(measured._medians(pl.DataFrame(rows), ["flow"], measured.FLOW))
    assert list(found) == [("a",), ("b",), ("c",)]
    median = found["a",]["mean_rtt_s"]
    assert (median.value, median.n) == (0.2, 2)
    assert found["b",] == {}
    assert found["c",]["mean_rtt_s"].value == 2.0


def test_thousands_of_flows_are_measured_in_a_query_and_not_in_one_each(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = "".join(f'[[flow]]\nname = "f{n}"\ncontroller = "cubic"\ndownload = "1 kB"\n' for n in range(2000))
    text = f'title = "many"\ntime_limit = "1 s"\n[path]\nrate = "10 Gbps"\nrtt = "2 ms"\n{flows}'
    result = thalweg.Scenario.from_toml(text, "many").trials(1)
    queries = 0

    def counting(work: Callable[..., pl.DataFrame]) -> Callable[..., pl.DataFrame]:
        def counted(*given: Any, **named: Any) -> pl.DataFrame:
            nonlocal queries
            queries += 1
            return work(*given, **named)

        return counted

    for name in ("select", "filter", "with_columns"):
        monkeypatch.setattr(pl.DataFrame, name, counting(getattr(pl.DataFrame, name)))
    found = measured.flows(result)
    assert [flow.names["flow"] for flow in found] == [f"f{n}" for n in range(2000)]
    assert 0 < queries < 50


def test_a_stream_is_that_of_the_flow_that_has_it() -> None:
    text = (
        'title = "mixed"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\n'
        '[[flow]]\nname = "call"\ncontroller = "c4"\ncall = "1 s"\n'
        '[[flow]]\nname = "bulk"\ncontroller = "cubic"\ndownload = "1 MB"\n'
    )
    result = thalweg.Scenario.from_toml(text, "mixed").trials(2)
    keys = result.streams.select("trial", "flow", "stream").rows()
    assert keys == [(trial, "call", stream) for trial in (0, 1) for stream in ("audio", "video", "video-high")]
    found = measured.streams(result)
    assert {stream.names["flow"] for stream in found} == {"call"}
    assert all({"mean_delay_s", "p95_delay_s", "max_delay_s"} <= stream.values.keys() for stream in found)
