"""The study of both stacks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.stacks.checks import check
from thalweg.experiments.studies.stacks.measure import StackComparison, row
from thalweg.experiments.studies.stacks.parameters import Parameters

Capture = pytest.CaptureFixture[str]


def cell(model: list[float], wide: list[float], quic: list[float]) -> StackComparison:
    scenario = Scenario.load("c4/simple-20mbps")
    values = {"model": np.array(model), "wide": np.array(wide), "quic": np.array(quic)}
    return StackComparison("simple-20mbps", "c4", scenario.description, values)


def test_medians_are_compared_with_those_of_the_same_windows() -> None:
    # Medians 4, 2 and 2.08: the stack is 48 % below the model, and 4 % above it with the same windows.
    found = row(cell([3, 4, 5] * 4, [2.0] * 12, [2.07, 2.08, 2.09] * 4))
    assert found["quic_over_model"] == pytest.approx(-0.48)
    assert found["quic_over_wide"] == pytest.approx(0.04)
    assert check(found).holds


@pytest.mark.parametrize("quic", [1.89, 2.11, float("inf")])
def test_medians_more_than_5_percent_apart_do_not_agree(quic: float) -> None:
    assert check(row(cell([2] * 6, [2] * 6, [quic] * 6))).answer == "fails"


def test_medians_that_scatter_across_the_tolerance_need_more_trials() -> None:
    assert check(row(cell([2] * 6, [2] * 6, [1.8, 1.9, 2.0, 2.05, 2.2, 2.3]))).answer == "undecided"
    assert check(row(cell([2] * 5, [2] * 5, [2] * 5))).answer == "undecided"


def test_all_stacks_start_alike_at_all_phases_of_the_longest_round_trip() -> None:
    both = Parameters(names=("short-to-long",))
    starts = [both.scenario(cell).trials(12).flows["start_s"].to_numpy() for cell in both.cells()]
    # The path has 30 ms at first and 200 ms from 1 s on.
    assert 0.1 < np.ptp(starts[0]) < 0.2
    for others in starts[1:]:
        assert others.tolist() == starts[0].tolist()


def test_the_command_stores_what_it_prints(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "stacks"
    command = ["study", "stacks", "--scenario", "simple-20mbps", "--scenario", "bad-wifi", "-n", "6"]
    assert main([*command, "--format", "json", "-o", str(out)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["name"] == "stacks"
    assert [row["jitter"] for row in document["rows"]] == ["no", "yes"]
    # What has jitter is shown and not judged.
    assert len(document["checks"]) == 1
    stored = json.loads((out / "experiment.json").read_text())
    for beside in ("files", "hashes", "sha256"):
        assert stored.pop(beside)
    assert stored == document
    assert "vega" in (out / "report.html").read_text()
    assert len(list((out / "scenarios").glob("*.toml"))) == 6


def test_an_undecided_study_is_reported_with_its_own_status(capsys: Capture) -> None:
    assert main(["study", "stacks", "--scenario", "simple-20mbps", "-n", "2"]) == 2
    said = capsys.readouterr()
    assert "undecided" in said.out
    assert said.err.endswith("error: 1 of 1 checks are undecided with --trials 2: they require more\n")


def test_a_scenario_of_several_flows_is_refused(capsys: Capture) -> None:
    assert main(["study", "stacks", "--scenario", "c4-short"]) == 2
    assert "with one flow" in capsys.readouterr().err


def test_a_controller_whose_trials_do_not_repeat_must_be_allowed(tmp_path: Path, capsys: Capture) -> None:
    run = ["run", "c4/simple-20mbps", "--stack", "quic", "-c", "main=noq:bbr3", "-n", "2"]
    assert main(run) == 2
    said = capsys.readouterr().err
    assert "flow.0.controller" in said
    assert "--allow-unseeded" in said
    assert main([*run, "--allow-unseeded"]) in {0, 1}
    assert "--allow-unseeded --plot" in capsys.readouterr().out
    suite = ["suite", "c4", "--only", "simple-20mbps", "-n", "1", "--stack", "quic", "-c", "main=noq:bbr3"]
    assert main([*suite, "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()
    capsys.readouterr()
    assert main([*suite, "--allow-unseeded", "--out", str(tmp_path / "out")]) in {0, 1}
    assert main(["run", "c4/simple-20mbps", "--live", "--allow-unseeded"]) == 2
    controllers = {"main": "noq:bbr3"}
    loaded = Scenario.load("c4/simple-20mbps", {"flow.*.stack": "quic"}, controllers, allow_unseeded=True)
    assert "allow_unseeded = true" in loaded.toml
