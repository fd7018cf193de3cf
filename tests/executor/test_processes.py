"""Processes: trials of this process, whatever happens to the processes and to the files that they were made of."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from short_download import SCENARIO
from thalweg import Scenario, Sweep, SweepResult
from thalweg.base.executor import Batch, Failed, Finished
from thalweg.trials.machine import ThisMachine
from thalweg.trials.processes import _WORKER, LIVES
from thalweg.trials.store.shard import Shard
from waiting import until

COMMAND = str(Path(sys.executable).with_name("thalweg"))
MINE = """
import os, signal
from pathlib import Path
import thalweg

MARKS = Path({marks!r})

class Mine(thalweg.Controller):
    def __init__(self, init):
        self.window = init.initial_window
        with (MARKS / "started").open("a") as file:
            file.write("x")

    def on_ack(self, event, path):
        {act}
        self.window += event.newly_acked
"""


@pytest.fixture(name="scenario")
def scenario_file(tmp_path: Path) -> str:
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return str(file)


def controller(folder: Path, act: str = "pass") -> str:
    file = folder / "mine.py"
    file.write_text(MINE.format(marks=str(folder), act=act), encoding="utf-8")
    return str(file)


def hashes(found: list[Finished | Failed]) -> dict[int, str]:
    trials = [result.outcomes.trials for result in found if isinstance(result, Finished)]
    return {
        int(seed): str(hashed)
        for table in trials
        for seed, hashed in zip(table["seed"], table["trace_hash"], strict=True)
    }


def test_a_process_that_is_killed_loses_nothing(scenario: str, tmp_path: Path) -> None:
    once = "if not (MARKS / 'killed').exists(): (MARKS / 'killed').touch(); os.kill(os.getpid(), signal.SIGKILL)"
    mine = Scenario.load(scenario, controllers={"main": controller(tmp_path, once)})
    found: list[Finished | Failed] = []
    ThisMachine(2).play([Batch([mine], range(1, 9))], found.append)
    assert (tmp_path / "killed").exists()
    (tmp_path / "plain").mkdir()
    plain = Scenario.load(scenario, controllers={"main": controller(tmp_path / "plain")}).trials(8)
    assert hashes(found) == dict(zip(plain.trials["seed"], plain.trials["trace_hash"], strict=True))


def test_a_trial_that_always_ends_its_process_is_one_failed_row(scenario: str, tmp_path: Path) -> None:
    always = "os.kill(os.getpid(), signal.SIGSEGV)"
    sweep = Sweep(scenario, {"controller.main": [controller(tmp_path, always), "cubic"]}, trials=2)
    tally = sweep.play(tmp_path / "out", ThisMachine(2), Shard())
    assert (tally.ran, len(tally.errors)) == (4, 2)
    assert (tmp_path / "started").read_text() == "x" * 2 * 2 * LIVES  # two ends of two trials
    rows = SweepResult.load(tmp_path / "out").scan().sort("controller.main", "seed").collect()
    errors = rows["error"].to_list()
    assert errors[:2] == [
        f"the process that played it has ended {LIVES} times, with signal {int(signal.SIGSEGV)} (seed {seed})"
        for seed in (1, 2)
    ]
    assert errors[2:] == [None, None]


def test_a_file_that_changes_meanwhile_changes_nothing(scenario: str, tmp_path: Path) -> None:
    mine = Scenario.load(scenario, controllers={"main": controller(tmp_path)})
    before = mine.trials(4)
    (tmp_path / "mine.py").write_text("raise SystemExit('not this one')", encoding="utf-8")
    assert mine.trials(4, jobs=2).trials["trace_hash"].to_list() == before.trials["trace_hash"].to_list()
    (tmp_path / "mine.py").unlink()
    assert mine.trials(4, jobs=2).trials["trace_hash"].to_list() == before.trials["trace_hash"].to_list()


def test_batches_share_their_processes(scenario: str, tmp_path: Path) -> None:
    text = controller(tmp_path, "(MARKS / f'process-{os.getpid()}').touch()")
    batches = []
    for rate in ("5 Mbps", "10 Mbps", "20 Mbps"):
        mine = Scenario.load(scenario, {"path.rate": rate}, {"main": text})
        batches += [Batch([mine], range(first, first + 4)) for first in (1, 5)]
    heard: list[int] = []
    found: list[Finished | Failed] = []
    ThisMachine(2).play(batches, found.append, heard.append)
    assert len(found) == 6
    assert heard == sorted(heard)
    assert heard[-1] == 24
    assert 1 <= len(list(tmp_path.glob("process-*"))) <= 2
    assert not (tmp_path / f"process-{os.getpid()}").exists()


def test_a_ctrl_c_while_trials_are_handed_over_hands_none_over_twice(scenario: str, tmp_path: Path) -> None:
    mine = Scenario.load(scenario, controllers={"main": controller(tmp_path)})
    found: list[Finished | Failed] = []

    def take(result: Finished | Failed) -> None:
        found.append(result)
        if len(found) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ThisMachine(2).play([Batch([mine, mine], range(1, 5))], take)
    trials = [(result.number, seed) for result in found if isinstance(result, Finished) for seed in result.seeds]
    assert len(trials) >= 4
    assert len(set(trials)) == len(trials)


def test_a_process_whose_handler_never_returns_ends_with_who_asked(scenario: str, tmp_path: Path) -> None:
    spin = "(MARKS / f'process-{os.getpid()}').touch(); signal.alarm(90)\n        while True: pass"
    text = controller(tmp_path, spin)
    command = [COMMAND, "run", scenario, "-c", f"main={text}", "--trials", "4"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as asker:
        try:
            until(lambda: any(tmp_path.glob("process-*")), "a trial has begun", 60)
        finally:
            asker.kill()
    processes = [Path("/proc") / file.name.removeprefix("process-") for file in tmp_path.glob("process-*")]
    assert asker.pid not in {int(process.name) for process in processes}
    until(lambda: not any(has_a_program(process) for process in processes), "its processes have ended", 60)


def has_a_program(process: Path) -> bool:
    """Whether it runs; one that has ended may be listed until its parent asks."""
    try:
        return bool((process / "cmdline").read_bytes())
    except OSError:
        return False


HALF = """
import os, runpy, signal, sys
from pathlib import Path

mark = Path({mark!r})
if mark.exists():
    runpy.run_path({worker!r}, run_name="__main__")
mark.touch()
[sys.stdin.readline() for _ in range(3)]  # the path, the scenario, the seed
os.write(1, b'{{"outcomes": "AAAA')
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_half_an_answer_is_none(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = tmp_path / "half.py"
    half.write_text(HALF.format(mark=str(tmp_path / "mark"), worker=str(_WORKER)), encoding="utf-8")
    monkeypatch.setattr("thalweg.trials.processes._WORKER", half)
    mine = Scenario.load(scenario, controllers={"main": controller(tmp_path)})
    found: list[Finished | Failed] = []
    ThisMachine(2).play([Batch([mine], range(1, 5))], found.append)
    assert (tmp_path / "mark").exists()
    assert sorted(hashes(found)) == [1, 2, 3, 4]
