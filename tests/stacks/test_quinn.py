"""quinn-proto 0.11, of examples/stacks: a real QUIC stack with its own congestion control."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg

PATH = 'title = "t"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\n[[flow]]\nname = "main"\n'
CONTROLLERS = ["cubic", "new-reno"]


def simple(quinn: Path, controller: str = "cubic", **overrides: str) -> thalweg.Scenario:
    settings = {key.replace("__", "."): value for key, value in overrides.items()}
    return thalweg.Scenario.load("c4/simple-20mbps", settings, {"main": controller}, stack=quinn)


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_the_same_seed_has_the_same_trial_in_any_process(quinn: Path, controller: str) -> None:
    scenario = simple(quinn, controller)
    one, two = (list(scenario.trials(4, seed=11, jobs=jobs).trials["trace_hash"]) for jobs in (1, 2))
    assert one == two
    assert len(set(one)) == 4
    assert scenario.run(12, trace=True).trace_hash == one[1]


def test_another_controller_has_another_trial(quinn: Path) -> None:
    assert simple(quinn, "cubic").run(1).trace_hash != simple(quinn, "new-reno").run(1).trace_hash


def test_a_download_fills_the_link_and_keeps_its_floor(quinn: Path) -> None:
    for controller in CONTROLLERS:
        trial = simple(quinn, controller).run(1)
        completion = float(trial.flows["completion_s"][0])
        assert trial.flows["bytes_delivered"][0] == 10_000_000
        # 10 MB at 20 Mbps take 4 s at least, and half as much again at most for a sender that loses a slow start.
        assert 4.0 < completion < 6.0
        # The path of 80 ms cannot be faster.
        assert 0.080 <= trial.flows["min_rtt_s"][0] < 0.085


def test_a_shift_in_time_shifts_everything(quinn: Path) -> None:
    first, later = (
        thalweg.Scenario.from_toml(
            f'{PATH}controller = "cubic"\nstack = "{quinn}"\nstart = "{start}"\ndownload = "2 MB"\n', "t"
        ).run(1)
        for start in ("0 s", "700 ms")
    )
    shift = float(later.flows["completion_s"][0]) - float(first.flows["completion_s"][0])
    assert shift == pytest.approx(0.7, abs=1e-9)


def test_uploads_and_streams_are_carried(quinn: Path) -> None:
    lossy = PATH.replace("[[flow]]", 'loss = "1 %"\n[[flow]]')
    for work in (
        'upload = "1 MB"\nstreams = 3',
        'download = "1 MB"\nstreams = 7',
        'download = "1 MB"\nchunk = "100 kB"',
    ):
        flow = f'controller = "cubic"\nstack = "{quinn}"\n{work}\n'
        trial = thalweg.Scenario.from_toml(lossy + flow, "t").run(3)
        assert trial.flows["bytes_delivered"][0] == 1_000_000, work


def test_the_auditor_finds_nothing(quinn: Path) -> None:
    scenario = simple(quinn)
    assert scenario.run(1, audit=True).trace_hash == scenario.run(1).trace_hash


def test_a_gate_of_an_unchanged_stack_differs_by_nothing(quinn: Path, tmp_path: Path) -> None:
    words = ["gate", "c4", "--only", "simple-20mbps", "-n", "3", "--stack", str(quinn), "-c", "main=cubic"]
    command = [str(Path(sys.executable).with_name("thalweg")), *words, "--baseline", "b.json"]
    accepted = subprocess.run([*command, "--accept"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert accepted.returncode == 0, accepted.stderr
    assert json.loads((tmp_path / "b.json").read_text())
    same = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert same.returncode == 0, same.stderr
    assert "3 of 3 trials are identical to the baseline" in same.stdout
    other = [word.replace("main=cubic", "main=new-reno") for word in command]
    changed = subprocess.run(other, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert changed.returncode != 0, changed.stdout
    assert "0 of 3 trials are identical to the baseline" in changed.stdout
