"""Measurements that are dropped on the page of the lab: read, drawn, simulated, or refused if damaged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open, shown_hash, shows
from lab.test_server import running
from thalweg import Scenario
from thalweg.base.quantity import text
from thalweg.experiments import explain

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them


def drop(view: Page, file: Path) -> None:
    view.locator("header.top input[type=file]").set_input_files(file)


def refusal(view: Page) -> str:
    view.get_by_role("alert").wait_for()
    return view.get_by_role("alert").inner_text()


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command says of a log of ours, as a file for the page."""
    folder = tmp_path_factory.mktemp("explained")
    trace = Scenario.load("c4/simple-20mbps").run(seed=1, trace=True).trace
    assert trace is not None
    trace.save(folder / "mine.sqlog")
    found = explain.opened(explain.account_of_file(folder / "mine.sqlog"), "mine.sqlog")
    (folder / "mine.json").write_text(json.dumps(found, allow_nan=False))
    return folder / "mine.json"


def test_an_explanation_of_the_command_opens_on_the_page_without_a_server(opened: Open, explained: Path) -> None:
    document = json.loads(explained.read_text())
    view = opened()
    drop(view, explained)
    view.locator(".stored-trials").wait_for()
    said = view.locator(".results p").all_inner_texts()
    for sentence in document["sentences"]:
        assert " ".join(sentence.split()) in said
    assert document["measured"]["about"] in view.get_by_role("region", name="measurement").inner_text()
    view.locator(".stored-trials button").first.click()
    shows(view, document["scenarios"][0]["hashes"][0])
    # The log is of that very path: the measurement stays beside the trial, with the window that the log has.
    assert view.locator(".two .chart").count() == 2
    measured = document["measured"]
    place = next(place for place, time in enumerate(measured["time_s"]) if time > 1.5) - 1
    view.evaluate("thalweg.point(1.5)")
    shown = view.locator(".two > div").first.locator('[data-panel="window"] [data-line="congestion window"]')
    assert shown.inner_text() == text(measured["series"]["window_bytes"][place], "B")


def test_hostile_words_of_an_explanation_are_data(opened: Open, explained: Path, tmp_path: Path) -> None:
    evil = "<img src=x onerror='document.title=1'>"
    document = json.loads(explained.read_text())
    document["title"] = evil
    document["sentences"] = [evil]
    document["measured"].update(
        about=evil, states=[[evil, 0.0]], limits=[[evil, 0.0, 1.0], ["__proto__", 1.0, 2.0]]
    )
    document["measured"]["series"]["__proto__"] = document["measured"]["series"]["window_bytes"]
    (tmp_path / "evil.json").write_text(json.dumps(document))
    view = opened()
    drop(view, tmp_path / "evil.json")
    view.locator(".two").wait_for()
    assert view.locator("main img").count() == 0
    assert view.title() == "Thalweg lab"
    assert evil in view.locator(".two").inner_text()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.qlog",
            "{}",
            "a.qlog: thalweg explain reads it: open what thalweg explain FILE --out FILE.json writes",
        ),
        ("b.SQLOG.gz", "", "b.SQLOG.gz: thalweg explain reads it"),
        ("c.pcapng", "", "c.pcapng: thalweg explain reads it"),
        ("a.json", "", "it is not JSON"),
        ("a.json", "[" * 100_000, "it is not JSON"),
        (
            "a.json",
            "{}",
            "measured is missing or wrong; accepted: what thalweg explain FILE --out FILE.json has written",
        ),
        ("a.json", '{"traces": [{"events": []}]}', "measured is missing or wrong"),
        (
            "a.json",
            '{"measured": {"time_s": [0, 1], "series": {"x": [1]}}}',
            "measured.series.x has 1 values for 2",
        ),
        ("a.json", '{"measured": {"time_s": [0, null], "series": {}}}', "measured.time_s is missing or wrong"),
        ("a.csv", "number,sent\n1,2\n", 'line 1: "number,sent"; accepted: a series of thalweg probe'),
        ("a.trace", "1\n2\n1\n", 'line 3: "1"; accepted: a time that is not before 2'),
        ("a.trace", "1\nx\n", 'line 2: "x"; accepted: a time in whole milliseconds'),
        ("a.jitter", "0 1\n5\n", 'line 2: "5"; accepted: a time and a delay'),
        ("a.csv.gz", "no gzip", "it is not gzip"),
        ("<img src=x onerror=alert(1)>.json", "3", "<img src=x onerror=alert(1)>.json: it is not an explanation"),
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


def test_a_trace_that_is_too_long_for_a_message_is_refused_with_its_size(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "long.trace").write_text("".join(f"{time}\n" for time in range(500_000)))
    with running(tmp_path) as lab:
        view = lab.page(browser)
        drop(view, tmp_path / "long.trace")
        view.get_by_role("button", name="Simulate its path").click()
        assert "accepted by thalweg lab: at most 2097152" in refusal(view)


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
