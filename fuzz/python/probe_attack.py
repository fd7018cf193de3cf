"""An attack on a server of the probe over the loopback interface, drawn from a seed: for tests and fuzzing.

Attackers at several addresses send noise, changed packets, requests of all kinds and versions, and their own and
others' tokens. The server must keep running, answer none with more bytes than it sent, stay within its limits,
and serve the next client.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from dataclasses import replace

from thalweg.probe.client import Plan, measure
from thalweg.probe.server import Server, Totals
from thalweg.probe.wire import CHALLENGE, NO_TOKEN, REQUEST, SIZE, TOKEN_SIZE, Message, unpack

_STRANGERS = 12
_CLIENTS = 8
"""Fewer than the attackers, so that those with their own token reach the limit."""
_SESSIONS = 64
_KEY = b"a key that strangers do not have"


class BreachError(Exception):
    """What the server got wrong, in words."""


class _Stranger:
    """One address, and the bytes sent and received."""

    def __init__(self, host: int, port: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((f"127.0.0.{host}", 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.sent = self.answered = 0
        self.tokens: list[tuple[int, bytes]] = []
        """With their sessions."""

    def send(self, packet: bytes) -> None:
        try:
            self.socket.send(packet)
        except OSError:
            return  # no room
        self.sent += len(packet)

    def listen(self, key: bytes) -> None:
        """Receives all answers, and keeps their tokens."""
        while True:
            try:
                packet = self.socket.recv(2048)
            except OSError:
                break
            self.answered += len(packet)
            answer = unpack(packet, key)
            if answer and answer.kind == CHALLENGE:
                self.tokens = [*self.tokens[-7:], (answer.session, answer.token)]
        if self.answered > self.sent:
            raise BreachError(f"{self.answered} B answer {self.sent} B")


def assail(seed: int, cases: int = 2000) -> Totals:
    """Attacks a new server with `cases` datagrams; the same seed draws the same. Raises BreachError.

    >>> totals = assail(seed=1, cases=200)
    >>> totals.challenged > 0, totals.refused > 0
    (True, True)
    """
    rng = random.Random(seed)
    key = _KEY if seed % 2 else b""
    stop = threading.Event()
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            server.serve(lambda: not stop.is_set())
        except BaseException as error:
            failed.append(error)

    with Server("127.0.0.1", 0, key, rate=1e4, clients=_CLIENTS) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        strangers = [_Stranger(host + 2, server.port) for host in range(_STRANGERS)]
        try:
            _attack(rng, cases, strangers, server, key)
            _drain(server)
            server._clients.clear()  # as if they had been silent for as long as they are kept
            served = measure(Plan("127.0.0.1", server.port, 0.005, 0.05, 2.0, key)).series
            if not served.answered.all():
                raise BreachError("an honest client is not served afterwards")
        finally:
            stop.set()
            thread.join()
            for stranger in strangers:
                stranger.socket.close()
        if failed:
            raise BreachError(f"the server ended: {failed[0]!r}")
        return server.totals


def _attack(rng: random.Random, cases: int, strangers: list[_Stranger], server: Server, key: bytes) -> None:
    for case in range(cases):
        stranger = rng.choice(strangers)
        whose = rng.choice((stranger, rng.choice(strangers)))
        stranger.send(_datagram(rng, whose.tokens, rng.choice((key, key, b"another key of some length"))))
        if case % 16 == 15:
            for stranger in strangers:
                stranger.listen(key)
            _check_limits(server)


def _drain(server: Server) -> None:
    """Waits until the server has read all that waits for it: strangers among it would be clients again."""
    for _ in range(100):
        before = replace(server.totals)
        time.sleep(0.05)
        if server.totals == before:
            return


def _check_limits(server: Server) -> None:
    clients = list(server._clients.values())
    if len(clients) > _CLIENTS:
        raise BreachError(f"{len(clients)} clients are kept; allowed: {_CLIENTS}")
    most = max((len(client.counts) for client in clients), default=0)
    if most > _SESSIONS + 1:  # one may be about to be forgotten
        raise BreachError(f"{most} sessions of a client are kept; allowed: {_SESSIONS}")


def _datagram(rng: random.Random, tokens: list[tuple[int, bytes]], key: bytes) -> bytes:
    session = rng.getrandbits(64)
    session, token = rng.choice([(session, NO_TOKEN), (session, rng.randbytes(TOKEN_SIZE)), *tokens])
    number, sent = (rng.choice((0, 1, rng.getrandbits(64), 2**64 - 1)) for _ in range(2))
    kind = REQUEST if rng.random() < 0.8 else rng.randrange(256)
    packet = Message(kind, session, number, sent, token=token).pack(key, rng.choice((2, 2, 2, 1, 3, 9, 0)))
    match rng.randrange(6):
        case 0:
            return rng.randbytes(rng.choice((0, 1, SIZE - 1, SIZE, SIZE + 1, 1500)))
        case 1:
            changed = bytearray(packet)
            for _ in range(rng.randrange(1, 5)):
                changed[rng.randrange(SIZE)] = rng.randrange(256)
            return bytes(changed)
        case 2:
            return packet[: rng.randrange(SIZE)] if rng.random() < 0.5 else packet + rng.randbytes(9)
        case _:
            return packet
