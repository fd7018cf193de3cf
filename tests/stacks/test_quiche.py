"""quiche 0.30, of examples/stacks: a QUIC stack with BoringSSL, which reads the clock itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import thalweg

PATH = 'title = "t"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\nloss = "0.1 %"\n[[flow]]\nname = "main"\n'
SOURCE = Path(__file__).parents[2] / "examples" / "stacks" / "quiche"
CONTROLLERS = ["cubic", "reno", "bbr2"]


def scenario(quiche: Path, work: str, controller: str = "cubic") -> thalweg.Scenario:
    flow = f'controller = "{controller}"\nstack = "{quiche}"\n{work}\n'
    return thalweg.Scenario.from_toml(PATH + flow, "t")


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_the_same_seed_has_the_same_trial_in_any_process(quiche: Path, controller: str) -> None:
    download = scenario(quiche, 'download = "2 MB"', controller)
    one, two = (list(download.trials(4, seed=11, jobs=jobs).trials["trace_hash"]) for jobs in (1, 2))
    assert one == two
    assert len(set(one)) == 4
    assert download.run(12, trace=True).trace_hash == download.run(12, audit=True).trace_hash == one[1]


def test_the_contents_of_packets_repeat_too(quiche: Path, first_datagram: Path) -> None:
    said = [subprocess.run([first_datagram, quiche], capture_output=True, check=False) for _ in range(2)]
    assert said[0].stdout == said[1].stdout
    # RFC 9000 section 14.1: a datagram with a client's Initial packet has at least 1200 bytes.
    assert len(said[0].stdout) >= 1200, said[0].stderr


def test_its_controllers_differ_and_keep_their_floor(quiche: Path) -> None:
    trials = [scenario(quiche, 'download = "2 MB"', controller).run(1) for controller in CONTROLLERS]
    assert len({trial.trace_hash for trial in trials}) == len(CONTROLLERS)
    for trial in trials:
        assert trial.flows["bytes_delivered"][0] == 2_000_000
        # 2 MB at 20 Mbps take 0.8 s; five times as long is a sender that waits for timers.
        assert 0.8 < float(trial.flows["completion_s"][0]) < 4.0
        assert 0.040 <= trial.flows["min_rtt_s"][0] < 0.045


def test_a_shift_in_time_shifts_everything(quiche: Path) -> None:
    for controller in ("cubic", "bbr2"):
        first, later = (
            scenario(quiche, f'download = "1 MB"\nstart = "{start}"', controller).run(1)
            for start in ("0 s", "700 ms")
        )
        shift = float(later.flows["completion_s"][0]) - float(first.flows["completion_s"][0])
        assert shift == pytest.approx(0.7, abs=1e-9)


def test_uploads_streams_and_requests_are_carried(quiche: Path) -> None:
    for work in (
        'upload = "1 MB"\nstreams = 3',
        'download = "1 MB"\nstreams = 7',
        'download = "1 MB"\nchunk = "100 kB"',
    ):
        assert scenario(quiche, work).run(3).flows["bytes_delivered"][0] == 1_000_000, work
    requests = 'requests = { count = 20, mean_gap = "50 ms", least = "3 kB", most = "50 kB" }'
    assert scenario(quiche, requests).trials(2).flows["completion_s"].null_count() == 0


def test_its_own_settings_are_options(quiche: Path) -> None:
    work = 'download = "4 MB"'
    for plain, changed in (("cubic", "cubic:hystart=off"), ("bbr2", "bbr2:pacing=0.95")):
        assert scenario(quiche, work, plain).run(1).trace_hash != scenario(quiche, work, changed).run(1).trace_hash
    for wrong in ("cubic:gain=2", "bbr2:pacing=x", "reno:hystart=perhaps", "bbr2:pacing=1000"):
        with pytest.raises(
            thalweg.StackError, match=f'"{wrong.partition(":")[2]}" is no option of .*; accepted: '
        ):
            scenario(quiche, work, wrong).run(1)


def test_without_cmake_it_is_skipped_aloud(tmp_path: Path) -> None:
    for name in ("make", "sh", "cc", "c++"):
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=True)
        (tmp_path / name).symlink_to(found.stdout.strip())
    done = subprocess.run(
        [tmp_path / "make", "-C", str(SOURCE), f"TARGET={tmp_path / 'out'}", "PYTHON=false"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done
    assert "SKIPPED the stack quiche: BoringSSL needs cmake" in done.stdout
