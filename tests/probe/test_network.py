"""Client and server of the probe over the loopback interface, with a network of our own between them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from probe.serving import KEY, plan, serving
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.probe.client import measure
from thalweg.probe.losses import count_losses
from thalweg.probe.series import read_series
from thalweg.probe.server import Server
from thalweg.probe.timestamps import ask_for_timestamps, receive
from thalweg.probe.wire import REPLY, REQUEST, Message, unpack

pytestmark = pytest.mark.realtime
Capture = pytest.CaptureFixture[str]


@contextmanager
def network(port: int, deliver: Callable[[Message, bytes, Callable[[bytes], object]], None]) -> Iterator[int]:
    """A hop between a client and the server at `port`: `deliver` decides what becomes of each packet."""
    outside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    outside.bind(("127.0.0.1", 0))
    inside.connect(("127.0.0.1", port))
    outside.settimeout(0.05)
    inside.settimeout(0.05)
    stop = threading.Event()
    client: list[tuple[str, int]] = []

    def up() -> None:
        while not stop.is_set():
            try:
                packet, sender = outside.recvfrom(2048)
            except TimeoutError:
                continue
            client[:] = [sender]
            message = unpack(packet)
            assert message
            deliver(message, packet, inside.send)

    def down() -> None:
        while not stop.is_set():
            try:
                packet = inside.recv(2048)
            except TimeoutError:
                continue
            message = unpack(packet)
            assert message
            deliver(message, packet, lambda out: outside.sendto(out, client[0]))

    threads = [threading.Thread(target=each) for each in (up, down)]
    for thread in threads:
        thread.start()
    try:
        yield outside.getsockname()[1]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        outside.close()
        inside.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_every_probe_over_the_loopback_returns_soon(address: str) -> None:
    if address == "::1" and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with serving(address) as server:
        run = measure(plan(server.port, address))
    series = run.series
    assert not run.interrupted
    assert 40 <= len(series.sent) <= 100  # a busy machine leaves some out
    assert series.answered.all()
    # A hundredth of the interval at best, and never before the request.
    assert 0 < series.rtt.min() < 0.002
    assert (series.received > series.sent).all()
    assert (series.returned >= series.arrived).all()
    assert series.interval_s == pytest.approx(0.005, abs=0.001)
    assert count_losses(series).lost_up == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_a_server_listens_on_both_families_by_default(host: str) -> None:
    if host == "::1" and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with serving(None) as server:
        assert measure(plan(server.port, host, duration_s=0.05)).series.answered.all()


def test_a_name_with_two_addresses_is_probed_where_the_server_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("127.0.0.1") as server:
        both = [
            (socket.AF_INET, socket.SOCK_DGRAM, 0, "", ("127.0.0.1", closed_port())),
            (socket.AF_INET, socket.SOCK_DGRAM, 0, "", ("127.0.0.1", server.port)),
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
        assert measure(plan(server.port, "a-name", duration_s=0.05)).series.answered.all()


def test_the_client_counts_losses_duplicates_and_reordering_of_the_network() -> None:
    held: list[bytes] = []

    def deliver(message: Message, packet: bytes, send: Callable[[bytes], object]) -> None:
        index = message.number % 10
        if message.kind == REQUEST and index == 3:
            return  # lost on the way up
        if message.kind == REPLY and index == 7:
            return  # lost on the way down
        if message.kind == REPLY and index == 5:
            held.append(packet)  # overtaken by the next
            return
        send(packet)
        if message.kind == REPLY and index == 1:
            send(packet)  # doubled
        while message.kind == REPLY and held:
            send(held.pop())

    with serving() as server, network(server.port, deliver) as port:
        series = measure(plan(port, duration_s=0.5)).series
    count = len(series.sent)
    assert count > 60

    def every(index: int) -> int:
        """How many numbers end in this digit."""
        return len(range(index, count, 10))

    losses = count_losses(series)
    answered = np.flatnonzero(series.answered)
    assert set(answered % 10) == {0, 1, 2, 4, 5, 6, 8, 9}
    assert losses.lost == every(3) + every(7)
    last = int(answered[-1])
    assert losses.lost_up == len(range(3, last + 1, 10))
    assert losses.lost_down == len(range(7, last + 1, 10))
    assert losses.copies == every(1)
    # The last held reply may have no packet to overtake it.
    assert losses.reordered_down in {every(5), every(5) - 1}
    assert losses.reordered_up == 0


def test_client_and_server_with_the_same_key_understand_each_other_and_others_do_not() -> None:
    with serving(key=KEY) as server:
        assert measure(plan(server.port, key=KEY, duration_s=0.1)).series.answered.all()
        with pytest.raises(RequestError, match=r"no answer from 127.0.0.1 port \d+ .* with no key"):
            measure(plan(server.port, patience_s=0.2))


def test_a_client_that_is_too_fast_is_answered_at_its_rate() -> None:
    with serving(rate=50) as server:
        series = measure(plan(server.port, interval_s=0.002, duration_s=1.0)).series
    # 500 requests; the bucket holds 50 and 50 flow in during the second.
    assert 90 <= int(series.answered.sum()) <= 110
    assert server.totals.limited == pytest.approx(len(series.sent) - 100, abs=10)


def test_one_client_too_many_is_not_answered_until_another_has_gone() -> None:
    server = Server("127.0.0.1", 0, clients=2)
    with server:
        assert server._client("a", 0) is not None
        assert server._client("b", 0) is not None
        assert server._client("c", 29_000_000_000) is None
        assert server._client("a", 29_000_000_000) is not None
        # Both have been silent for 31 s.
        assert server._client("c", 31_000_000_000) is not None


def test_the_kernel_timestamps_arrivals() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there,
    ):
        here.bind(("127.0.0.1", 0))
        noted = ask_for_timestamps(here)
        before = time.monotonic_ns()
        there.sendto(b"now", here.getsockname())
        sent = time.monotonic_ns()
        time.sleep(0.05)
        packet, received, _ = receive(here, 16)
    assert packet == b"now"
    if noted:
        # Although it was read 50 ms later.
        assert before <= received <= sent + 10_000_000
    else:
        assert received >= sent + 50_000_000


@pytest.mark.realtime
def test_a_silent_server_is_given_up_after_the_patience() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.0.0.1", 0))
        begin = time.monotonic()
        with pytest.raises(RequestError, match=r"no answer from 127.0.0.1 port \d+ within 0.3 s"):
            measure(plan(mute.getsockname()[1], patience_s=0.3, duration_s=60.0))
        assert 0.25 < time.monotonic() - begin < 2


def refusal(arguments: list[str], capture: Capture) -> str:
    """The one message of a refused command."""
    assert main(arguments) == 2
    said = capture.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    return said.err


def closed_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        endpoint.bind(("127.0.0.1", 0))
        return int(endpoint.getsockname()[1])


def test_faults_are_one_message_and_leave_nothing_behind(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.csv"
    run = ["probe", "run", "127.0.0.1", "-d", "1s", "-o", str(out)]
    said = refusal([*run, "-p", str(closed_port())], capsys)
    assert "nothing listens on this port; start `thalweg probe serve` there" in said
    said = refusal(["probe", "run", "nowhere.invalid", "-o", str(out)], capsys)
    assert said.startswith("error: cannot probe nowhere.invalid: ")
    assert "there is no folder" in refusal([*run[:-1], str(tmp_path / "no" / "out.csv")], capsys)
    assert "must end in .csv or .csv.gz" in refusal([*run[:-1], str(tmp_path / "out.txt")], capsys)
    assert "--interval '20': expected a time such as 20ms" in refusal([*run, "-i", "20"], capsys)
    assert "expected 1ms to 60s" in refusal([*run, "-i", "1us"], capsys)
    assert "--duration '0s'" in refusal([*run[:3], "-d", "0s", "-o", str(out)], capsys)
    assert "choose one of them" in refusal([*run, "-4", "-6"], capsys)
    assert "cannot read the key" in refusal([*run, "--key-file", str(tmp_path / "key")], capsys)
    (tmp_path / "key").write_bytes(b"short")
    assert "too short" in refusal([*run, "--key-file", str(tmp_path / "key")], capsys)
    assert [file.name for file in tmp_path.iterdir()] == ["key"]


def test_a_port_in_use_is_named(capsys: Capture) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        said = refusal(["probe", "serve", "--bind", "127.0.0.1", "-p", str(port)], capsys)
    why = "Address already in use; choose another with --port"
    assert said == f"error: cannot listen at 127.0.0.1 port {port}: {why}\n"
    assert "cannot listen at 192.0.2.1" in refusal(["probe", "serve", "--bind", "192.0.2.1"], capsys)


def test_a_measurement_is_stored_and_summarised(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.csv.gz"
    with serving() as server:
        status = main(
            ["probe", "run", "127.0.0.1", "-p", str(server.port), "-i", "5ms", "-d", "0.3s", "-o", str(out)]
        )
    assert status == 0
    assert "RTT min" in capsys.readouterr().out
    series = read_series(out)
    assert series.answered.all()
    assert 40 < len(series.sent) <= 60
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv.gz"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_measurement_is_kept(stop: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    program = "import sys; from thalweg.cli import main; sys.exit(main(sys.argv[1:]))"
    with serving() as server:
        arguments = ["probe", "run", "127.0.0.1", "-p", str(server.port), "-d", "60s", "-o", str(out)]
        path = os.pathsep.join(entry for entry in sys.path if entry)
        process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        try:
            deadline = time.monotonic() + 30
            while server.totals.answered < 25 and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(stop)
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert "interrupted: " in said
    assert "are stored" in said
    assert int(read_series(out).answered.sum()) >= 24
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
