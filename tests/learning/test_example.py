"""The example of a policy that learns: it trains, writes a controller, and sets it beside others."""

import subprocess
import sys
from pathlib import Path

import thalweg

EXAMPLE = Path(__file__).parents[2] / "examples" / "gym"


def run(script: str, *words: str) -> str:
    command = [sys.executable, str(EXAMPLE / script), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout


def test_training_repeats_and_writes_a_controller_that_goes_where_a_name_goes(tmp_path: Path) -> None:
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    told = [run("train.py", str(file), "--generations", "2").splitlines() for file in files]
    assert told[0][:2] == told[1][:2]
    assert "generation  2: mean reward" in told[0][1]
    assert files[0].read_text() == files[1].read_text()
    scenario = thalweg.Scenario.load("c4/simple-20mbps", {"flow.main.download": "200 kB"}, {"main": str(files[0])})
    trial = scenario.run(seed=1, trace=True)
    assert trial.trace is not None
    assert set(trial.trace.variables["variable"]) == {"window_packets"}
    table = run("compare.py", str(files[0]), "--trials", "1", "--only", "search/beside-itself")
    assert table.splitlines()[-1].count(" Mbps, ") == 3


def test_a_step_of_training_is_worth_more_than_none() -> None:
    """The mean reward after a few generations is above that of the first: the method climbs."""
    sys.path.insert(0, str(EXAMPLE))
    import train  # noqa: PLC0415

    told: list[str] = []
    train.print = told.append  # type: ignore[attr-defined]
    train.train(generations=5, seed=1)
    means = [float(line.split("mean reward")[1].split(",")[0]) for line in told]
    assert max(means[-2:]) > means[0]
