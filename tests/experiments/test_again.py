"""A stored command makes the same experiment again: seeds, sets of seeds and settings are all in it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from experiments.stored import prepare, without_times
from thalweg.cli import main

Capture = pytest.CaptureFixture[str]
FAIRNESS = ("study", "fairness", "-c", "cubic", "-c", "reno", "--flows", "2", "--duration", "20 s")
CELL = ("--buffer", "1", "--rtt-ratio", "1", "--queue", "drop-tail", "-n", "2")
TAILS = ("tails", "c4/media-wifi-fade", "--metric", "max-delay", "--above", "50 ms", "--to", "0.1")
FEW = ("--particles", "20", "--runs", "3")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "suite/one.toml", "--seed", "0"),
        ("run", "suite/one.toml", "--seed", "7", "-n", "2", "-c", "main=cubic", "--set", "path.loss=1 %"),
        ("run", "suite/one.toml", "--seed", "5000000"),
        ("suite", "suite", "-n", "2", "--seed-set", "3", "--only", "t*", "--no-report", "--out", "out"),
        (*FAIRNESS, *CELL, "--seed-set", "2"),
        (*TAILS, *FEW, "--seed-set", "2"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_the_command_of_a_document_makes_the_same_document(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)

    def said(*given: str) -> dict[str, Any]:
        assert main([*given, "--format", "json"]) in (0, 1, 2)
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    first = said(*words)
    program, *again = shlex.split(first["command"])
    assert program == "thalweg"
    second = said(*again, *(("--no-report", "--out", "again") if words[0] == "suite" else ()))
    assert without_times(second) == without_times(first)
