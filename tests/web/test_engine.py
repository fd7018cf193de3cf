"""The engine in WebAssembly, under Node, against the native one: the same trials, numbers and messages.

`make lab` builds it. Where there is no Node, the tests are skipped, and fail in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import thalweg
from thalweg import Scenario, ScenarioError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODULE = ROOT / "target" / "web" / "thalweg_web.wasm"
LAB = ROOT / "lab"
C4 = [name for name in thalweg.list_scenarios() if name.startswith("c4/")]
TABLES = ("flows", "links", "trials", "requests", "streams")


def answers(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the engine in WebAssembly says to each request."""
    node = shutil.which("node")
    if node is None or not MODULE.exists() or not (LAB / "node_modules").is_dir():
        missing = f"{'Node is' if node is None else 'the engine in WebAssembly is'} missing: make lab"
        assert "CI" not in os.environ, missing
        pytest.skip(missing)
    defaults = {"name": "a.toml", "sets": {}, "controllers": {}, "seed": "1", "traced": False}
    text = json.dumps([{**defaults, **request} for request in requests])
    words = [node, str(HERE / "trials.mjs"), str(LAB), str(MODULE)]
    done = subprocess.run(words, input=text, check=True, capture_output=True, text=True, timeout=300)
    return list(json.loads(done.stdout))


def plain(column: Any) -> list[Any]:
    """A column of JavaScript as the values of its rows."""
    return [column["words"][index] for index in column["indices"]] if isinstance(column, dict) else list(column)


def test_every_scenario_of_c4_is_the_same_trial_as_in_the_native_engine() -> None:
    found = answers([{"text": Scenario.load(name).toml, "name": name, "seed": "7"} for name in C4])
    assert len(C4) > 25
    hashes = {name: answer.get("hash", answer.get("message")) for name, answer in zip(C4, found, strict=True)}
    assert hashes == {name: Scenario.load(name).run(seed=7).trace_hash for name in C4}


@pytest.mark.parametrize("controller", ["c4", "cubic", "cubic:start=search", "reno", "bbr", "bbr1", "prague"])
def test_outcomes_and_traces_of_a_call_on_bad_wifi_are_the_same_numbers(controller: str) -> None:
    scenario = Scenario.load("c4/media-bad-wifi", controllers={"main": controller})
    (found,) = answers(
        [{"text": Scenario.load("c4/media-bad-wifi").toml, "controllers": {"main": controller}, "traced": True}]
    )
    trial = scenario.run(seed=1, trace=True)
    assert found["hash"] == trial.trace_hash
    for name in TABLES:
        native = getattr(trial.outcomes, name)
        table = found["outcomes"][name]
        assert list(table) == native.columns
        for column in set(native.columns) - {"core_s"}:  # a page cannot measure the time of a processor
            values = [None if value != value else value for value in native[column].to_list()]  # noqa: PLR0124 - NaN
            assert plain(table[column]) == [str(value) if column == "seed" else value for value in values], column
    assert trial.trace is not None
    rows = {name: getattr(trial.trace, name).height for name in found["rows"]}
    assert found["rows"] == rows
    assert rows["flows"] > 100


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (('"20 Mbps"', '"20 Mbs"'), True),
        (("[path]", "[pathe]"), True),
        (("[path]", "path = 3 #"), True),
        (('"c4"', '"c9"'), True),
        (('"10 MB"', '"10"'), True),
    ],
)
def test_a_wrong_scenario_has_the_message_of_the_native_engine(change: tuple[str, str], line: bool) -> None:
    text = Scenario.load("c4/simple-20mbps").toml
    wrong = text.replace(*change)
    assert wrong != text
    (found,) = answers([{"text": wrong}])
    with pytest.raises(ScenarioError) as native:
        Scenario.from_toml(wrong, "a.toml")
    assert found["name"] == "ScenarioError"
    assert found["message"] == str(native.value).replace(", mutant", "")  # which no page has
    assert (found["line"] is not None) == line


def test_what_a_page_lacks_is_said() -> None:
    text = Scenario.load("c4/simple-20mbps").toml
    quic, foreign, measured = answers(
        [
            {"text": text, "sets": {"flow.main.stack": '"quic"'}},
            {"text": text, "controllers": {"main": "noq:cubic"}},
            {"text": text, "controllers": {"main": "cubic:variant=picoquic"}},
        ]
    )
    assert 'is not part of this build; accepted: "model"' in quic["message"]
    assert "accepted: a controller of Thalweg" in foreign["message"]
    assert measured["message"] == (
        '--controller main=cubic:variant=picoquic: the variant "picoquic" of "cubic" is not in this build: '
        "the Python package has it, from the crate thalweg-reference; accepted here: rfc9438, cuback, linux"
    )
