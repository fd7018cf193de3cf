"""Measurements that are dropped on the page of the lab: read, drawn, simulated, or refused if damaged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.conftest import Open, shown_hash, shows
from lab.test_server import running
from thalweg import Scenario
from thalweg.engine.trace.qlog import write_for_qvis, write_sequence

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them


def drop(view: Page, file: Path) -> None:
    view.locator("header.top input[type=file]").set_input_files(file)


def refusal(view: Page) -> str:
    view.get_by_role("alert").wait_for()
    return view.get_by_role("alert").inner_text()


@pytest.mark.parametrize("ending", ["qlog", "sqlog"])
def test_our_qlog_stands_beside_the_trial_that_wrote_it(opened: Open, tmp_path: Path, ending: str) -> None:
    trace = Scenario.load("c4/bad-wifi").run(seed=1, trace=True).trace
    assert trace is not None
    file = tmp_path / f"mine.{ending}"
    (write_for_qvis if ending == "qlog" else write_sequence)(trace, file)
    view = opened()
    drop(view, file)
    view.locator(".two").wait_for()
    assert "seen from the sender" in view.get_by_role("region", name="measurement").inner_text()
    view.evaluate("thalweg.point(1.5)")
    values = view.locator('.two [data-panel="window"] [data-line="congestion window"]').all_inner_texts()
    assert len(values) == 2
    assert values[0] == values[1]


def test_the_path_of_a_qlog_is_simulated(opened: Open, tmp_path: Path) -> None:
    trace = Scenario.load("c4/simple-20mbps").run(seed=1, trace=True).trace
    assert trace is not None
    write_sequence(trace, tmp_path / "mine.sqlog")
    view = opened()
    drop(view, tmp_path / "mine.sqlog")
    view.get_by_role("button", name="Simulate its path").click()
    view.get_by_role("heading", name="Path of mine.sqlog").wait_for()
    shows(view, Scenario.from_toml(view.evaluate("thalweg.shown.setup.text"), "x").run(1).trace_hash)
    facts = view.evaluate("thalweg.check({text: thalweg.shown.setup.text}).then(({amounts}) => amounts)")
    native = Scenario.load("c4/simple-20mbps")
    assert facts["path.rate"] == pytest.approx(20e6, rel=0.1)
    assert facts["path.rtt"] == pytest.approx(0.08, rel=0.05)
    assert view.locator(".two .chart").count() == 2  # the measurement stays
    assert native.title


FIRST = {"congestion_window": 12000, "latest_rtt": 40}
SECOND = {"congestion_window": 24000, "latest_rtt": 50}
OTHERS: dict[str, str] = {
    "draft-02 with rows": json.dumps({
        "qlog_version": "draft-02", "traces": [{
            "event_fields": ["relative_time", "category", "event", "data"], "configuration": {"time_units": "us"},
            "events": [[1000, "RECOVERY", "metric_update", {**FIRST, "latest_rtt": "40000"}],
                       [2001000, "recovery", "metrics_updated", {**SECOND, "latest_rtt": 50000}]]}]}),
    "0.3, delta times": json.dumps({
        "qlog_version": "0.3", "qlog_format": "JSON", "traces": [{
            "common_fields": {"time_format": "delta"}, "events": [
                {"time": 5, "name": "recovery:metrics_updated", "data": FIRST},
                {"time": 2000, "name": "recovery:metrics_updated",
                 "data": SECOND},
            ]}]}),
    "0.4, a sequence": "".join(f"\x1e{json.dumps(record)}\n" for record in (
        {"qlog_version": "0.4", "trace": {"common_fields": {"time_format": "relative"}}},
        {"time": -1, "name": "recovery:metrics_updated", "data": FIRST},
        {"time": 3, "name": "transport:packet_sent", "data": {"raw": {"length": 1200}}},
        {"time": 1999, "name": "quic:recovery_metrics_updated", "data": SECOND},
    )) + "\x1e{\"time\": 2000, \"na",
    "aioquic": json.dumps({
        "qlog_format": "JSON", "qlog_version": "0.3", "traces": [{
            "common_fields": {"ODCID": "76c1"}, "vantage_point": {"name": "aioquic", "type": "client"}, "events": [
                {"time": 1.0, "name": "recovery:metrics_updated",
                 "data": {"bytes_in_flight": 1200, "cwnd": 12000}},
                {"time": 1.0, "name": "recovery:metrics_updated",
                 "data": {"latest_rtt": 40.0, "min_rtt": 40.0, "smoothed_rtt": 40.0, "rtt_variance": 20.0}},
                {"time": 2001.0, "name": "recovery:metrics_updated",
                 "data": {"bytes_in_flight": 0, "cwnd": 24000}},
            ]}]}),
    "a document on each line": "\n".join(json.dumps(record) for record in (
        {"qlog_version": "0.4", "qlog_format": "NDJSON", "trace": {}},
        {"time": 0, "name": "recovery:metrics_updated", "data": FIRST},
        {"time": 2000, "name": "recovery:metrics_updated", "data": SECOND},
    )),
}  # fmt: skip


@pytest.mark.parametrize("form", OTHERS)
def test_logs_of_other_stacks_are_read(opened: Open, tmp_path: Path, form: str) -> None:
    (tmp_path / "other.qlog").write_text(OTHERS[form])
    view = opened()
    drop(view, tmp_path / "other.qlog")
    view.locator(".two").wait_for()
    view.evaluate("thalweg.zoom(); thalweg.point(1.9)")
    first = view.locator(".two > div").first
    assert first.locator('[data-panel="window"] [data-line="congestion window"]').inner_text() == "12 kB"
    assert first.locator('[data-panel="rtt"] [data-line="latest RTT"]').inner_text() == "40 ms"
    view.evaluate("thalweg.point(2)")
    assert first.locator('[data-panel="window"] [data-line="congestion window"]').inner_text() == "24 kB"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.qlog", "", "it is not a qlog; accepted: JSON"),
        ("a.qlog", "{}", "it is not a qlog"),
        ("a.qlog", '{"traces": [{"events": [{"name": "x"}, 3, null, []]}]}', "it has no event that the lab draws"),
        ("a.qlog", '{"traces": {"length": 1e9}}', "it is not a qlog"),
        ("a.qlog", "[" * 100_000, "it is not a qlog"),
        ("a.sqlog", "\x1e{}\n", "it is not a qlog"),
        ("a.sqlog", "\x1e" * 1000, "it is not a qlog"),
        ("a.csv", "number,sent\n1,2\n", 'line 1: "number,sent"; accepted: a series of thalweg probe'),
        ("a.trace", "1\n2\n1\n", 'line 3: "1"; accepted: a time that is not before 2'),
        ("a.trace", "1\nx\n", 'line 2: "x"; accepted: a time in whole milliseconds'),
        ("a.jitter", "0 1\n5\n", 'line 2: "5"; accepted: a time and a delay'),
        ("a.csv.gz", "no gzip", "it is not gzip"),
        ("<img src=x onerror=alert(1)>.qlog", "{}", "<img src=x onerror=alert(1)>.qlog: it is not a qlog"),
    ],
)
def test_a_damaged_file_has_one_message(one_page: Page, tmp_path: Path, name: str, text: str, said: str) -> None:
    before = shown_hash(one_page)
    one_page.locator("header.top input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    )
    assert said in refusal(one_page)
    assert one_page.locator("main img").count() == 0
    assert shown_hash(one_page) == before


def test_what_unpacks_to_too_much_is_refused(one_page: Page, tmp_path: Path) -> None:
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(bytes(65 << 20)))
    drop(one_page, file)
    assert "it unpacks to more than 67108864 bytes" in refusal(one_page)


@pytest.mark.soak  # a log of 20 MB
def test_a_log_whose_acknowledgements_name_everything_a_million_times_is_read(
    opened: Open, tmp_path: Path
) -> None:
    events: list[dict[str, Any]] = [{"time": 0, "name": "recovery:metrics_updated", "data": FIRST}]
    for number in range(100_000):
        data = {"header": {"packet_number": number}, "raw": {"length": 1200}}
        events.append({"time": 1, "name": "transport:packet_sent", "data": data})
    ranges = [[10**9, 2 * 10**9]] * 500_000 + [[0, 49_999]] * 500_000
    ack = {"frames": [{"frame_type": "ack", "acked_ranges": ranges}]}
    events.append({"time": 2000, "name": "transport:packet_received", "data": ack})
    log = {"qlog_version": "0.3", "qlog_format": "JSON", "traces": [{"events": events}]}
    (tmp_path / "long.qlog").write_text(json.dumps(log, separators=(",", ":")))
    view = opened()
    drop(view, tmp_path / "long.qlog")
    view.locator(".two").wait_for(timeout=20_000)
    view.get_by_role("button", name="Simulate its path").click()
    view.get_by_role("heading", name="Path of long.qlog").wait_for()
    assert 'download = "60 MB"' in view.evaluate("thalweg.shown.setup.text")  # half of 100 000 packets


def test_packets_that_are_sent_out_of_order_are_acknowledged_once(opened: Open, tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [{"time": 0, "name": "recovery:metrics_updated", "data": FIRST}]
    for number in (0, 1, 5, 3, 6, 2, 5, 7):  # 5 is logged twice
        data = {"header": {"packet_number": number}, "raw": {"length": 1000}}
        events.append({"time": 1, "name": "transport:packet_sent", "data": data})
    for ranges in ([[0, 2]], [[0, 3]], [[1], [5, 6]], [[0, 9]], [[0, 9]]):
        ack = {"frames": [{"frame_type": "ack", "acked_ranges": ranges}]}
        events.append({"time": 90, "name": "transport:packet_received", "data": ack})
    log = {"qlog_version": "0.3", "qlog_format": "JSON", "traces": [{"events": events}]}
    (tmp_path / "mixed.qlog").write_text(json.dumps(log))
    view = opened()
    drop(view, tmp_path / "mixed.qlog")
    view.get_by_role("button", name="Simulate its path").click()
    view.get_by_role("heading", name="Path of mixed.qlog").wait_for()
    assert 'download = "7 kB"' in view.evaluate("thalweg.shown.setup.text")


def test_a_trace_that_is_too_long_for_a_message_is_refused_with_its_size(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "long.trace").write_text("".join(f"{time}\n" for time in range(500_000)))
    with running(tmp_path) as lab:
        view = lab.page(browser)
        drop(view, tmp_path / "long.trace")
        view.get_by_role("button", name="Simulate its path").click()
        assert "accepted by thalweg lab: at most 2097152" in refusal(view)


def test_hostile_names_and_numbers_of_a_log_are_data(opened: Open, tmp_path: Path) -> None:
    evil = "<img src=x onerror='document.title=1'>"
    events: list[dict[str, Any]] = [
        {"time": 0, "name": "recovery:metrics_updated", "data": {"congestion_window": 1e400, "latest_rtt": -1}},
        {"time": 1, "name": "recovery:congestion_state_updated", "data": {"new": evil}},
        {
            "time": 900,
            "name": "recovery:metrics_updated",
            "data": {"congestion_window": 5000, "__proto__": {"x": 1}},
        },
    ]
    text = json.dumps({"title": evil, "traces": [{"events": events}]}).replace("Infinity", "1e400")
    (tmp_path / "evil.qlog").write_text(text)
    view = opened()
    drop(view, tmp_path / "evil.qlog")
    view.locator(".two").wait_for()
    assert view.locator("main img").count() == 0
    assert view.title() == "Thalweg lab"
    assert evil[:40] in view.locator(".two").inner_text()


def test_traces_of_capacity_and_jitter_are_simulated_as_the_engine_reads_them(
    opened: Open, tmp_path: Path
) -> None:
    times = [str(12 * index) for index in range(1, 500)]
    (tmp_path / "down.trace").write_text("\n".join(times) + "\n")
    (tmp_path / "wifi.jitter").write_text("".join(f"{20_000 * index} {index % 7 * 900}\n" for index in range(100)))
    view = opened()
    for name, part in {
        "down.trace": f'trace = "ms: {times[0]} ',
        "wifi.jitter": 'file = "us: 0 0 20000 900 ',
    }.items():
        drop(view, tmp_path / name)
        view.get_by_role("region", name="measurement").get_by_text(name).wait_for()
        view.get_by_role("button", name="Simulate its path").click()
        view.get_by_role("heading", name=f"Path of {name}").wait_for()
        text = view.evaluate("thalweg.shown.setup.text")
        assert part in text
        shows(view, Scenario.from_toml(text, "x").run(1).trace_hash)


def test_a_series_of_the_probe_is_drawn_and_simulated(opened: Open, tmp_path: Path) -> None:
    rows = ["# a remark", "number,sent_ns,arrived_ns,returned_ns,received_ns,replies,counted"]
    for number in range(200):
        at, rtt = 20_000_000 * number, 30_000_000 + number % 5 * 1_000_000
        rows.append(
            f"{number},{at},{at + rtt // 2},{at + rtt // 2},{at + rtt},1,{number}"
            if number % 50
            else f"{number},{at},,,,0,"
        )
    (tmp_path / "far.csv.gz").write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    view = opened()
    drop(view, tmp_path / "far.csv.gz")
    region = view.get_by_role("region", name="measurement")
    region.wait_for()
    assert "a probe of 200 packets in 4.0 s, 4 without an answer" in region.inner_text()
    view.get_by_role("button", name="Simulate its path").click()
    view.get_by_role("heading", name="Path of far.csv.gz").wait_for()
    text = view.evaluate("thalweg.shown.setup.text")
    assert 'rtt = "30 ms"' in text
    shows(view, Scenario.from_toml(text, "x").run(1).trace_hash)
