"""The experiments that a folder keeps the trials of, small ones, and what each leaves that must not differ."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

from short_download import SCENARIO
from thalweg import SweepResult
from thalweg.base.files.document import DOCUMENT
from thalweg.cli import main
from thalweg.results.provenance import TIMES
from thalweg.trials.store import writer

_AT_ONCE = (
    "import sys; from thalweg.trials.store import writer; writer.BATCH_S = 0; "
    "from thalweg.cli import main; sys.exit(main())"
)
"""The command, with trials written as soon as they come."""
_TIMES = {*TIMES, "host", "command", "hashes", "sha256"}
SWEEP = """
scenario = "suite/one.toml"
trials = 12
[axes]
"path.rtt" = ["20 ms", "40 ms", "60 ms"]
"""
HUNT = """
scenario = "suite/one.toml"
objective = "slowdown"
trials = 4
budget = 24
[axes]
"path.rtt" = { from = "10 ms", to = "200 ms" }
"""


@dataclass(frozen=True)
class Experiment:
    """A command that stores its trials."""

    name: str
    words: Sequence[str]
    values: Callable[[Path], Any]
    """What it leaves, but for times."""
    splits: bool = True
    """Whether it has shards, and is compared: a hunt asks for trials by what came of those before."""


def prepare(root: Path) -> None:
    """Writes the scenarios and plans that the experiments read."""
    suite = root / "suite"
    suite.mkdir()
    for name, size in (("one", "2 MB"), ("two", "3 MB"), ("three", "4 MB")):
        (suite / f"{name}.toml").write_text(SCENARIO.replace("200 kB", size), encoding="utf-8")
    (root / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    (root / "hunt.toml").write_text(HUNT, encoding="utf-8")


def run(root: Path, *words: str, expected: Sequence[int] = (0, 1, 2)) -> str:
    """Runs a command to its end, in this process; what it prints."""
    told = io.StringIO()
    at_once = patch.object(writer, "BATCH_S", 0)
    with contextlib.chdir(root), redirect_stdout(told), redirect_stderr(told), at_once:
        status = main(words)
    assert status in expected, told.getvalue()
    assert "Traceback" not in told.getvalue(), told.getvalue()
    return told.getvalue()


def line(*words: str) -> list[str]:
    """The command as another process, which can be killed, and has loaded nothing yet."""
    return [sys.executable, "-c", _AT_ONCE, *words]


def without_times(value: Any) -> Any:
    """A document without what differs between two runs of the same trials."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in _TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def _document(folder: Path) -> Any:
    return without_times(json.loads((folder / DOCUMENT).read_text(encoding="utf-8")))


def _tables(folder: Path, pattern: str) -> dict[str, Any]:
    files = sorted(folder.glob(pattern))
    return {
        str(file.relative_to(folder)): pl.read_parquet(file).select(pl.exclude("core_s")).to_dict(as_series=False)
        for file in files
        if "trials" not in file.relative_to(folder).parts[:-1]
    }


def _suite(folder: Path) -> Any:
    return _document(folder), str(_tables(folder, "*/*.parquet"))


def _study(folder: Path) -> Any:
    return _document(folder), str(_tables(folder, "*.parquet"))


def _sweep(folder: Path) -> Any:
    return SweepResult.load(folder).scan().drop("core_s").collect().sort("index", "seed").write_csv()


_FLOWS = ("-c", "cubic", "-c", "reno", "--flows", "2", "--duration", "20 s")
_CELL = (*_FLOWS, "--buffer", "1", "--rtt-ratio", "1", "--queue", "drop-tail")
_PATH = ("--start", "classic", "--rate", "20 Mbps", "--rtt", "40 ms", "--buffer", "1", "--application", "0")
EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("suite", ("suite", "suite", "-n", "12", "--no-report"), _suite),
        Experiment("study", ("study", "fairness", *_CELL, "-n", "6", "--no-report"), _study),
        Experiment("traces", ("study", "slow-start", *_PATH, "--phases", "3", "-n", "4", "--no-report"), _study),
        Experiment("score", ("score", "reno", "--suite", "suite", "-n", "6"), _study),
        Experiment("sweep", ("sweep", "sweep.toml"), _sweep),
        Experiment("hunt", ("hunt", "hunt.toml", "--no-figure"), _document, splits=False),
    )
}
SPLIT = [name for name, experiment in EXPERIMENTS.items() if experiment.splits]
