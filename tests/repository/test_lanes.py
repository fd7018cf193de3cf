"""The lanes of checks: what the runner reads from outputs, and what each commit gets of the soak."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("lanes", ROOT / ".ci" / "lanes.py")
assert SPEC is not None
assert SPEC.loader is not None
lanes = importlib.util.module_from_spec(SPEC)
sys.modules["lanes"] = lanes
SPEC.loader.exec_module(lanes)

CARGO = """
test cubic::tests::a_window_grows ... ok <1.250s>
test cubic::tests::a_window_shrinks ... FAILED

failures:

---- cubic::tests::a_window_shrinks stdout ----
the window is 3

failures:
    cubic::tests::a_window_shrinks

test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.30s
test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.30s
"""
PYTEST = """
2.50s call     tests/lab/test_page.py::test_a_page
0.50s setup    tests/lab/test_page.py::test_a_page
SKIPPED [3] tests/lab/conftest.py:40: the page of the lab is missing: make lab
FAILED tests/lab/test_page.py::test_a_title - assert 1 == 2
1 failed, 20 passed, 3 skipped, 7 deselected, 1 error in 12.51s
"""


def test_counts_times_and_what_was_skipped_are_read_from_both_runners() -> None:
    outcome = lanes.Outcome(lanes.BUILD, 0.0, [])
    lanes.read(CARGO + PYTEST, outcome)
    assert dict(outcome.counts) == {"passed": 12 + 3 + 20, "failed": 2 + 1 + 1, "skipped": 1 + 3}
    assert outcome.slow == {"cubic::tests::a_window_grows": 1.25, "tests/lab/test_page.py::test_a_page": 2.5 + 0.5}
    assert outcome.skipped == {"SKIPPED [3] tests/lab/conftest.py:40: the page of the lab is missing: make lab"}


def test_the_end_names_the_tests_that_failed_and_shows_what_they_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = lanes.Outcome(lanes.BUILD, 0.0, ["make build"])
    lanes.read(CARGO + PYTEST, outcome)
    lanes.report("test", [outcome], 2.0)
    last = capsys.readouterr().out.splitlines()[-4:-1]
    assert last == [
        "FAILED build: make build",
        "  cubic::tests::a_window_shrinks",
        "  tests/lab/test_page.py::test_a_title",
    ]
    others = "test media::a_call ... ok <0.010s>\n" * 2 * lanes.TAIL
    assert lanes.text_tail(CARGO + others).strip().endswith("stdout ----\nthe window is 3")


def test_a_stage_that_fails_shows_its_end_and_does_not_stop_those_after_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lanes, "LOGS", tmp_path)
    monkeypatch.setattr(lanes, "ROOT", tmp_path)
    stages = [
        lanes.Stage("one", 1, ("echo why; exit 3", "true")),
        lanes.Stage("two", 1, ("echo '2 passed in 1.0s'",)),
    ]
    outcomes = lanes.run(stages)
    lanes.report("test", outcomes, 2.0)
    said = capsys.readouterr().out
    assert [outcome.failed for outcome in outcomes] == [["echo why; exit 3"], []]
    assert "FAILED, status 3: echo why; exit 3\nwhy\n" in said
    assert said.endswith("FAILED one: echo why; exit 3\n2 passed, 0 failed, 0 skipped\n")


def test_nothing_runs_after_a_build_that_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lanes, "LOGS", tmp_path)
    monkeypatch.setattr(lanes, "ROOT", tmp_path)
    stages = [lanes.Stage("build", 1, ("false",)), lanes.Stage("two", 1, ("true",))]
    assert [outcome.stage.name for outcome in lanes.run(stages)] == ["build"]


def test_each_commit_gets_parts_of_the_soak_that_fit_and_all_have_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    had: set[str] = set()
    for commit in range(60):
        monkeypatch.setattr(lanes, "said", lambda *_, number=commit: f"{number}\n")
        parts = lanes.of_commit(lanes.CI_SOAK_S)
        had |= {part.name for part in parts}
        assert 0.5 * lanes.CI_SOAK_S < sum(part.seconds for part in parts) <= lanes.CI_SOAK_S
    assert had == {part.name for part in lanes.SOAK}
    assert lanes.of_commit(10) == []


def test_the_lanes_take_what_the_manual_of_contributors_says() -> None:
    manual = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    minutes = {
        name: sum(stage.seconds for stage in stages) / 60
        for name, stages in (("test", lanes.TEST), ("soak", lanes.SOAK))
    }
    promised = {name: float(found) for name, found in re.findall(r"`make (test|soak)`.*?\| (\d+) min", manual)}
    assert minutes["test"] <= promised["test"]
    assert minutes["soak"] <= promised["soak"]
