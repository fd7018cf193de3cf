"""Real time: programs, hosts, the kernel's TCP and the QUIC stack behind the path of a scenario.

Needs root (or user namespaces and an accessible /dev/net/tun) and is skipped with the reason elsewhere. All
traffic stays in network namespaces that the code under test makes. Times are bounded from below by the path
and from above by what a busy machine may add; the emulator's own report says how busy it was.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from real_time import PATH, needs_rights, networks, shell
from terminal import typed
from thalweg.realtime import LiveRequest, Rig, faithfulness
from thalweg.realtime.process import LiveProcess
from waiting import WAIT_S, until

PYTHON = sys.executable
SLEEP = "import time; time.sleep(600)"

PING = """
import os, socket, struct, time
times = []
for family, kind, protocol, peer in (
    (socket.AF_INET, 8, socket.IPPROTO_ICMP, "THALWEG_PEER"),
    (socket.AF_INET6, 128, socket.IPPROTO_ICMPV6, "THALWEG_PEER6"),
):
    if peer in os.environ:
        with socket.socket(family, socket.SOCK_DGRAM, protocol) as ping:
            ping.settimeout(5)
            ping.connect((os.environ[peer], 0))
            for number in range(20):
                begin = time.monotonic()
                ping.send(struct.pack("!BBHHH", kind, 0, 0, 0, number) + bytes(56))
                ping.recv(1000)
                times.append(time.monotonic() - begin)
print(*times, file=open(os.environ["OUT"], "w"))
"""

pytestmark = pytest.mark.realtime


@needs_rights
class TestShell:
    @pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -9 $$", 137), ("no-such-thing", 127)])
    def test_the_exit_status_is_that_of_the_command(self, command: str, status: int) -> None:
        assert shell("sh", "-c", command).status == status

    def test_a_command_that_does_not_exist_has_the_status_of_shells(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert shell("/no/such/program").status == 127
        assert "/no/such/program" in capfd.readouterr().err

    def test_the_peer_answers_ping_over_the_path_in_both_protocols(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "times"
        monkeypatch.setenv("OUT", str(out))
        ended = shell(PYTHON, "-c", PING)
        assert ended.status == 0
        times = sorted(float(word) for word in out.read_text().split())
        # 84 bytes at 20 Mbps take 34 us in each direction, so 40.07 ms is the least; 104 bytes in IPv6.
        assert times[0] >= 0.04006
        assert times[len(times) // 2] < 0.060
        up, down = ended.report["links"][1], ended.report["links"][0]
        assert up["offered_packets"] == down["delivered_packets"] == len(times)
        assert up["offered_bytes"] == 20 * 84 + (len(times) - 20) * 104

    def test_there_is_no_other_way_out(self, tmp_path: Path) -> None:
        out = tmp_path / "devices"
        shell("sh", "-c", f"tail -n +3 /proc/net/dev | cut -d: -f1 > {out}")
        assert sorted(out.read_text().split()) == ["lo", "path"]

    def test_a_command_at_the_peer_serves_the_command(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_bytes(bytes(500_000))
        serve = [PYTHON, "-m", "http.server", "8000", "--directory", str(tmp_path)]
        fetch = (
            "import os, time, urllib.request\n"
            "for attempt in range(100):\n"
            "    try:\n"
            "        begin = time.monotonic()\n"
            "        answer = urllib.request.urlopen(f'http://{os.environ[\"THALWEG_PEER\"]}:8000/data')\n"
            "        break\n"
            "    except OSError: time.sleep(0.1)\n"
            "size = len(answer.read())\n"
            f"open({str(tmp_path / 'out')!r}, 'w').write(f'{{size}} {{time.monotonic() - begin}}')\n"
        )
        ended = shell(PYTHON, "-c", fetch, peer=serve)
        size, seconds = (tmp_path / "out").read_text().split()
        assert (int(size), ended.status) == (500_000, 0)
        # Two round trips of 40 ms for connection and request, and 4 Mbit at 20 Mbps: at least 0.28 s.
        assert 0.28 <= float(seconds) < 5
        assert ended.report["links"][0]["delivered_bytes"] > 500_000

    def test_changes_of_the_path_happen_at_their_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "times"
        monkeypatch.setenv("OUT", str(out))
        change = '[[path.change]]\nat = "300 ms"\nrtt = "120 ms"\n'
        shell(PYTHON, "-c", PING, toml=PATH.replace("[[flow]]", change + "[[flow]]"))
        times = [float(word) for word in out.read_text().split()]
        assert times[0] < 0.1
        assert min(times[-20:]) >= 0.120

    def test_ecn_is_read_and_marked_in_both_protocols(self, tmp_path: Path) -> None:
        # A step threshold of nothing marks every packet that waits: 40 packets at once at 2 Mbps.
        toml = PATH.replace("20 Mbps", "2 Mbps").replace(
            'buffer = "1 bdp"', 'buffer = "100 packets"\n' + ECN_QUEUE
        )
        ended = shell(PYTHON, "-c", BURST, toml=toml, peer=[PYTHON, "-c", COUNT, str(tmp_path / "marks")])
        assert ended.status == 0
        up = ended.report["links"][1]
        counted = json.loads((tmp_path / "marks").read_text())
        assert up["dropped_packets"] == 0
        assert up["marked_packets"] == sum(family["3"] for family in counted.values())
        for family in counted.values():
            # Each packet kept ECT(0) or was marked, and its checksum was right, or it had not arrived.
            assert family["3"] > 0
            assert family["2"] + family["3"] == 40

    def test_the_report_has_the_request_and_the_result(self) -> None:
        report = shell("true").report
        assert report["unfaithful"] == []
        assert report["bound_s"] == 0.001
        assert report["scheduler"] == "SCHED_OTHER"
        lines = faithfulness(report)
        assert any("dropped by the host" in line for line in lines)
        assert not any("cut" in line or "began" in line for line in lines)
        more = {**report, "late_starts": 2, "start_lateness_max_s": 0.25, "trace_cut": "it is long"}
        assert {
            "connections that started later than 1 ms: 2, at most 250 ms late",
            "the trace is cut: it is long",
        } <= set(faithfulness(more))

    def test_a_run_over_its_bound_is_marked_unfaithful(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("OUT", str(tmp_path / "times"))
        report = shell(PYTHON, "-c", PING, bound="10 ns").report
        assert "the bound is 10 ns" in report["unfaithful"][0]
        assert report["missed_deadlines"] == sum(link["delivered_packets"] for link in report["links"])
        assert report["lateness_max_s"] >= report["lateness_p99_s"] >= report["lateness_p50_s"] > 0
        assert any(line.startswith("unfaithful: ") for line in faithfulness(report))

    def test_real_time_scheduling_works_or_its_refusal_is_reported(self) -> None:
        report = shell("true", realtime=True).report
        assert (report["scheduler"] == "SCHED_FIFO") == (report["realtime_refused"] is None)

    def test_the_command_is_scheduled_as_always(self, tmp_path: Path) -> None:
        out = tmp_path / "policy"
        shell(
            PYTHON, "-c", f"import os; open({str(out)!r}, 'w').write(str(os.sched_getscheduler(0)))", realtime=True
        )
        assert out.read_text() == str(os.SCHED_OTHER)


ECN_QUEUE = 'queue = { model = "codel", target = "1 ms", interval = "2 ms", ecn = true }'
BURST = """
import os, socket, time
time.sleep(1)
for family, option, level, peer in (
    (socket.AF_INET, socket.IP_TOS, socket.IPPROTO_IP, "THALWEG_PEER"),
    (socket.AF_INET6, socket.IPV6_TCLASS, socket.IPPROTO_IPV6, "THALWEG_PEER6"),
):
    if peer in os.environ:
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(level, option, 2)
            for number in range(40):
                sender.sendto(bytes(1000), (os.environ[peer], 9000))
        time.sleep(0.5)
time.sleep(0.5)
"""
COUNT = """
import json, select, socket, sys
sockets, counts = {}, {}
for family, host, option, level in (
    (socket.AF_INET, "0.0.0.0", socket.IP_RECVTOS, socket.IPPROTO_IP),
    (socket.AF_INET6, "::", socket.IPV6_RECVTCLASS, socket.IPPROTO_IPV6),
):
    receiver = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    receiver.setsockopt(level, option, 1)
    receiver.bind((host, 9000))
    sockets[receiver.fileno()] = receiver
while True:
    for number in select.select(list(sockets), [], [])[0]:
        receiver = sockets[number]
        _, ancillary, _, _ = receiver.recvmsg(2000, 100)
        count = counts.setdefault(receiver.family.name, {"0": 0, "1": 0, "2": 0, "3": 0})
        count[str(ancillary[0][2][0] & 3)] += 1
        with open(sys.argv[1], "w") as file:
            json.dump(counts, file)
"""


def processes_with(marker: str) -> list[int]:
    """Processes whose command line has a marker, or that are in a namespace that has none outside."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in words:
                found.append(int(folder.name))
    return found


@needs_rights
class TestNothingIsLeft:
    def start(self, marker: str, tmp_path: Path) -> tuple[subprocess.Popen[bytes], set[str], Path]:
        """A shell whose command has children in the background, one of them in a separate session."""
        file = tmp_path / "path.toml"
        file.write_text(PATH)
        ready = tmp_path / "ready"
        command = (
            f"setsid {PYTHON} -c '{SLEEP}' {marker} & "
            f"{PYTHON} -c '{SLEEP}' {marker} & "
            f"echo $$ > {ready}; exec {PYTHON} -c '{SLEEP}' {marker}"
        )
        before = networks()
        run = "import sys; from thalweg.cli import main; sys.exit(main(sys.argv[1:]))"
        process = subprocess.Popen([PYTHON, "-c", run, "shell", str(file), "--", "sh", "-c", command])
        until(ready.exists, "the command runs")
        until(lambda: len(processes_with(marker)) >= 3, "its children run")
        assert len(networks() - before) >= 2
        return process, before, ready

    @pytest.mark.parametrize("victim", ["thalweg", "helper", "command"])
    def test_after_kill_9(self, victim: str, tmp_path: Path) -> None:
        marker = f"thalweg-test-{victim}-{os.getpid()}"
        process, before, _ = self.start(marker, tmp_path)
        if victim == "thalweg":
            process.kill()
        elif victim == "helper":
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(int(children[0]), signal.SIGKILL)
        else:
            # The shell has the marker in its arguments too; after it the command is the oldest.
            os.kill(min(pid for pid in processes_with(marker) if pid != process.pid), signal.SIGKILL)
        status = process.wait(WAIT_S)
        until(lambda: not processes_with(marker), "all processes are gone")
        until(lambda: not networks() - before, "all namespaces are gone")
        assert status == {"thalweg": -signal.SIGKILL, "helper": 70, "command": 128 + signal.SIGKILL}[victim]

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_after_a_signal_to_all_as_ctrl_c_sends_it(self, number: signal.Signals, tmp_path: Path) -> None:
        marker = f"thalweg-test-{number.name}-{os.getpid()}"
        process, before, ready = self.start(marker, tmp_path)
        # What a terminal does: everyone in the foreground has it. Here those are named one by one.
        everyone = [pid for pid in processes_with(marker) if pid != process.pid]
        for pid in [*everyone, process.pid] if number == signal.SIGINT else [process.pid]:
            # When the command ends, so do the others.
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        process.wait(WAIT_S)
        until(lambda: not processes_with(marker), "all processes are gone")
        until(lambda: not networks() - before, "all namespaces are gone")
        assert ready.exists()

    def test_background_processes_of_a_command_end_with_it(self) -> None:
        marker = f"thalweg-test-background-{os.getpid()}"
        before = networks()
        ended = shell("sh", "-c", f"setsid {PYTHON} -c '{SLEEP}' {marker} & sleep 0.3; exit 3")
        assert ended.status == 3
        until(lambda: not processes_with(marker), "the background is gone")
        until(lambda: not networks() - before, "all namespaces are gone")


@needs_rights
class TestTerminal:
    """Ctrl-C as a terminal sends it: to everyone in the foreground at once."""

    def interrupt(self, arguments: list[str], ready: Callable[[], bool]) -> int:
        run = "import sys; from thalweg.cli import main; sys.exit(main(sys.argv[1:]))"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(PYTHON, [PYTHON, "-c", run, *arguments])
        try:
            until(ready, "the command runs")
            os.write(terminal, b"\x03")
            status: list[int] = []

            def over() -> bool:
                done, code = os.waitpid(pid, os.WNOHANG)
                if done:
                    status.append(os.waitstatus_to_exitcode(code))
                return bool(done)

            until(over, "it ends")
        finally:
            os.close(terminal)
        return status[0]

    def test_ctrl_c_ends_the_command_and_then_the_shell(self, tmp_path: Path) -> None:
        (tmp_path / "path.toml").write_text(PATH)
        marker = f"thalweg-test-terminal-{os.getpid()}"
        before = networks()
        status = self.interrupt(
            ["shell", str(tmp_path / "path.toml"), "--", PYTHON, "-c", f"{SLEEP} # {marker}"],
            lambda: len(processes_with(marker)) >= 2,
        )
        assert status in (128 + signal.SIGINT, 1), "by the signal, or by Python's KeyboardInterrupt"
        until(lambda: not processes_with(marker), "all processes are gone")
        until(lambda: not networks() - before, "all namespaces are gone")

    def test_ctrl_c_ends_a_trial(self, tmp_path: Path) -> None:
        file = tmp_path / "path.toml"
        file.write_text(PATH.replace('"1 MB"', '"100 MB"'))
        before = networks()
        status = self.interrupt(
            ["run", str(file), "--live", "-c", "main=kernel:cubic"], lambda: len(networks() - before) >= 2
        )
        assert status == 130
        until(lambda: not networks() - before, "all namespaces are gone")


@needs_rights
class TestRig:
    def test_hosts_reach_each_other_over_the_path_and_their_neighbours_beside_it(self, tmp_path: Path) -> None:
        ping = PING.replace('open(os.environ["OUT"], "w")', "sys.stdout").replace("import os", "import sys, os")
        before = networks()
        with Rig(LiveRequest(PATH, "path.toml"), left=2, right=3) as rig:
            assert [host.name for host in rig.hosts] == ["left1", "left2", "right1", "right2", "right3"]
            by_name = {host.name: host for host in rig.hosts}

            def least(a: str, b: str) -> float:
                environment = {**os.environ, "THALWEG_PEER": by_name[b].address}
                command = [*by_name[a].enter, PYTHON, "-c", ping]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                return min(map(float, done.stdout.split()))

            assert least("left2", "right3") >= 0.040
            assert least("right1", "left1") >= 0.040
            assert least("left1", "left2") < 0.020
            marker = f"thalweg-test-rig-{os.getpid()}"
            left = subprocess.Popen([*by_name["left1"].enter, PYTHON, "-c", SLEEP, marker])
            until(lambda: bool(processes_with(marker)), "the command runs")
        assert left.wait(WAIT_S) != 0
        until(lambda: not processes_with(marker), "what ran there is gone")
        until(lambda: not networks() - before, "all namespaces are gone")
        assert rig.report is not None
        assert rig.report["links"][1]["offered_packets"] == 40

    def test_the_command_line_prints_the_hosts_and_ends_with_ctrl_c(self, tmp_path: Path) -> None:
        file = tmp_path / "path.toml"
        file.write_text(PATH)
        run = "import sys; from thalweg.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [PYTHON, "-c", run, "rig", str(file), "--left", "1", "--right", "2", "--format", "json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "}\n")
        text = "".join(lines) + "}"
        hosts = json.loads(text)["hosts"]
        assert [host["name"] for host in hosts] == ["left1", "right1", "right2"]
        assert hosts[0]["enter"][0] == "nsenter"
        # To the command alone; a terminal would tell the emulator as well.
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 0

    @pytest.mark.parametrize("name", ["bash", "sh"])
    def test_a_shell_in_a_host_names_the_host_and_the_path(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SHELL", f"/bin/{name}")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)  # a long prompt would be broken at the edge of the terminal
        Path("path.toml").write_text(PATH)
        run = "import sys; from thalweg.cli import main; sys.exit(main(sys.argv[1:]))"
        options = ["--set", "path.rtt=60 ms", "--left", "2", "--format", "json"]
        process = subprocess.Popen(
            [PYTHON, "-c", run, "rig", "path.toml", *options], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        hosts = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["hosts"]
        for host in hosts:
            said, status = typed([*host["shell"], "-i"], b'echo "at $THALWEG_PATH"; exit 3\n')
            # A setting of the path is part of its name; the quotes that a shell would read are not.
            where = f"{host['name']} path.toml path.rtt=60 ms"
            assert f"({where}) " in said
            assert f"at {where}" in said
            assert status == 3
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 0


def test_ctrl_c_while_the_process_starts_is_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends by the signal before it has read what it is asked, which breaks the pipe to it."""
    helper = tmp_path / "helper.py"
    helper.write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)", encoding="utf-8")
    monkeypatch.setattr("thalweg.realtime.process._HELPER", helper)
    request = LiveRequest("x" * 1_000_000, "path.toml")  # more than a pipe holds
    process = LiveProcess(request, {"kind": "shell"})
    with pytest.raises(KeyboardInterrupt):
        process.answer()
    process.close()
