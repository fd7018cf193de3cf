"""`--format junit` and `--format github`: what services for CI read."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from thalweg.cli import main
from thalweg.cli.ci import Case, document
from thalweg.cli.options import SuiteFormat

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, scenario_file: Path) -> Path:
    """A suite of a scenario that passes, one that fails and one that cannot pass."""
    text = scenario_file.read_text(encoding="utf-8")
    suite = tmp_path / "mine"
    suite.mkdir()
    for name, bound in (("passing", "5 s"), ("failing", "200 ms"), ("hopeless", "20 ms")):
        (suite / f"{name}.toml").write_text(text.replace('"5 s"', f'"{bound}"'), encoding="utf-8")
    return suite


def suite(folder: Path, out: str, *options: str) -> int:
    return main(["suite", str(folder), "-n", "8", "--no-report", "-o", str(folder.parent / out), *options])


def test_junit_has_a_case_for_each_criterion_with_failure_and_replay(folder: Path, capsys: Capture) -> None:
    assert suite(folder, "out", "--format", "junit") == 1
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert {key: root.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    cases = {str(case.get("classname")).rpartition(".")[2]: case for case in root}
    assert len(cases["passing"]) == 0
    (failure,) = cases["failing"]
    assert re.fullmatch(r"8 of 8 trials fail, the worst with \S+ ms", str(failure.get("message")))
    assert str(failure.text).startswith("thalweg replay ")
    assert str(cases["hopeless"][0].get("message")).startswith("infeasible: no controller is better than")


def test_github_gets_an_annotation_for_each_failure_and_the_counts(folder: Path, capsys: Capture) -> None:
    assert suite(folder, "out", "--format", "github", "--quiet") == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("::error title=mine/failing%3A main completion <= 200 ms::8 of 8 trials fail")
    assert last == "mine: 1 passed, 1 failed, 1 skipped"


def test_a_place_behind_all_rivals_is_a_failed_case(folder: Path, capsys: Capture) -> None:
    slow = folder.parent / "slow.py"
    slow.write_text(
        "import thalweg\nclass Slow(thalweg.Controller):\n    def on_ack(self, event, path):\n"
        "        self.window = 2 * path.mtu\n",
        encoding="utf-8",
    )
    rivals = ("--against", "cubic", "--against", "reno")
    options = ("-n", "30", "--only", "passing", "-c", f"main={slow}", "--format", "junit", *rivals)
    assert suite(folder, "out", *options) == 1
    cases = {str(case.get("name")): case for case in ElementTree.fromstring(capsys.readouterr().out)}
    (failure,) = cases["closed against cubic and reno"]
    assert str(failure.get("message")).startswith("worse than all, +")


def test_a_comparison_fails_the_case_of_what_became_worse(folder: Path, capsys: Capture) -> None:
    suite(folder, "a", "--only", "passing", "-n", "30", "--set", "noise.start=5 ms")
    suite(folder, "b", "--only", "passing", "-n", "30", "--set", "noise.start=5 ms", "--set", "path.rtt=90 ms")
    capsys.readouterr()
    folders = [str(folder.parent / name) for name in ("a", "b")]
    assert main(["compare", *folders, "--fail-above", "5 %", "--format", "junit"]) == 1
    (case,) = ElementTree.fromstring(capsys.readouterr().out)
    assert re.match(r"worse than in A: \S+ ms, \S+ ms more \(\+\d", str(case[0].get("message")))
    assert main(["compare", folders[0], folders[0], "--fail-above", "5 %", "--format", "github"]) == 0
    assert capsys.readouterr().out.endswith(": 1 passed, 0 failed, 0 skipped\n")


def test_hostile_names_end_neither_an_attribute_nor_an_annotation() -> None:
    case = Case('a"<b>', "x\x00 & \x1b[0m", failure="one\ntwo, 5 %", detail="]]> <")
    (read,) = ElementTree.fromstring(document(SuiteFormat.JUNIT, "s&t", [case]))
    assert (read.get("classname"), read.get("name")) == ('s&t.a"<b>', "x? & ?[0m")
    assert read[0].text == "]]> <"
    told = document(SuiteFormat.GITHUB, "::error::x", [case]).splitlines()
    assert len(told) == 2
    assert told[0].endswith("::one%0Atwo, 5 %25%0A]]> <")
    assert told[1].startswith("error::x: ")


def test_the_workflow_of_the_manual_is_one_and_its_commands_are_those_that_the_page_runs() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/ci.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    runs = re.findall(r"^ +- run: (thalweg .*)$", workflow, re.MULTILINE)
    assert [run.split()[1] for run in runs] == ["suite", "compare"]
    for run in runs:
        assert "--format github" in run
    assert "--out ci/baseline" in page
    assert "ci/baseline" in runs[1]
