"""The program at the other end of a path: when it is ready, where its output goes, and how it may fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from real_time import PATH, needs_rights, networks
from thalweg.base.errors import RealTimeError, RequestError
from thalweg.cli import main
from thalweg.realtime import LiveRequest, Peer, Rig, run_shell
from waiting import until

Capture = pytest.CaptureFixture[str]
PYTHON = sys.executable
SERVE = [PYTHON, "-m", "http.server", "8000"]
FETCH = 'import os, urllib.request; urllib.request.urlopen("http://%s:8000/" % os.environ["THALWEG_PEER"]).read()'

pytestmark = pytest.mark.realtime


def shell(*command: str, peer: Peer) -> int:
    return run_shell(LiveRequest(PATH, "path.toml"), command, peer).status


@pytest.fixture
def path_file(tmp_path: Path) -> str:
    file = tmp_path / "path.toml"
    file.write_text(PATH, encoding="utf-8")
    return str(file)


@needs_rights
class TestReady:
    def test_a_command_that_waits_for_a_port_never_loses_the_race(self) -> None:
        # Without waiting, the server of this example was too late in 8 of 10 tries.
        for _ in range(5):
            assert shell(PYTHON, "-c", FETCH, peer=Peer(SERVE, "tcp:8000")) == 0

    def test_a_socket_of_udp_and_a_command_are_waited_for(self, tmp_path: Path) -> None:
        bind = "import socket, time; time.sleep(0.3); s = socket.socket(type=socket.SOCK_DGRAM);"
        bind += " s.bind(('', 4433)); time.sleep(60)"
        begin = time.monotonic()
        assert shell("true", peer=Peer([PYTHON, "-c", bind], "udp:4433")) == 0
        assert time.monotonic() - begin >= 0.3
        flag = tmp_path / "flag"
        make = ["sh", "-c", f"sleep 0.3; touch {flag}; sleep 60"]
        assert shell("test", "-e", str(flag), peer=Peer(make, f"test -e {flag}")) == 0

    def test_the_time_of_the_path_begins_with_the_command(self, tmp_path: Path) -> None:
        # From 4 s on a round trip takes a minute; the peer is ready later than that.
        dead = PATH.replace("[[flow]]", '[[path.change]]\nat = "4 s"\nrtt = "60 s"\n[[flow]]', 1)
        late = ["sh", "-c", f"sleep 4.2; exec {PYTHON} -m http.server 8000"]
        request = LiveRequest(dead.replace('at_most = "5 s"', 'at_most = "500 s"'), "path.toml")
        begin = time.monotonic()
        assert run_shell(request, [PYTHON, "-c", FETCH], Peer(late, "tcp:8000")).status == 0
        assert 4.2 <= time.monotonic() - begin < 60

    def test_any_number_of_questions_may_be_asked(self, path_file: str, tmp_path: Path) -> None:
        # Each once took a descriptor: with 64 of them, the peer could not be asked 60 times.
        ask = f"echo >> {tmp_path}/asked; test $(wc -l < {tmp_path}/asked) -ge 60"
        code = "import sys; from thalweg.cli import main; sys.exit(main())"
        options = ["--peer", "sleep 60", "--ready", f"sh -c '{ask}'", "--", "true"]
        limited = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", PYTHON, "-c", code, "shell", path_file, *options]
        done = subprocess.run(limited, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "asked").read_text() == "\n" * 60

    @pytest.mark.parametrize(
        ("command", "ready", "says"),
        [
            (["sleep", "60"], "tcp:8000", "the peer was not ready within 300 ms"),
            (["sleep", "60"], "sleep 60", "the peer was not ready within 300 ms"),
            (["sleep", "60"], "/no/such/program", "the command of --ready cannot be started: /no/such/program"),
            (["true"], "tcp:8000", "the peer ended with status 0 before it was ready"),
            (["sh", "-c", "exit 3"], "tcp:8000", "the peer ended with status 3 before it was ready"),
            (["sh", "-c", "kill -9 $$"], "tcp:8000", "the peer was ended by signal 9 before it was ready"),
        ],
    )
    def test_a_peer_that_does_not_become_ready_is_told(self, command: list[str], ready: str, says: str) -> None:
        before = networks()
        with pytest.raises(RealTimeError, match=says):
            shell("true", peer=Peer(command, ready, "300 ms"))
        until(lambda: networks() <= before, "nothing is left")


@needs_rights
class TestFailure:
    def test_a_peer_that_cannot_be_started_is_status_two(
        self, path_file: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        for command in ("/no/such/program", "/etc/passwd"):
            assert main(["shell", path_file, "--peer", command, "--", "true"]) == 2
            assert f"error: the peer cannot be started: {command}: " in capfd.readouterr().err

    def test_a_peer_that_dies_ends_the_command_with_status_two(
        self, path_file: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        begin = time.monotonic()
        assert main(["shell", path_file, "--peer", "sh -c 'sleep 0.2; exit 7'", "--", "sleep", "60"]) == 2
        assert time.monotonic() - begin < 20
        assert "error: the peer ended with status 7 before the command ended" in capfd.readouterr().err

    def test_a_peer_that_is_done_lets_the_command_end(self) -> None:
        assert shell("sh", "-c", "sleep 0.3; exit 5", peer=Peer(["true"])) == 5

    def test_ctrl_c_while_a_peer_is_awaited_ends_everything(self, path_file: str) -> None:
        before = networks()
        code = "import sys; from thalweg.cli import main; sys.exit(main())"
        arguments = ["shell", path_file, "--peer", "sleep 60", "--ready", "tcp:1", "--", "true"]
        process = subprocess.Popen(
            [PYTHON, "-c", code, *arguments], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        until(lambda: len(networks() - before) >= 2, "the hosts are there")
        time.sleep(1.0)  # until the peer is awaited
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 130
        # The first line may be of Python's own, from the peer.
        assert err.splitlines()[-1] == ("interrupted: the peer was not ready yet, and the command has not started")
        assert "error" not in err
        until(lambda: networks() <= before, "nothing is left")

    def test_ctrl_c_while_the_server_of_a_flow_is_awaited_ends_everything(self, tmp_path: Path) -> None:
        before = networks()
        file = tmp_path / "waiting.toml"
        flow = 'name = "main"\ncontroller = "command:sleep"\ndownload = "1 kB"\n[flow.command]\nclient = "true"\n'
        flow += f'server = "touch {tmp_path}/begun; sleep 60"\nready = "tcp:1"\nready_within = "60 s"\n'
        path = '[path]\nrate = "20 Mbps"\nrtt = "40 ms"\nbuffer = "1 bdp"\n'
        file.write_text(f'title = "Never ready"\ntime_limit = "5 s"\n{path}[[flow]]\n{flow}')
        code = "import sys; from thalweg.cli import main; sys.exit(main())"
        process = subprocess.Popen(
            [PYTHON, "-c", code, "run", str(file), "--live"],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        until((tmp_path / "begun").exists, "the server has begun")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 130
        assert "error" not in err
        until(lambda: networks() <= before, "nothing is left")


@needs_rights
class TestOutput:
    def test_what_a_peer_says_has_a_prefix_and_is_not_among_the_answers(
        self, path_file: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        talk = "sh -c 'echo to out; echo to err >&2; printf last; sleep 60'"
        assert main(["shell", path_file, "--peer", talk, "-q", "--", "sh", "-c", "sleep 0.3; echo answer"]) == 0
        said = capfd.readouterr()
        assert said.out == "answer\n"
        assert {"peer: to out", "peer: to err", "peer: last"} <= set(said.err.splitlines())

    def test_what_a_peer_says_may_go_to_a_file(
        self, path_file: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "peer.log"
        peer = ["--peer", "sh -c 'echo to out; echo to err >&2; sleep 60'", "--peer-output", str(file)]
        assert main(["shell", path_file, *peer, "-q", "--", "sleep", "0.3"]) == 0
        assert file.read_text(encoding="utf-8") == "to out\nto err\n"
        assert "peer" not in capfd.readouterr().err

    def test_a_peer_does_not_read_what_is_typed_to_the_command(self, tmp_path: Path) -> None:
        out = tmp_path / "read"
        assert shell("sleep", "0.3", peer=Peer(["sh", "-c", f"cat > {out}; sleep 60"])) == 0
        assert out.read_bytes() == b""


@needs_rights
class TestStatistics:
    def test_a_command_is_told_its_path_and_statistics_come_on_request(self) -> None:
        heard: list[dict[str, object]] = []
        timer = threading.Timer(0.6, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        request = LiveRequest(PATH, "path.toml")
        ended = run_shell(request, ["sleep", "1.5"], environment={"X": "1"}, on_statistics=heard.append)
        assert ended.status == 0
        (report,) = heard
        assert set(report) == set(ended.report)
        assert 0 < float(str(report["duration_s"])) < float(str(ended.report["duration_s"]))

    def test_a_request_for_statistics_ends_nothing_however_early_it_comes(self, path_file: str) -> None:
        code = "import sys; from thalweg.cli import main; sys.exit(main())"
        # The command has SIGUSR1 as every program has it: it ends by it.
        arguments = ["shell", path_file, "-q", "--", "sh", "-c", "sleep 1; kill -USR1 $$; sleep 5"]
        process = subprocess.Popen([PYTHON, "-c", code, *arguments], stderr=subprocess.PIPE, text=True)
        helper = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until(lambda: bool(helper.read_text().split()), "the process in real time is there")
        number = int(helper.read_text().split()[0])
        for _ in range(20):
            os.kill(number, signal.SIGUSR1)
            time.sleep(0.02)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 128 + signal.SIGUSR1, err

    def test_a_rig_tells_statistics_while_it_stands(self) -> None:
        heard: list[object] = []
        with Rig(LiveRequest(PATH, "path.toml"), 1, 1, heard.append) as rig:
            rig.ask()
            threading.Timer(0.5, rig.stop).start()
            rig.wait()
        assert len(heard) == 1

    @pytest.mark.parametrize("strict", [True, False])
    def test_timing_that_was_not_kept_is_a_status_of_its_own(
        self, strict: bool, path_file: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        # No host releases 999 of 1000 packets within a nanosecond.
        ping = "import socket, os; s = socket.create_connection((os.environ['THALWEG_PEER'], 8000))"
        arguments = ["--peer", " ".join(SERVE), "--ready", "tcp:8000", "--bound", "1 ns"]
        arguments += ["--strict-timing"] if strict else []
        assert main(["shell", path_file, *arguments, "--", PYTHON, "-c", ping]) == (4 if strict else 0)
        assert "unfaithful: " in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--peer", ""], "there is no command"),
        (["--peer", "'"], "no closing quotation"),
        (["--peer", "true", "--ready", ""], "there is no command"),
        (["--peer", "true", "--ready", "tcp:0"], "ports are 1 to 65535"),
        (["--peer", "true", "--ready", "udp:70000"], "ports are 1 to 65535"),
        (["--peer", "true", "--ready", "tcp:http"], "accepted: tcp:80, udp:443, or a command"),
        (["--peer", "true", "--ready", "true", "--ready-within", "soon"], "expected a time"),
        (["--peer", "true", "--ready-within", "1 s"], "--ready-within requires --ready"),
        (["--ready", "tcp:80"], "requires --peer CMD"),
        (["--peer-output", "x"], "requires --peer CMD"),
        (["--peer", "true", "--peer-output", "/nowhere/x"], "cannot write /nowhere/x"),
    ],
)
def test_a_peer_that_makes_no_sense_is_refused(
    options: list[str], says: str, path_file: str, capsys: Capture
) -> None:
    assert main(["shell", path_file, *options, "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert says in said
    with pytest.raises(RequestError):
        Peer([], "tcp:x").document(2)
