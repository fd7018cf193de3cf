"""The file of a baseline: what was written is read again, what is damaged or of something else is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from thalweg import version
from thalweg.base.errors import ResultError
from thalweg.cli import main
from thalweg.experiments.gate.baseline import FORMAT, Baseline, Recorded
from thalweg.experiments.gate.reading import read_baseline

Capture = pytest.CaptureFixture[str]


def made(metrics: dict[str, Sequence[float]] | None = None) -> Baseline:
    given = {"closed": [1.5, math.inf], "rate": [2e7, -math.inf]} if metrics is None else metrics
    one = Recorded("f" * 32, "main", "cubic", ["0123456789abcdef", "fedcba9876543210"], given)
    return Baseline("c4", 1, 2, {"b": one, "a": one})


def test_a_baseline_is_read_as_it_was_written_and_written_as_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    file.write_text(made().text(), encoding="utf-8")
    assert read_baseline(file).text() == made().text()
    assert read_baseline(file).scenarios["a"] == made().scenarios["a"]


def test_scenarios_and_metrics_have_one_order_and_each_list_one_line() -> None:
    text = made().text()
    assert list(json.loads(text)["scenarios"]) == ["a", "b"]
    assert '        "rate": [20000000, null]\n' in text
    assert '        "closed": [1.5, null],\n' in text
    swapped = made({"rate": [2e7, -math.inf], "closed": [1.5, math.inf]})
    assert swapped.text() == text


def change(*path: str, to: Any) -> Callable[[dict[str, Any]], None]:
    """Puts a value into a document; `...` removes the key."""

    def put(document: dict[str, Any]) -> None:
        table = document
        for key in path[:-1]:
            table = table[key]
        table[path[-1]] = to
        if to is ...:
            del table[path[-1]]

    return put


DAMAGED = [
    (change("format", to="thalweg-baseline/9"), 'format = "thalweg-baseline/9"; accepted: thalweg-baseline/1'),
    (change("format", to=...), "is not a baseline: it has no format"),
    (change("format", to=3), "is not a baseline: it has no format"),
    (change("suite", to=...), "is damaged: it lacks 'suite'"),
    (change("suite", to=[]), "is damaged: suite = []; accepted: text in one line"),
    (change("more", to=1), "is damaged: it has an unknown key 'more'"),
    (change("trials", to=0), "is damaged: trials = 0; accepted: a whole number, 1 to 1048576"),
    (change("trials", to=True), "is damaged: trials = true; accepted: a whole number"),
    (change("trials", to=3), "scenario 'a': trials are not 3 hashes"),
    (change("seed", to=-1), "is damaged: seed = -1; accepted: a whole number, 1 to "),
    (change("seed", to=1.5), "is damaged: seed = 1.5; accepted: a whole number, 1 to "),
    (change("scenarios", to={}), "is damaged: scenarios is empty"),
    (change("scenarios", "a", to=7), "is damaged: scenario 'a' is not a table"),
    (change("scenarios", "\x1b[0m", to={}), r"scenario '\x1b[0m' is not a name"),
    (change("version", to="\x1b[0m"), r'damaged: version = "\u001b[0m"; accepted: text in one line'),
    (change("scenarios", "a", "flow", to=...), "scenario 'a' lacks 'flow'"),
    (change("scenarios", "a", "flow", to=None), "scenario 'a': flow = null; accepted: text in one line"),
    (change("scenarios", "a", "trials", to=["x"]), "scenario 'a': trials are not 2 hashes"),
    (change("scenarios", "a", "trials", to=[1, 2]), "scenario 'a': trials are not 2 hashes"),
    (change("scenarios", "a", "metrics", to=[]), "scenario 'a': metrics is not a table"),
    (change("scenarios", "a", "metrics", "closed", to=[1]), "scenario 'a': 'closed' does not have 2 numbers"),
    (
        change("scenarios", "a", "metrics", "closed", to=[1, "2"]),
        'value 2 = "2"; accepted: a number of 0 or more, or null',
    ),
    (change("scenarios", "a", "metrics", "closed", to=[1, True]), "'closed': value 2 = true; accepted: a number"),
    (
        change("scenarios", "a", "metrics", "closed", to=[1, math.nan]),
        "'closed': value 2 = nan; accepted: a number",
    ),
    (change("scenarios", "a", "metrics", "closed", to=[1, 10**400]), "'closed': value 2 = 1000"),
    (change("scenarios", "a", "metrics", "closed", to=[1, -1]), "value 2 = -1; accepted: a number of 0 or more"),
    (change("scenarios", "a", "metrics", "rate", to=[None, 1]), "'rate': value 1 = null, but the flow finished"),
    (change("scenarios", "a", "metrics", "load", to=[1, 2]), "scenario 'a': 'load' is not a metric of a baseline"),
    (change("scenarios", "a", "metrics", "speed", to=[1, 2]), "'speed' is not a metric of a baseline"),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGED)
def test_a_damaged_baseline_is_one_message(
    damage: Callable[[dict[str, Any]], None], said: str, tmp_path: Path, capsys: Capture
) -> None:
    document = json.loads(made().text())
    damage(document)
    file = tmp_path / "b.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert main(["gate", "c4", "--only", "simple-20mbps", "--baseline", str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"error: {file}")
    assert said in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b"null", b'{"format": "thalweg'])
def test_what_is_no_baseline_at_all_is_one_message(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    file.write_bytes(data)
    with pytest.raises(
        ResultError, match=r"(is damaged|is not a baseline): .* (--accept|accepted: thalweg-baseline/1)"
    ):
        read_baseline(file)


def test_a_folder_or_a_device_is_no_baseline(tmp_path: Path, capsys: Capture) -> None:
    for file in (str(tmp_path), "/dev/zero"):
        assert main(["gate", "c4", "--only", "simple-20mbps", "--baseline", file]) == 2
        assert "it is not a regular file" in capsys.readouterr().err


@pytest.fixture
def accepted(tmp_path: Path) -> Path:
    """The baseline of two scenarios, two trials each."""
    file = tmp_path / "b.json"
    assert main(["gate", "c4", "--only", "simple-*", "-n", "2", "--baseline", str(file), "--accept", "-q"]) == 0
    return file


BOTH = ["--only", "simple-*"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["c4-05", "--only", "alone"], "is for the suite 'c4', not for c4-05"),
        (["c4", *BOTH, "-n", "3"], "-n 3: FILE has 2 trials of each scenario"),
        (["c4", *BOTH, "--seed-set", "2"], "begins with seed 1, not with seed set 2 (first trial 1048577)"),
        (["c4", *BOTH, "--only", "satellite"], "lacks satellite of the suite c4"),
        (["c4"], "lacks satellite, low-and-up, drop-and-back and 26 more of the suite c4"),
        (["c4", *BOTH, "--set", "path.rtt=90ms"], "made with other versions of simple-20mbps, simple-200mbps"),
        (
            ["c4", *BOTH, "--set", "noise.start=2ms"],
            "made with other versions of simple-20mbps, simple-200mbps",
        ),
    ],
)
def test_a_baseline_of_something_else_is_refused_with_what_and_what_to_run(
    arguments: list[str], said: str, accepted: Path, capsys: Capture
) -> None:
    capsys.readouterr()
    assert main(["gate", *arguments, "--baseline", str(accepted)]) == 2
    told = capsys.readouterr()
    assert said.replace("FILE", str(accepted)) in told.err
    assert "run with --accept" in told.err
    assert (told.out, told.err.count("\n")) == ("", 1)


def test_a_baseline_with_scenarios_that_the_suite_has_no_longer_is_refused(
    tmp_path: Path, scenario_file: Path, capsys: Capture
) -> None:
    suite = tmp_path / "mine"
    suite.mkdir()
    for name in ("one", "two"):
        (suite / f"{name}.toml").write_bytes(scenario_file.read_bytes())
    gate = ["gate", str(suite), "--baseline", str(tmp_path / "b.json")]
    assert main([*gate, "-n", "2", "--accept"]) == 0
    (suite / "two.toml").unlink()
    capsys.readouterr()
    assert main(gate) == 2
    assert "has two, which the suite mine lacks; to rewrite it" in capsys.readouterr().err
    assert main([*gate, "--only", "one"]) == 0


def test_a_baseline_of_another_version_of_the_engine_is_refused(accepted: Path, capsys: Capture) -> None:
    accepted.write_text(accepted.read_text().replace(f'"{version()}"', '"0.0.9"'), encoding="utf-8")
    assert main(["gate", "c4", *BOTH, "--baseline", str(accepted)]) == 2
    assert (
        f"was made by thalweg 0.0.9, this is {version()}: seeds reproduce only within one version"
        in capsys.readouterr().err
    )


def test_a_part_is_accepted_into_a_baseline_of_the_same_seeds_only(accepted: Path, capsys: Capture) -> None:
    part = ["gate", "c4", "--only", "simple-20mbps", "--baseline", str(accepted), "--accept"]
    before = accepted.read_bytes()
    assert main([*part, "--seed-set", "2"]) == 2
    assert main([*part, "-n", "3"]) == 2
    assert "-n 3" in (told := capsys.readouterr().err)
    assert told.count("run with --accept and without --only") == 2
    assert accepted.read_bytes() == before


def test_a_damaged_baseline_is_written_anew_in_full_but_not_in_part(accepted: Path, capsys: Capture) -> None:
    accepted.write_text('{\n  "format": "thalweg-baseline/1",\n', encoding="utf-8")
    gate = ["gate", "worst-cases", "-n", "1", "--baseline", str(accepted), "--accept"]
    assert main([*gate, "--only", "c4-*"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert main(gate) == 0
    assert read_baseline(accepted).suite == "worst-cases"


@pytest.mark.parametrize("option", [["--strict"], ["--junit", "j.xml"], ["--markdown", "m.txt"]])
def test_accept_judges_nothing(option: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["gate", "c4", "--accept", *option, "--baseline", str(tmp_path / "b.json")]) == 2
    assert f"--accept cannot be combined with {option[0]}" in capsys.readouterr().err


def test_a_baseline_of_another_flow_of_the_scenario_is_refused(accepted: Path, capsys: Capture) -> None:
    accepted.write_text(accepted.read_text().replace('"flow": "main"', '"flow": "peer"'), encoding="utf-8")
    assert main(["gate", "c4", *BOTH, "--baseline", str(accepted)]) == 2
    assert "simple-20mbps is judged by flow peer, not by main; to rewrite it" in capsys.readouterr().err


def test_a_metric_that_gets_a_threshold_later_needs_a_new_baseline(
    accepted: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "t.toml").write_text('[gate]\nmarks = "5 %"\n', encoding="utf-8")
    gate = ["gate", "c4", *BOTH, "--baseline", str(accepted), "--thresholds", str(tmp_path / "t.toml")]
    assert main(gate) == 2
    assert "simple-20mbps lacks marks, which has a threshold; to rewrite it" in capsys.readouterr().err
    assert main([*gate, "--accept"]) == 0
    assert main(gate) == 0


@pytest.mark.parametrize(("was", "metric"), [('"flow": "main"', "closed"), ("nothing", "marks")])
def test_what_does_not_fit_is_refused_before_a_trial_is_played(
    was: str, metric: str, accepted: Path, tmp_path: Path
) -> None:
    accepted.write_text(accepted.read_text().replace(was, '"flow": "peer"'), encoding="utf-8")
    (tmp_path / "t.toml").write_text(f'[gate]\n{metric} = "5 %"\n', encoding="utf-8")
    thresholds, out = str(tmp_path / "t.toml"), tmp_path / "trials"
    gate = ["gate", "c4", *BOTH, "--baseline", str(accepted), "--thresholds", thresholds, "--out", str(out)]
    assert main(gate) == 2
    assert not out.exists()


def test_the_format_is_named(accepted: Path) -> None:
    assert json.loads(accepted.read_text())["format"] == FORMAT


def test_accept_replaces_no_file_that_is_not_a_baseline(
    tmp_path: Path, scenario_file: Path, capsys: Capture
) -> None:
    suite = tmp_path / "mine"
    suite.mkdir()
    scenario = suite / "one.toml"
    scenario.write_bytes(scenario_file.read_bytes())
    (suite / "suite.toml").write_text('title = "Mine"\n', encoding="utf-8")
    notes, thresholds = tmp_path / "notes.txt", tmp_path / "gate.toml"
    notes.write_text("mine", encoding="utf-8")
    thresholds.write_text("[gate]\n", encoding="utf-8")
    for file in (notes, scenario, suite / "suite.toml", thresholds):
        before = file.read_bytes()
        given = ["--thresholds", str(thresholds), "--baseline", str(file), "--accept"]
        assert main(["gate", str(suite), "-n", "2", *given]) == 2
        told = capsys.readouterr().err
        assert re.search(r"would replace (\S+, which is not a baseline|what is read); use another name\n$", told)
        assert file.read_bytes() == before
    damaged, empty = tmp_path / "b.json", tmp_path / "empty.json"
    damaged.write_text('<<<<<<< ours\n{\n  "format": "thalweg-baseline/1",', encoding="utf-8")
    empty.touch()
    for file in (damaged, empty):
        assert main(["gate", str(suite), "-n", "2", "--baseline", str(file), "--accept", "-q"]) == 0
        assert main(["gate", str(suite), "--baseline", str(file), "-q"]) == 0


def test_answers_are_not_written_over_what_is_read_or_over_each_other(accepted: Path, capsys: Capture) -> None:
    before = accepted.read_bytes()
    gate = ["gate", "c4", *BOTH, "--baseline", str(accepted)]
    link = accepted.with_name("link.xml")
    link.symlink_to(accepted)
    for given, said in (
        (["--junit", str(accepted)], "would replace what is read"),
        (["--markdown", str(accepted)], "would replace what is read"),
        (["--junit", str(link)], "would replace what is read"),
        (["--junit", "a.xml", "--markdown", "a.xml"], "would replace what --junit writes"),
    ):
        capsys.readouterr()
        assert main([*gate, *given]) == 2
        assert said in capsys.readouterr().err
        assert accepted.read_bytes() == before


def test_answers_and_baselines_are_not_written_over_the_controller_under_test(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "controller", "mine"]) == 0
    before = Path("mine.py").read_bytes()
    gate = ["gate", "c4", *BOTH, "-n", "2", "-c", "main=./mine.py:beta=0.8"]
    assert main([*gate, "--accept"]) == 0
    for option in ("--junit", "--markdown"):
        capsys.readouterr()
        assert main([*gate, option, "mine.py"]) == 2
        assert f"{option} mine.py would replace what is read" in capsys.readouterr().err
        assert Path("mine.py").read_bytes() == before
    Path("mine.py").write_bytes(b"")
    assert main([*gate, "--accept", "--baseline", "mine.py"]) == 2
    assert Path("mine.py").read_bytes() == b""


def test_edited_numbers_beside_the_hashes_of_before_are_no_identical_trials(
    accepted: Path, capsys: Capture
) -> None:
    gate = ["gate", "c4", *BOTH, "--baseline", str(accepted), "--format", "json"]
    document = json.loads(accepted.read_text())
    metrics = document["scenarios"]["simple-20mbps"]["metrics"]
    metrics["closed"] = [value / 2 for value in metrics["closed"]]
    accepted.write_text(json.dumps(document), encoding="utf-8")
    capsys.readouterr()
    assert main([*gate, "--strict"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["played"], answer["identical"]) == (4, 2)


@pytest.mark.parametrize("name", ["a\u00a0b", "\u4e3b\u3000\u6d41", "\U0001f469\u200d\U0001f52c", "a b@1"])
def test_a_baseline_of_any_name_is_read_as_it_was_written(name: str, tmp_path: Path, scenario_file: Path) -> None:
    suite = tmp_path / name
    suite.mkdir()
    (suite / f"{name}.toml").write_bytes(scenario_file.read_bytes())
    gate = ["gate", str(suite), "--baseline", str(tmp_path / "b.json"), "-q"]
    assert main([*gate, "-n", "2", "--accept"]) == 0
    assert main(gate) == 0
