"""The example of a policy that learns: it trains, writes a controller, and sets it beside others."""

import subprocess
import sys
from pathlib import Path

import pytest

import thalweg

pytestmark = pytest.mark.soak

EXAMPLE = Path(__file__).parents[2] / "examples" / "gym"


def run(script: str, *words: str) -> str:
    command = [sys.executable, str(EXAMPLE / script), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout


def test_training_repeats_and_writes_a_controller_that_goes_where_a_name_goes(tmp_path: Path) -> None:
    file = tmp_path / "learnt.py"
    longer = run("train.py", str(file), "--generations", "2").splitlines()
    shorter = run("train.py", str(tmp_path / "other.py"), "--generations", "1").splitlines()
    assert longer[0] == shorter[0]
    assert "generation  2: mean reward" in longer[1]
    scenario = thalweg.Scenario.load("c4/simple-20mbps", {"flow.main.download": "200 kB"}, {"main": str(file)})
    trial = scenario.run(seed=1, trace=True)
    assert trial.trace is not None
    assert set(trial.trace.variables["variable"]) == {"window_packets"}
    table = run("compare.py", str(file), "--trials", "1", "--only", "search/beside-itself")
    assert table.splitlines()[-1].count(" Mbps, ") == 3
