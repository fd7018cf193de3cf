"""The study of both stacks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from thalweg.cli import main
from thalweg.scenario import Scenario
from thalweg.studies.stacks import Cell, check, row

Capture = pytest.CaptureFixture[str]


def cell(model: list[float], wide: list[float], quic: list[float]) -> Cell:
    scenario = Scenario.load("c4/simple-20mbps")
    values = {"model": np.array(model), "wide": np.array(wide), "quic": np.array(quic)}
    return Cell("simple-20mbps", "c4", dict.fromkeys(values, scenario), values)


def test_medians_are_compared_with_those_of_the_same_windows() -> None:
    # Medians 4, 2 and 2.08: the stack is 48 % below the model, and 4 % above it with the same windows.
    one = row(cell([3, 4, 5], [1, 2, 3], [2, 2.08, 9]))
    assert one["quic_over_model"] == pytest.approx(-0.48)
    assert one["quic_over_wide"] == pytest.approx(0.04)
    assert check(one).holds


@pytest.mark.parametrize("quic", [1.89, 2.11, float("inf")])
def test_medians_more_than_5_percent_apart_do_not_agree(quic: float) -> None:
    assert not check(row(cell([2], [2], [quic]))).holds


def test_the_command_stores_what_it_prints(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "stacks"
    command = ["study", "stacks", "--scenario", "simple-20mbps", "--scenario", "bad-wifi", "-n", "3"]
    assert main([*command, "--format", "json", "-o", str(out)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["study"] == "stacks"
    assert [one["jitter"] for one in document["rows"]] == ["no", "yes"]
    # What has jitter is shown and not judged.
    assert len(document["checks"]) == 1
    assert json.loads((out / "study.json").read_text()) == document
    assert "vega" in (out / "report.html").read_text()
    assert len(list((out / "scenarios").glob("*.toml"))) == 6


def test_a_scenario_of_several_flows_is_refused(capsys: Capture) -> None:
    assert main(["study", "stacks", "--scenario", "c4-short"]) == 2
    assert "with one flow" in capsys.readouterr().err
