"""Defences of the probe's server: spoofed addresses, recorded requests, peers of another version."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from probe.serving import KEY, plan, serving
from probe_attack import assail
from thalweg.base.errors import RequestError
from thalweg.probe.client import measure
from thalweg.probe.server import Server, _who
from thalweg.probe.tokens import LIFETIME_S, Tokens
from thalweg.probe.wire import CHALLENGE, REPLY, REQUEST, SIZE, UNSUPPORTED, Message, unpack, version_of

pytestmark = pytest.mark.realtime


def exchange(client: socket.socket, request: Message, key: bytes = b"") -> Message:
    """The answer to a request."""
    client.send(request.pack(key))
    packet = client.recv(2048)
    assert len(packet) == SIZE
    answer = unpack(packet, key)
    assert answer
    return answer


@contextmanager
def talking_to(server: Server, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """A socket at an address of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.5)
        client.bind((source, 0))
        client.connect(("127.0.0.1", server.port))
        yield client


def test_every_answer_is_as_large_as_its_request_and_needs_the_key() -> None:
    with serving(key=KEY) as server, talking_to(server) as client:
        request = Message(REQUEST, 7, 0, 123)
        wrong = (request.pack(), request.pack(b"another key, of some length"), b"", b"x" * SIZE, b"x" * 2000)
        for packet in wrong:
            client.send(packet)
        challenge = exchange(client, request, KEY)
        assert (challenge.kind, challenge.session, challenge.number, challenge.sent_ns) == (CHALLENGE, 7, 0, 123)
        found = exchange(client, replace(request, token=challenge.token), KEY)
        assert (found.kind, found.session, found.number, found.sent_ns, found.counted) == (REPLY, 7, 0, 123, 1)
        with pytest.raises(TimeoutError):
            client.recv(2048)
        totals = server.totals
        assert (totals.answered, totals.challenged, totals.refused) == (1, 1, 5)


@pytest.mark.parametrize("key", [b"", KEY])
def test_false_addresses_take_no_room_from_clients(key: bytes) -> None:
    with serving(key=key, clients=2) as server:
        for i in range(64):
            with talking_to(server, f"127.0.1.{i + 1}") as false:
                # Whoever writes a false address does not see what is sent there.
                false.send(Message(REQUEST, i, 0, 1).pack(key))
        assert measure(plan(server.port, key=key, duration_s=0.1)).series.answered.all()
        assert len(server._clients) == 1
        assert server.totals.limited == 0


def test_a_recorded_request_opens_nothing_elsewhere_nor_later_and_is_challenged() -> None:
    with serving(key=KEY) as server, talking_to(server) as client:
        challenge = exchange(client, Message(REQUEST, 7, 0, 123), KEY)
        request = Message(REQUEST, 7, 0, 123, token=challenge.token)
        assert exchange(client, request, KEY).kind == REPLY
        with talking_to(server, "127.0.0.2") as elsewhere:
            assert exchange(elsewhere, request, KEY).kind == CHALLENGE
        assert list(server._clients) == ["127.0.0.1"]
        # The server has forgotten the client, and the token has become too old.
        server._clients.clear()
        now_s = time.monotonic_ns() // 1_000_000_000
        sender = client.getsockname()
        recorded = replace(request, token=server._tokens.make(sender, 7, now_s - LIFETIME_S - 1))
        assert exchange(client, recorded, KEY).kind == CHALLENGE
        assert not server._clients
        young = replace(request, token=server._tokens.make(sender, 7, now_s - LIFETIME_S + 10))
        assert exchange(client, young, KEY).kind == REPLY
        # While the session goes on, its token need not be renewed.
        assert exchange(client, recorded, KEY).kind == REPLY
        # Another session of the same client needs another one.
        assert exchange(client, replace(recorded, session=8), KEY).kind == CHALLENGE


def test_a_tag_covers_the_token() -> None:
    with serving(key=KEY) as server, talking_to(server) as client:
        challenge = exchange(client, Message(REQUEST, 7, 0, 123), KEY)
        packet = bytearray(Message(REQUEST, 7, 0, 123, token=challenge.token).pack(KEY))
        packet[32:48] = bytes(16)
        client.send(packet)
        with pytest.raises(TimeoutError):
            client.recv(2048)
        assert server.totals.refused == 1


def test_a_client_that_the_server_has_lost_shows_a_new_token_and_loses_no_probe() -> None:
    with serving() as server:

        def forget() -> None:
            time.sleep(0.2)
            server._clients.clear()
            server._tokens = Tokens()

        thread = threading.Thread(target=forget)
        thread.start()
        series = measure(plan(server.port, duration_s=0.5)).series
        thread.join()
    assert series.answered.all()
    # One token to begin with and one more.
    assert server.totals.challenged in {2, 3}
    assert (series.received > series.sent).all()


def test_a_host_has_all_addresses_of_its_ipv6_prefix_and_counts_once() -> None:
    assert _who("2001:db8:0:1::1") == _who("2001:db8:0:1:ffff:ffff:ffff:ffff") == "2001:db8:0:1::/64"
    assert _who("2001:db8:0:2::1") != _who("2001:db8:0:1::1")
    assert _who("::ffff:192.0.2.1") == _who("192.0.2.1") != _who("::ffff:192.0.2.2")


def test_a_server_of_version_1_is_named() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as old:
        old.bind(("127.0.0.1", 0))
        old.settimeout(3)

        def serve() -> None:
            while True:
                packet, sender = old.recvfrom(2048)
                request = unpack(packet, KEY, version=1)
                if request:
                    old.sendto(request.reply(5, 6, 1).pack(KEY, version=1), sender)
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(RequestError, match=r"version 1 of the probe protocol; this one has version 2"):
            measure(plan(old.getsockname()[1], key=KEY, patience_s=3.0))
        thread.join()


def test_a_client_of_another_version_gets_the_version_of_the_server() -> None:
    with serving() as server, talking_to(server) as client:
        request = Message(REQUEST, 7, 0, 123)
        for version in (1, 3):
            client.send(request.pack(version=version))
            packet = client.recv(2048)
            answer = unpack(packet)
            assert answer
            assert answer.kind == UNSUPPORTED
            assert (version_of(packet), len(packet)) == (2, SIZE)
        # Such an answer is never answered.
        client.send(replace(request, kind=UNSUPPORTED).pack(version=3))
        with pytest.raises(TimeoutError):
            client.recv(2048)
        assert (server.totals.other_version, server.totals.refused) == (2, 1)
        assert not server._clients


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_an_attack_neither_stops_the_server_nor_takes_more_than_its_limits(seed: int) -> None:
    totals = assail(seed, 3000)
    # Of each kind of attack, some got through.
    assert totals.challenged > 100
    assert totals.refused > 100
    assert totals.other_version > 10
    assert totals.answered > 20
    assert totals.limited > 5
