"""The study harm with every controller on both sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thalweg.cli import main
from thalweg.cli.study.harm import choose
from thalweg.experiments.studies.harm.parameters import PRESETS

Capture = pytest.CaptureFixture[str]


def test_a_matrix_without_names_takes_every_controller_whatever_the_preset(capsys: Capture) -> None:
    few = ["--preset", "ccafct-test", "--matrix", "--rtt", "20 ms", "--count", "2", "-n", "1"]
    assert main(["study", "harm", *few, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    everyone = ("c4", "cubic", "reno", "bbr", "bbr1", "prague")
    assert PRESETS["matrix"].controllers == everyone
    assert {(row["controller"], row["competitor"]) for row in rows} == {
        (first, other) for first in everyone for other in (None, *everyone)
    }


def test_a_matrix_takes_each_named_controller_on_both_sides(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "matrix"
    options = ["--queue", "drop-tail", "--count", "20", "--head-start", "1 s", "--rtt", "20 ms", "-n", "2"]
    options += ["--matrix", "-c", "reno", "-c", "bbr"]
    assert main(["study", "harm", *options, "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "beyond itself" in said
    rows = json.loads((folder / "study.json").read_text(encoding="utf-8"))["rows"]
    sides = [(row["controller"], row["competitor"]) for row in rows]
    rivals = (None, "reno", "bbr")
    assert sides == [(victim, rival) for victim in ("reno", "bbr") for rival in rivals]
    assert "Who harms whom, 20 ms" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_matrix_in_real_time_is_of_the_kernels_controllers_if_none_is_named() -> None:
    chosen = choose({"controllers": None, "competitors": None, "matrix": True, "preset": "ccafct"}, live=True)
    assert any(name.startswith("kernel:") for name in chosen.controllers)
