"""aioquic 1.7, of examples/stacks: a QUIC stack in Python, inside of the process that plays the trial."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import thalweg

PATH = 'title = "t"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\nloss = "0.1 %"\n[[flow]]\nname = "main"\n'
CONTROLLERS = ["cubic", "reno"]


def scenario(aioquic: Path, work: str, controller: str = "cubic", path: str = PATH) -> thalweg.Scenario:
    flow = f'controller = "{controller}"\nstack = "{aioquic}"\n{work}\n'
    return thalweg.Scenario.from_toml(path + flow, "t")


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_the_same_seed_has_the_same_trial_in_any_process(aioquic: Path, controller: str) -> None:
    download = scenario(aioquic, 'download = "1 MB"', controller)
    one, two = (list(download.trials(3, seed=11, jobs=jobs).trials["trace_hash"]) for jobs in (1, 2))
    assert one == two
    assert len(set(one)) == 3
    assert download.run(12, trace=True).trace_hash == download.run(12, audit=True).trace_hash == one[1]


def test_a_process_without_python_has_one_and_the_same_contents(aioquic: Path, first_datagram: Path) -> None:
    said = [subprocess.run([first_datagram, aioquic], capture_output=True, check=False) for _ in range(2)]
    # Contents too: random numbers and keys of TLS come from the seed.
    assert said[0].stdout == said[1].stdout
    assert len(said[0].stdout) == 1400, said[0].stderr


def test_its_controllers_differ_and_keep_their_floor(aioquic: Path) -> None:
    trials = [scenario(aioquic, 'download = "2 MB"', controller).run(1) for controller in CONTROLLERS]
    assert len({trial.trace_hash for trial in trials}) == len(CONTROLLERS)
    for trial in trials:
        assert trial.flows["bytes_delivered"][0] == 2_000_000
        # 2 MB at 20 Mbps take 0.8 s; five times as long is a sender that waits for timers.
        assert 0.8 < float(trial.flows["completion_s"][0]) < 4.0
        assert 0.040 <= trial.flows["min_rtt_s"][0] < 0.045


def test_a_shift_in_time_shifts_everything(aioquic: Path) -> None:
    first, later = (
        float(scenario(aioquic, f'download = "500 kB"\nstart = "{start}"').run(1).flows["completion_s"][0])
        for start in ("0 s", "700 ms")
    )
    assert later - first == pytest.approx(0.7, abs=1e-9)


def test_uploads_streams_and_requests_are_carried(aioquic: Path) -> None:
    for work in (
        'upload = "500 kB"\nstreams = 3',
        'download = "500 kB"\nstreams = 7',
        'download = "500 kB"\nchunk = "100 kB"',
    ):
        assert scenario(aioquic, work).run(3).flows["bytes_delivered"][0] == 500_000, work
    requests = 'requests = { count = 20, mean_gap = "50 ms", least = "3 kB", most = "50 kB" }'
    assert scenario(aioquic, requests).trials(2).flows["completion_s"].null_count() == 0


def test_the_trace_shows_the_window_the_flight_and_the_state(aioquic: Path) -> None:
    trace = scenario(aioquic, 'download = "1 MB"').run(1, trace=True).trace
    assert trace is not None
    assert {"slow_start", "congestion_avoidance"} <= set(trace.flows["state"])
    in_flight, window = (float(trace.flows[name].to_numpy().max()) for name in ("in_flight_bytes", "window_bytes"))
    assert 0 < in_flight <= 1.1 * window


def test_what_aioquic_refuses_is_said(aioquic: Path) -> None:
    problem = "creates no stack: Unknown congestion control algorithm: cubic:beta=1"
    with pytest.raises(thalweg.StackError, match=problem):
        scenario(aioquic, 'download = "100 kB"', "cubic:beta=1").run(1)


def test_a_library_without_its_packages_says_so(aioquic: Path, tmp_path: Path) -> None:
    alone = shutil.copy(aioquic, tmp_path)
    with pytest.raises(thalweg.StackError, match="aioquic does not start; Python has printed why"):
        scenario(Path(alone), 'download = "100 kB"').run(1)
