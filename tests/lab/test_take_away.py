"""What is taken away: links to the same trial, which are data alone if they are damaged; qlog and tables."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.conftest import Open, shown_hash
from thalweg import Scenario

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
# A call on bad Wi-Fi has frames and packets that are held back, CUBIC drops and no pacing.
SCENARIOS = {"c4/media-bad-wifi": {}, "c4/simple-20mbps": {"main": "cubic"}}


def test_a_link_opens_the_same_trial_and_says_so(opened: Open) -> None:
    view = opened()
    link = view.evaluate(
        """async () => {
          await thalweg.controllers({main: "bbr"});
          await thalweg.set({"path.rtt": '"30 ms"'});
          await thalweg.seed(5);
          return thalweg.link();
        }"""
    )
    fragment = link[link.index("#") :]
    view = opened(fragment)
    native = Scenario.load("c4/bad-wifi", overrides={"path.rtt": "30 ms"}, controllers={"main": "bbr"}).run(seed=5)
    assert shown_hash(view) == native.trace_hash
    assert "the hashes are equal" in view.locator(".promise").inner_text()


def test_a_damaged_link_is_said_to_be_damaged(opened: Open) -> None:
    view = opened("#trial=AAAA")
    for fragment in ("#trial=%3Cscript%3E", "#trial=", "#trial=q1ZKBAA"):
        assert "damaged" in view.get_by_role("alert").inner_text()
        view.evaluate("thalweg.rerun()")  # which takes the message away
        assert view.get_by_role("alert").count() == 0
        view.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        view.get_by_role("alert").wait_for()
    assert "damaged" in view.get_by_role("alert").inner_text()


def test_a_link_with_a_seed_of_more_than_64_bits_is_refused(opened: Open) -> None:
    words = {"v": "", "h": "", "n": "t.toml", "t": "", "s": {}, "c": {}, "d": "99999999999999999999"}
    packer = zlib.compressobj(wbits=-15)
    packed = base64.urlsafe_b64encode(packer.compress(json.dumps(words).encode()) + packer.flush()).decode()
    view = opened(f"#trial={packed.rstrip('=')}")
    assert "from 0 to 18446744073709551615" in view.get_by_role("alert").inner_text()


def test_a_trial_that_is_too_long_for_a_link_is_refused(opened: Open) -> None:
    view = opened()
    text = Scenario.load("c4/simple-20mbps").toml + "#" * (1 << 20)
    view.evaluate("(text) => thalweg.open(text)", text)
    view.get_by_role("button", name="Copy a link to this trial").click()
    view.get_by_role("alert").wait_for()
    assert "too long for a link" in view.get_by_role("alert").inner_text()


def test_texts_of_strangers_are_never_markup(opened: Open) -> None:
    evil = "<img src=x onerror='document.title=1'><b>bold</b>"
    text = Scenario.load("c4/simple-20mbps").toml.replace('"Simple 20 Mbps"', f'"{evil}"')
    view = opened()
    link = view.evaluate(
        "async (text) => { await thalweg.open(text, text.slice(0, 80)); return thalweg.link(); }", text
    )
    view = opened(link[link.index("#") :], settled=True)
    assert view.locator("main h2").first.inner_text() == evil
    assert view.locator("main img, main b").count() == 0
    assert view.title() == "Thalweg lab"
    assert "<img" not in view.evaluate("thalweg.svg()")


def saved(scenario: Scenario, file: Path) -> str:
    trace = scenario.run(seed=1, trace=True).trace
    assert trace is not None
    trace.save(file)
    return file.read_text(encoding="utf-8")


def records(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\x1e")[1:]]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_download_is_what_the_command_line_writes(opened: Open, name: str, tmp_path: Path) -> None:
    view = opened()
    scenario = Scenario.load(name, controllers=SCENARIOS[name])
    text = Scenario.load(name).toml
    view.evaluate("([text, name]) => thalweg.open(text, name)", [text, name])
    view.evaluate("(controllers) => thalweg.controllers(controllers)", SCENARIOS[name])
    found = {}
    for button, ending in {"qlog": "sqlog", "qlog for qvis": "qlog"}.items():
        with view.expect_download() as download:
            view.get_by_role("button", name=button, exact=True).click()
        assert download.value.suggested_filename == f"{name.split('/')[1]}-1.{ending}"
        found[ending] = download.value.path().read_text(encoding="utf-8")
    page, native = records(found["sqlog"]), records(saved(scenario, tmp_path / "native.sqlog"))
    assert len(native) > 1000
    for number, (record, expected) in enumerate(zip(page, native, strict=True)):
        assert record == expected, number
    kinds = {record["name"] for record in native[1:]}
    assert ("thalweg:frame" in kinds and "thalweg:held_back" in kinds) == ("media" in name)
    assert json.loads(found["qlog"]) == json.loads(saved(scenario, tmp_path / "native.qlog"))


def test_tables_of_packets_and_frames_are_those_of_the_trace(opened: Open) -> None:
    view = opened()
    text = Scenario.load("c4/media-bad-wifi").toml
    view.evaluate("(text) => thalweg.open(text, 'c4/media-bad-wifi')", text)
    trace = Scenario.load("c4/media-bad-wifi").run(seed=1, trace=True).trace
    assert trace is not None
    for button, table in {"CSV of packets": trace.packets, "CSV of frames": trace.frames}.items():
        with view.expect_download() as download:
            view.get_by_role("button", name=button, exact=True).click()
        header, *rows = download.value.path().read_text(encoding="utf-8").splitlines()
        assert header.split(",") == table.columns
        assert len(rows) == table.height > 100
        times = [float(row.split(",")[0]) for row in rows]
        assert times == pytest.approx(table["time_s"].to_list(), rel=1e-9)
