"""qlog from the page: event by event what the package writes of the same trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.conftest import Open
from thalweg import Scenario

pytestmark = pytest.mark.timeout(300)

# A call on bad Wi-Fi has frames and packets that are held back, CUBIC drops and no pacing.
SCENARIOS = {"c4/media-bad-wifi": {}, "c4/simple-20mbps": {"main": "cubic"}}


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
