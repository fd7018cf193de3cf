"""A disk that fills: one message, status 2, and what was stored before is there. The disk is a small tmpfs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from short_download import SCENARIO
from thalweg import Sweep, SweepResult

pytestmark = pytest.mark.timeout(300)  # commands run one after the other, on machines with other work
PLAN = """\
scenario = "short.toml"
trials = 300
[axes]
"path.rate" = { from = "1 Mbps", to = "50 Mbps", steps = 30 }
"""
HUNT = """\
scenario = "short.toml"
objective = "slowdown"
budget = 8
[axes]
"path.rtt" = { from = "10 ms", to = "100 ms" }
"""
WORK = """\
mount -t tmpfs -o size=$1 none disk || exit 99
shift
"$@" >out 2>err
echo $? >status
mount -o remount,size=40m disk
"$@" >out-then 2>err-then
echo $? >status-then
cp -r disk/out kept
"""


@pytest.fixture(name="folder")
def home(tmp_path: Path) -> Path:
    longer = SCENARIO.replace("200 kB", "2 MB")  # so that the trials of a sweep are several batches of a second
    for name, text in (("short.toml", longer), ("plan.toml", PLAN), ("hunt.toml", HUNT)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "disk").mkdir()
    return tmp_path


def ran_on(folder: Path, size: str, *words: str) -> list[str]:
    """What a command says on a disk of that size. With more room it then does what it should."""
    command = [sys.executable, "-c", "import sys; from thalweg.cli import main; sys.exit(main())", *words]
    isolated = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", WORK, "sh", size, *command]
    done = subprocess.run(isolated, cwd=folder, capture_output=True, text=True, check=False)
    if not (folder / "status").exists():
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    said = (folder / "err").read_text()
    assert (folder / "status").read_text() == "2\n", said
    assert (folder / "status-then").read_text() == "0\n", (folder / "err-then").read_text()
    return said.splitlines()


@pytest.mark.soak
@pytest.mark.parametrize("size", ["8k", "100k", "500k"])
def test_a_sweep_keeps_what_it_stored_and_goes_on_from_there(folder: Path, size: str) -> None:
    (said,) = ran_on(folder, size, "sweep", "plan.toml", "--out", "disk/out", "--format", "json")
    assert said.startswith("error: cannot write disk/out")
    assert said.endswith(": No space left on device")
    tally = json.loads((folder / "out-then").read_text())
    assert tally["ran"] + tally["present"] == tally["planned"] == 9000
    assert tally["present"] > 0 or size != "500k", "files that were written before count"
    Sweep.load(folder / "plan.toml").run(folder / "whole")
    stores = [SweepResult.load(folder / name).scan().drop("core_s", "replay") for name in ("kept", "whole")]
    kept, whole = (store.sort("index", "seed").collect() for store in stores)
    assert isinstance(kept, pl.DataFrame)
    assert kept.equals(whole, null_equal=True)


@pytest.mark.parametrize(
    "words",
    [
        ("hunt", "hunt.toml", "--out", "disk/out", "--no-figure"),
        ("suite", "suite", "-n", "20", "--out", "disk/out", "--no-report"),
    ],
)
def test_other_results_are_refused_in_one_message(folder: Path, words: tuple[str, ...]) -> None:
    (folder / "suite").mkdir()
    (folder / "suite" / "short.toml").write_text(SCENARIO, encoding="utf-8")
    said = ran_on(folder, "8k", *words)
    assert [line for line in said if line.startswith("error: ")] == said
    assert len(said) == 1
    assert said[0].endswith(": No space left on device")
