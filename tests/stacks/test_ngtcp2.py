"""ngtcp2 of Debian, of examples/stacks: a QUIC stack in C, with GnuTLS."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import thalweg

PATH = 'title = "t"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\nloss = "0.1 %"\n[[flow]]\nname = "main"\n'
SOURCE = Path(__file__).parents[2] / "examples" / "stacks" / "ngtcp2"
CONTROLLERS = ["cubic", "reno", "bbr", "bbr2"]


def scenario(ngtcp2: Path, work: str, controller: str = "cubic") -> thalweg.Scenario:
    flow = f'controller = "{controller}"\nstack = "{ngtcp2}"\n{work}\n'
    return thalweg.Scenario.from_toml(PATH + flow, "t")


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_the_same_seed_has_the_same_trial_in_any_process(ngtcp2: Path, controller: str) -> None:
    download = scenario(ngtcp2, 'download = "2 MB"', controller)
    one, two = (list(download.trials(4, seed=11, jobs=jobs).trials["trace_hash"]) for jobs in (1, 2))
    assert one == two
    assert len(set(one)) == 4
    assert download.run(12, trace=True).trace_hash == download.run(12, audit=True).trace_hash == one[1]


def test_its_controllers_differ_and_keep_their_floor(ngtcp2: Path) -> None:
    trials = [scenario(ngtcp2, 'download = "2 MB"', controller).run(1) for controller in CONTROLLERS]
    assert len({trial.trace_hash for trial in trials}) == len(CONTROLLERS)
    for trial in trials:
        assert trial.flows["bytes_delivered"][0] == 2_000_000
        # 2 MB at 20 Mbps take 0.8 s; five times as long is a sender that waits for timers.
        assert 0.8 < float(trial.flows["completion_s"][0]) < 4.0
        assert 0.040 <= trial.flows["min_rtt_s"][0] < 0.045


def test_a_shift_in_time_shifts_everything(ngtcp2: Path) -> None:
    first, later = (
        float(scenario(ngtcp2, f'download = "1 MB"\nstart = "{start}"').run(1).flows["completion_s"][0])
        for start in ("0 s", "700 ms")
    )
    assert later - first == pytest.approx(0.7, abs=1e-9)


def test_uploads_streams_and_requests_are_carried(ngtcp2: Path) -> None:
    for work in (
        'upload = "1 MB"\nstreams = 3',
        'download = "1 MB"\nstreams = 7',
        'download = "1 MB"\nchunk = "100 kB"',
    ):
        assert scenario(ngtcp2, work).run(3).flows["bytes_delivered"][0] == 1_000_000, work
    requests = 'requests = { count = 20, mean_gap = "50 ms", least = "3 kB", most = "50 kB" }'
    assert scenario(ngtcp2, requests).trials(2).flows["completion_s"].null_count() == 0


def test_the_trace_shows_the_window_the_flight_and_the_state(ngtcp2: Path) -> None:
    trace = scenario(ngtcp2, 'download = "2 MB"').run(1, trace=True).trace
    assert trace is not None
    assert {"slow_start", "congestion_avoidance"} <= set(trace.flows["state"])
    in_flight, window = (float(trace.flows[name].to_numpy().max()) for name in ("in_flight_bytes", "window_bytes"))
    assert 0 < in_flight <= 1.1 * window


@pytest.mark.parametrize(("version", "is_skipped"), [("0x000c01", False), ("0x010000", True), ("0x010b00", True)])
def test_headers_of_another_interface_are_as_good_as_none(tmp_path: Path, version: str, is_skipped: bool) -> None:
    for name in ("ngtcp2/ngtcp2.h", "ngtcp2/ngtcp2_crypto_gnutls.h", "gnutls/gnutls.h"):
        header = tmp_path / name
        header.parent.mkdir(exist_ok=True)
        header.write_text(f"#define NGTCP2_VERSION_NUM {version}\n")
    no_packages = tmp_path / "apt-get"
    no_packages.write_text("#!/bin/sh\nexit 1\n")
    no_packages.chmod(0o755)
    done = subprocess.run(
        ["make", "-C", str(SOURCE), f"TARGET={tmp_path / 'out'}", f"CC=cc -I{tmp_path}"],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    # These headers declare nothing: what is not skipped does not compile.
    assert ("SKIPPED the stack ngtcp2" in done.stdout) == (done.returncode == 0) == is_skipped, done
    assert not (tmp_path / "out" / "libngtcp2.so").exists()
