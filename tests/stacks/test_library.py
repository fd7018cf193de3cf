"""Flows on the stack of a library: what they carry, what is refused, and how a trial is known."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg
from thalweg.realtime.trial import LiveScenario
from toys import Toy

PATH = 'title = "t"\n[path]\nrate = "8 Mbps"\nrtt = "40 ms"\n'


def flow(stack: Path | str, work: str = 'download = "100 kB"', name: str = "main", more: str = "") -> str:
    return f'[[flow]]\nname = "{name}"\ncontroller = "fixed"\nstack = "{stack}"\n{work}\n{more}\n'


def scenario(*flows: str, path: str = PATH) -> thalweg.Scenario:
    return thalweg.Scenario.from_toml(path + "".join(flows), "t")


def completion(trial: thalweg.Trial) -> float:
    return float(trial.flows["completion_s"][0])


def test_a_window_of_ten_packets_takes_its_round_trips(toy: Toy) -> None:
    # 100 packets of 1000 bytes, ten in a round trip. Each counts 1032 bytes with headers, 1.032 ms at 8 Mbps: a
    # round trip takes 40 ms and those of the packet and of its acknowledgement (32 bytes, 0.032 ms). Before the
    # data: the handshake and the request. The last nine of the last window arrive 9 x 1.032 ms after the first.
    trial = scenario(flow(toy())).run(1)
    rounds = 10 * (0.040 + 0.001032 + 0.000032) - 0.020  # the last acknowledgement is not waited for
    expected = 0.040 + 0.020 + rounds + 9 * 0.001032
    assert completion(trial) == pytest.approx(expected, abs=0.003)
    assert trial.flows["bytes_delivered"][0] == 100_000


def test_a_controller_of_the_library_is_chosen_by_its_name(toy: Toy) -> None:
    one, two = (
        thalweg.Scenario.from_toml(PATH + flow(toy()), "t", controllers={"main": name})
        for name in ("fixed", "double")
    )
    # Twice the window, half the round trips but for the first one and a half.
    assert 0.45 < completion(two.run(1)) / completion(one.run(1)) < 0.62


def test_uploads_requests_and_chunks_are_carried(toy: Toy) -> None:
    upload = scenario(flow(toy(), 'upload = "50 kB"')).run(1)
    assert upload.flows["bytes_delivered"][0] == 50_000
    requests = 'requests = { count = 5, mean_gap = "100 ms", least = "3 kB", most = "5 kB" }'
    outcome = scenario(flow(toy(), requests)).trials(2)
    assert outcome.flows["completion_s"].null_count() == 0
    slow = scenario(flow(toy(), 'download = "50 kB"\napp_rate = "100 kbps"')).run(1)
    assert completion(slow) == pytest.approx(50_000 * 8 / 100_000, rel=0.05)


@pytest.mark.parametrize("pauses", ["", 'pauses = [["500 ms", "900 ms"]]'])
def test_a_write_of_a_timer_comes_with_the_time_of_the_timer(toy: Toy, pauses: str) -> None:
    # The toy fails if datagrams are asked for at another time than that of the last write.
    trial = scenario(flow(toy(), f'download = "20 kB"\napp_rate = "100 kbps"\n{pauses}')).run(1)
    assert trial.flows["bytes_delivered"][0] == 20_000


def test_flows_of_a_library_and_of_the_model_share_a_link(toy: Toy) -> None:
    model = '[[flow]]\nname = "other"\ncontroller = "cubic"\ndownload = "100 kB"\n'
    trial = scenario(flow(toy()), model).run(1)
    assert list(trial.flows["bytes_delivered"]) == [100_000, 100_000]


def test_a_trace_has_the_departure_of_each_datagram(toy: Toy) -> None:
    trial = scenario(flow(toy(LATER=10_000_000))).run(1, trace=True)
    assert trial.trace
    packets = trial.trace.packets
    # The sender of a download is the server; the counter of a flow has the datagrams of its sender.
    assert set(packets["event"]) == {"sent"}
    assert list(packets["first_packet"]) == list(range(len(packets)))
    assert len(packets) == trial.flows["packets_sent"][0]
    assert packets["time_s"].is_sorted()


def test_an_earliest_departure_is_obeyed(toy: Toy) -> None:
    # Each of 100 packets leaves 10 ms later than it could: a round trip takes 10 ms more, in ten of them, and
    # in that of the request, which is data too.
    plain, late = scenario(flow(toy())).run(1), scenario(flow(toy(LATER=10_000_000))).run(1)
    assert completion(late) - completion(plain) == pytest.approx(11 * 0.010, abs=1e-4)


def test_a_shift_in_time_shifts_everything(toy: Toy) -> None:
    first = scenario(flow(toy())).run(1)
    later = scenario(flow(toy(), more='start = "1500 ms"')).run(1)
    assert completion(later) - completion(first) == pytest.approx(1.5, abs=1e-9)


def test_a_recorder_and_an_auditor_change_nothing_and_the_trace_shows_the_probes(toy: Toy) -> None:
    one = scenario(flow(toy()))
    traced = one.run(3, trace=True)
    assert traced.trace_hash == one.run(3).trace_hash == one.run(3, audit=True).trace_hash
    assert traced.trace is not None
    samples = traced.trace.flows
    assert samples["window_bytes"].max() == 10_000
    assert samples["in_flight_bytes"].max() == 10_000
    assert {"sending", "waiting"} <= set(samples["state"])


def test_a_trial_is_known_by_the_contents_of_the_library_wherever_it_is(toy: Toy, tmp_path: Path) -> None:
    elsewhere = tmp_path / "libelsewhere.so"
    shutil.copy(toy(), elsewhere)
    here, there = scenario(flow(toy())), scenario(flow(elsewhere))
    assert here.fingerprint == there.fingerprint
    assert here.run(1).trace_hash == there.run(1).trace_hash
    with elsewhere.open("ab") as file:
        file.write(b"\0")
    assert scenario(flow(elsewhere)).fingerprint != here.fingerprint


def test_a_library_that_changes_after_its_scenario_was_read_is_refused(toy: Toy, tmp_path: Path) -> None:
    library = tmp_path / "libchanging.so"
    shutil.copy(toy(), library)
    read = scenario(flow(library))
    with library.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(thalweg.StackError, match="has changed since the scenario was read"):
        read.run(1)


REFUSED = {
    'download = "1 MB"\nzero_rtt = true': "zero_rtt cannot be combined with the stack of a library",
    'call = "2 s"': "a call cannot be combined with the stack of a library",
    'download = "1 MB"\nstreams = 2': "2 streams of a connection are too many for the stack .*at most 1",
    'download = "1 MB"\nchunk = "100 kB"': "10 streams of a connection are too many",
    'download = "1 MB"\nreceiver = "greedy"': 'a receiver that is not "honest" requires stack = "model"',
    'download = "1 MB"\nsender = "ignores-loss"': 'a sender that is not "honest" requires stack = "model"',
    'download = "1 MB"\nseed = { window = "100 kB", rtt = "40 ms" }': "earlier connection cannot be combined",
    'download = "1 MB"\npauses = [["1 s", "2 s"]]': 'pauses requires app_rate, or stack = "model"',
}


@pytest.mark.parametrize("work", REFUSED)
def test_what_a_library_cannot_carry_is_refused(toy: Toy, work: str) -> None:
    with pytest.raises(thalweg.ScenarioError, match=REFUSED[work]):
        scenario(flow(toy(), work))


def test_a_controller_of_another_stack_is_refused_with_those_of_this_one(toy: Toy) -> None:
    with pytest.raises(
        thalweg.ScenarioError,
        match=r'"c4" is not a controller of the stack .*; accepted: fixed, double; '
        "or, with --set flow.main.stack=model, one of Thalweg",
    ):
        thalweg.Scenario.from_toml(PATH + flow(toy()), "t", controllers={"main": "c4"})


def test_a_library_cannot_be_combined_with_real_time(toy: Toy) -> None:
    with pytest.raises(thalweg.RequestError, match="a library cannot be combined with real time"):
        LiveScenario.from_toml(PATH + flow(toy()), "t")


def thalweg_command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("thalweg")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command_line_takes_a_library_beside_model_and_quic(toy: Toy, tmp_path: Path) -> None:
    shutil.copy(toy(), tmp_path / "libmine.so")
    (tmp_path / "small.toml").write_text(PATH + flow("model").replace("fixed", "cubic"))
    chosen = ["small.toml", "--stack", "./libmine.so", "-c", "main=double"]
    done = thalweg_command("run", *chosen, "-n", "2", "--format", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    done = thalweg_command("run", *chosen, "--plot", "one.svg", "--trace", "one.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "10000" in (tmp_path / "one.csv").read_text()
    done = thalweg_command("run", "small.toml", "--stack", "quick", folder=tmp_path)
    assert done.returncode == 2
    assert "accepted: model, quic, or a library with a stack, such as ./libmine.so" in done.stderr
    done = thalweg_command("run", *chosen, "--live", folder=tmp_path)
    assert done.returncode == 2
    assert "--stack ./libmine.so cannot be combined with --live" in done.stderr


@pytest.mark.soak
def test_a_store_plays_no_trial_of_a_library_twice(toy: Toy, tmp_path: Path) -> None:
    suite = tmp_path / "mine"
    suite.mkdir()
    (suite / "a.toml").write_text(PATH + flow("model").replace("fixed", "cubic"))
    (suite / "suite.toml").write_text('title = "Mine"\norder = ["a"]\n')
    shutil.copy(toy(), tmp_path / "libmine.so")
    words = ["suite", "mine", "--stack", "./libmine.so", "-c", "main=fixed", "-n", "3", "--out", "out"]
    first, second = (thalweg_command(*words, folder=tmp_path) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
