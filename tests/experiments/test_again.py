"""A stored command makes the same experiment again: seeds, sets of seeds and settings are all in it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from experiments.stored import prepare, without_times
from thalweg import _native as native
from thalweg.base.files.document import HEAD
from thalweg.cli import main
from thalweg.cli.status import NOTHING_FOUND
from thalweg.results.provenance import TIMES

Capture = pytest.CaptureFixture[str]
FAIRNESS = ("study", "fairness", "-c", "cubic", "-c", "reno", "--flows", "2", "--duration", "20 s")
CELL = ("--buffer", "1", "--rtt-ratio", "1", "--queue", "drop-tail", "-n", "2")
TAILS = ("tails", "c4/media-wifi-fade", "--metric", "max-delay", "--above", "50 ms", "--to", "0.1")
KINDS = {"run": "suite"}
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
        ("gate", "suite", "-n", "2", "--seed-set", "2", "--baseline", "baseline.json"),
        ("tune", "reno", "--suite", "suite", "-n", "2", "--seed-set", "2", "--budget", "2"),
        ("score", "reno", "--suite", "suite", "-n", "2", "--seed-set", "3"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_the_command_of_a_document_makes_the_same_document(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)

    def said(*given: str) -> dict[str, Any]:
        assert main([*given, *([] if given[0] == "score" else ["--format", "json"])]) in (0, 1, 2, NOTHING_FOUND)
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    if words[0] == "gate":
        assert main([*words, "--accept"]) == 0
    first = said(*words)
    assert HEAD.keys() - first.keys() <= ({"host", *TIMES} if words[0] == "score" else set())
    assert (first["kind"], first["engine"]) == (KINDS.get(words[0], words[0]), native.engine())
    program, *again = shlex.split(first["command"])
    assert program == "thalweg"
    second = said(*again, *(("--no-report", "--out", "again") if words[0] == "suite" else ()))
    assert without_times(second) == without_times(first)
