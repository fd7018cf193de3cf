"""`thalweg quic` and the study of the loopback, between processes of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.experiments.studies.loopback.checks import checks, findings
from thalweg.experiments.studies.loopback.contention import contention
from thalweg.experiments.studies.loopback.measure import transfer
from thalweg.experiments.studies.loopback.parameters import VARIANTS
from thalweg.realtime.quic import Identity, QuicServer, ServerOptions

pytestmark = pytest.mark.realtime
Capture = pytest.CaptureFixture[str]
COMMAND = [sys.executable, "-c", "import sys; from thalweg.cli import main; sys.exit(main())", "quic"]
LEFT = {"traceback", "panicked", "defect"}
"""Words that no message for users has."""


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates of tests stay with tests."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@contextlib.contextmanager
def served(*options: str, format_: str = "json") -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """A server in a separate process, its port, and the options with which a client finds it."""
    command = [*COMMAND, "serve", "--bind", "127.0.0.1", "--port", "0", "--format", format_, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            head = ""
            while not re.search("fingerprint [0-9a-f]{64}", head):
                line = process.stderr.readline()
                assert line, head
                head += line
            port, fingerprint = re.search(r"port (\d+)", head), re.search(r"fingerprint ([0-9a-f]{64})", head)
            assert port, head
            assert fingerprint, head
            yield process, port[1], ["127.0.0.1", "--port", port[1], "--fingerprint", fingerprint[1]]
        finally:
            process.kill()


def await_socket(process: subprocess.Popen[str]) -> None:
    """Waits until a process has had a socket for a moment."""
    files = Path(f"/proc/{process.pid}/fd")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError):  # a file that the process has just closed
            if any(str(file.readlink()).startswith("socket:") for file in files.iterdir()):
                break
        time.sleep(0.05)
    time.sleep(0.4)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Status, stdout and stderr of a process that must end soon."""
    out, err = process.communicate(timeout=10)
    return process.returncode, out, err


def refusal(capsys: Capture, *arguments: str) -> str:
    """The one message of a command that is refused."""
    assert main(["quic", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    messages = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(messages) == 1
    assert not any(word in err.lower() for word in LEFT)
    return messages[0]


def document(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """What a client prints as JSON."""
    assert main(["quic", "get", *arguments, "--format", "json"]) == 0
    loaded: dict[str, Any] = json.loads(capsys.readouterr().out)
    return loaded


def test_a_download_an_upload_and_a_call_are_served_and_both_sides_say_so(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    with served("--clients-choose", "--qlog", str(tmp_path / "logs")) as (process, _, at):
        down = document(capsys, *at, "--download", "3MB", "--server-controller", "bbr")
        up = document(capsys, *at, "--upload", "2 MB", "--qlog", str(tmp_path / "up.sqlog"))
        call = document(capsys, *at, "--call", "500ms")
        process.send_signal(signal.SIGTERM)
        status, out, _ = ended(process)
    assert (down["bytes"], down["server_sender"]["controller"]) == (3_000_000, "bbr")
    assert down["goodput_bps"] == pytest.approx(3e6 * 8 / down["elapsed_s"])
    assert (up["bytes"], up["client"]["controller"], up["client"]["packets_sent"] >= 2e6 / 1452) == (
        2_000_000,
        "c4",
        True,
    )
    assert call["bytes"] is None
    for side in ("client", "server"):
        heard = call[f"heard_by_{side}"]
        # Half a second of 50 and of 30 frames a second.
        assert (heard["audio"]["frames"], heard["video"]["frames"]) == (25, 15)
        assert heard["video"]["received"] == 15
    assert status == 0
    told = json.loads(out)
    assert [connection["workload"] for connection in told["connections"]] == ["download", "upload", "call"]
    assert [connection["error"] for connection in told["connections"]] == [None] * 3
    assert (told["totals"]["completed"], told["totals"]["failed"]) == (3, 0)
    for file in (tmp_path / "up.sqlog", *(tmp_path / "logs" / f"{n}.sqlog" for n in (1, 2, 3))):
        records = [json.loads(line) for line in file.read_text().split("\x1e") if line]
        assert any(record.get("name") == "quic:recovery_metrics_updated" for record in records), file
        side = "client" if file.name == "up.sqlog" else "server"
        assert records[0]["trace"]["vantage_point"] == {"type": side}
        sent = [record["data"] for record in records if record.get("name") == "quic:packet_sent"]
        numbers = [data["header"]["packet_number"] for data in sent]
        assert numbers == sorted(set(numbers)), "each packet once, in order"
        # 2 MB of the upload, 3 MB of the download, half a second of the call; what only acknowledges is not there.
        least = {"up.sqlog": 2_000_000, "1.sqlog": 3_000_000, "3.sqlog": 15 * 3750}.get(file.name, 0)
        assert sum(data["raw"]["length"] for data in sent) >= least
        received = [record["data"] for record in records if record.get("name") == "quic:packet_received"]
        ranges = [span for data in received for span in data["frames"][0]["acked_ranges"]]
        acknowledged = {number for first, last in ranges for number in range(first, last + 1)}
        # The trace ends with the connection: the last flight may not be acknowledged by then.
        assert acknowledged <= set(numbers)
        assert len(acknowledged) >= 0.5 * len(numbers)
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["1.sqlog", "2.sqlog", "3.sqlog"]


def test_once_ends_after_one_request_and_the_table_shows_the_transfer(capsys: Capture) -> None:
    with served("--once", format_="table") as (process, _, at):
        assert main(["quic", "get", *at, "--download", "1MB"]) == 0
        status, out, err = ended(process)
    assert status == 0
    assert "download  1 MB in" in out
    assert "completed 1" in err
    assert "1 MB in" in capsys.readouterr().out


def test_the_certificate_is_made_once_for_its_owner_alone_and_found_again(capsys: Capture, tmp_path: Path) -> None:
    assert main(["quic", "fingerprint"]) == 0
    first = capsys.readouterr().out
    file = tmp_path / "data" / "thalweg" / "quic-identity.pem"
    assert file.stat().st_mode & 0o777 == 0o600
    assert main(["quic", "fingerprint"]) == 0
    assert capsys.readouterr().out == first
    with served() as (_, port, _):
        # A client of the same user needs no fingerprint.
        assert document(capsys, "127.0.0.1", "--port", port, "--download", "1MB")["bytes"] == 1_000_000


def test_a_wrong_fingerprint_is_refused_with_the_one_that_was_seen(capsys: Capture) -> None:
    with served() as (_, port, at):
        message = refusal(
            capsys, "get", "127.0.0.1", "--port", port, "--fingerprint", "0" * 64, "--download", "1MB"
        )
        assert at[-1] in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["get", "127.0.0.1", "--download", "1MB"], "--fingerprint is missing"),
        (["get", "127.0.0.1", "--fingerprint", "12", "--download", "1MB"], "not a fingerprint"),
        (["get", "127.0.0.1"], "a transfer requires one of --download"),
        (["get", "127.0.0.1", "--download", "1MB", "--call", "1s"], "a transfer requires one of --download"),
        (["get", "127.0.0.1", "--download", "1 furlong"], "--download '1 furlong'"),
        (["get", "127.0.0.1", "--call", "2h"], "at most 1h"),
        (["get", "127.0.0.1", "--fingerprint", "0" * 64, "--upload", "1MB", "--controller", "vegas"], "vegas"),
        (["get", "no.such.host.invalid", "--fingerprint", "0" * 64, "--upload", "1MB"], "no.such.host.invalid"),
        (["get", "127.0.0.1", "--download", "1MB", "--qlog", "x.json"], ".sqlog"),
        (["serve", "--bind", "somewhere"], "--bind 'somewhere'"),
        (["serve", "--bind", "192.0.2.1"], "cannot listen at 192.0.2.1:4433"),
        (["serve", "--qlog", "/no/such/folder"], "/no/such/folder"),
        (["serve", "--identity", "/dev/null"], "not an identity"),
        (["serve", "--identity", "/proc/none/x.pem"], "cannot write the identity"),
    ],
)
def test_impossible_options_are_refused_with_one_message(
    capsys: Capture, arguments: list[str], words: str
) -> None:
    assert words in refusal(capsys, *arguments)


def test_a_port_in_use_a_closed_one_and_a_silent_one_are_distinguished(capsys: Capture) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = str(other.getsockname()[1])
        assert "Address already in use" in refusal(capsys, "serve", "--bind", "127.0.0.1", "--port", port)
        wanted = ["get", "127.0.0.1", "--port", port, "--fingerprint", "0" * 64, "--download", "1MB"]
        assert "no answer" in refusal(capsys, *wanted, "--timeout", "300ms")
    assert "nothing listens" in refusal(capsys, *wanted)


def test_a_server_that_is_killed_amid_a_download_is_a_failure_within_seconds(capsys: Capture) -> None:
    with served() as (process, _, at):
        killer = threading.Timer(0.5, process.kill)
        killer.start()
        begin = time.monotonic()
        assert main(["quic", "get", *at, "--download", "1000GB"]) == 1
        killer.join()
    assert time.monotonic() - begin < 6
    out, err = capsys.readouterr()
    assert out == ""
    assert "stopped answering after" in err


def test_a_server_stopped_during_a_download_informs_its_client(capsys: Capture) -> None:
    with served() as (process, _, at):
        threading.Timer(0.5, process.send_signal, [signal.SIGINT]).start()
        assert main(["quic", "get", *at, "--download", "1000GB"]) == 1
        begin = time.monotonic()
        status, out, _ = ended(process)
    assert time.monotonic() - begin < 1.5
    assert "the server was stopped" in capsys.readouterr().err
    assert status == 0
    assert json.loads(out)["connections"][0]["error"] == "the server was stopped"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_ctrl_c_ends_a_client_and_leaves_no_file(tmp_path: Path) -> None:
    with served() as (_, _, at):
        file = tmp_path / "never.sqlog"
        command = [*COMMAND, "get", *at, "--upload", "1000GB", "--qlog", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
            try:
                await_socket(client)
                client.send_signal(signal.SIGINT)
                status, out, err = ended(client)
            finally:
                client.kill()
    assert (status, out) == (130, "")
    assert err == "interrupted\n"
    assert not [path for path in tmp_path.iterdir() if "sqlog" in path.name]


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no /dev/full")
def test_a_full_disk_is_one_message(capsys: Capture, tmp_path: Path) -> None:
    full = tmp_path / "full.sqlog"
    full.symlink_to("/dev/full")
    with served() as (_, _, at):
        assert main(["quic", "get", *at, "--download", "1MB", "--qlog", str(full)]) == 2
        assert "No space left on device" in capsys.readouterr().err
        with open("/dev/full", "w") as disk:  # noqa: PTH123 - the device
            command = [*COMMAND, "get", *at, "--download", "1MB", "--format", "json"]
            done = subprocess.run(command, stdout=disk, stderr=subprocess.PIPE, text=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (2, "error: cannot write the output: No space left on device\n")


def test_a_server_in_a_thread_is_stopped_from_another() -> None:
    identity = Identity.make()
    server = QuicServer("127.0.0.1", 0, identity, ServerOptions("cubic"))
    assert server.fingerprint == identity.fingerprint
    thread = threading.Thread(target=server.serve, args=(lambda report, trace: None,))
    thread.start()
    run = transfer(identity, "reno", 100_000)
    assert run.packets_sent >= 100_000 / 1452
    assert run.goodput_bps == pytest.approx(8e5 / run.elapsed_s)
    server.stop()
    thread.join(timeout=5)
    assert not thread.is_alive()
    with pytest.raises(RequestError, match="vegas"):
        QuicServer("127.0.0.1", 0, identity, ServerOptions("vegas"))


def test_the_study_runs_all_variants_in_turn_and_stores_its_results(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "study"
    status = main(["study", "loopback", "--runs", "1", "--length", "10ms", "--format", "json", "-o", str(out)])
    told = json.loads(capsys.readouterr().out)
    assert status == 2  # one run cannot settle a check
    assert all(check["answer"] == "undecided" for check in told["checks"])
    assert {row["variant"] for row in told["rows"]} == set(VARIANTS)
    assert all(row["goodput_bps"] > 0 and row["lowest_bps"] <= row["highest_bps"] for row in told["rows"])
    assert len(told["checks"]) == 6
    assert sorted(path.name for path in out.iterdir()) == [
        "experiment.json",
        "report.html",
        "runs.parquet",
        "runs.png",
    ]


def test_the_study_moves_a_size_of_ones_own_while_others_compete_for_the_processor(capsys: Capture) -> None:
    options = ["--runs", "1", "--size", "300kB", "--length", "10s", "--load", "2"]
    # One run cannot settle a check.
    assert main(["study", "loopback", *options, "--format", "json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["preset"] == "300 kB a run, at most 10 s, 2 busy processes"
    assert {row["bytes_per_run"] for row in told["rows"]} == {300_000}
    assert main(["study", "loopback", "--size", "1kB"]) == 2
    assert "--size '1kB': expected 100kB to 100GB" in capsys.readouterr().err


def test_busy_processes_take_the_processor_and_end_with_their_block() -> None:
    with contention(1) as (busy,):
        before = _cpu_s(busy.pid)
        deadline = time.monotonic() + 20
        while _cpu_s(busy.pid) < before + 0.2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert _cpu_s(busy.pid) >= before + 0.2
    assert busy.returncode is not None


def _cpu_s(process: int) -> float:
    """Processor time of a process: fields 14 and 15 of /proc/PID/stat, in ticks."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_checks_of_the_loopback_follow_order_and_direction() -> None:
    goodputs = {
        "c4-before": [1.0, 1.2, 0.9] * 3,
        "c4-floor": [8.9, 9.1, 8.7] * 3,
        "c4-1/32": [9.7, 9.9, 9.5] * 3,
        "c4-3/64": [10.4, 10.6, 10.2] * 3,
        "c4-1/16": [10.0, 10.2, 9.8] * 3,
        "cubic": [10.0, 10.2, 9.8] * 3,
        "bbr": [7.0, 7.1, 6.9] * 3,
    }
    losses = {"c4-3/64": [1e-5] * 9, "c4-1/16": [2e-4] * 9}
    assert [check.holds for check in checks(goodputs, losses)] == [True] * 6
    assert [finding.holds for finding in findings(goodputs, losses)] == [True] * 4
    worse = {**goodputs, "c4-before": [6.0] * 9, "c4-3/64": [8.0] * 9, "bbr": [11.0] * 9, "cubic": [11.5] * 9}
    same = dict.fromkeys(losses, [1e-5] * 9)
    assert [check.answer for check in checks(worse, same)] == ["fails"] * 6
    # Five rounds are too few for an interval, however far apart they are.
    few = {name: runs[:5] for name, runs in goodputs.items()}
    assert {check.answer for check in checks(few, {name: runs[:5] for name, runs in losses.items()})} == {
        "undecided"
    }


MINE = """
import thalweg


class Mine(thalweg.Controller):
    def __init__(self, init, beta: float = 0.7):
        self.beta, self.window = beta, init.initial_window

    def on_ack(self, event, path):
        self.window += event.newly_acked * path.mtu / self.window

    def on_lost(self, event, path):
        self.window = max(self.window * self.beta, 2 * path.mtu)
"""


def test_both_ends_take_controllers_in_python_from_their_own_files_alone(tmp_path: Path, capfd: Capture) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(MINE)
    with served("--controller", f"{mine}:beta=0.8", "--clients-choose") as (_, _, where):
        for work in ("--download", "--upload"):
            assert main(["quic", "get", *where, work, "2 MB", "-c", str(mine)]) == 0
            said = capfd.readouterr().out
            assert f"{mine}: " in said
            assert f"{mine}:beta=0.8: " in said
        # A client does not make a server run files.
        assert main(["quic", "get", *where, "--download", "1 MB", "--server-controller", str(mine)]) == 2
        assert "unknown controller" in capfd.readouterr().err


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_controller_in_python_that_fails_is_named_with_its_line(
    side: str, tmp_path: Path, capfd: Capture
) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(MINE.replace("self.window += ", "self.window += [][0] + "))
    options = ["--controller", str(bad)] if side == "server" else ["--idle", "2s"]
    with served(*options) as (server, _, where):
        own = ["--upload", "2 MB", "-c", str(bad)] if side == "client" else ["--download", "2 MB", "--idle", "2s"]
        status = main(["quic", "get", *where, *own])
        said = capfd.readouterr().err
        if side == "server":
            assert status == 1
            assert server.stderr
            said = server.stderr.read()
            assert server.wait(10) == 2
        else:
            assert status == 2
    assert f"{bad}:10: IndexError: list index out of range (in on_ack of {bad}: flow {side}, at 0." in said
    assert not [word for word in LEFT if word in said.lower()]
