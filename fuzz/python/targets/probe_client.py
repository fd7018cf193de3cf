"""The client of the probe under packets of a hostile server, or of anyone who can send to its port."""

from __future__ import annotations

import socket
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import command
from failure import Broken
from guard import Guard
from mutations import Step
from thalweg.base.errors import RequestError
from thalweg.probe import client
from thalweg.probe.client import Plan
from thalweg.probe.series import read_series, write_series
from thalweg.probe.wire import CHALLENGE, REPLY, SIZE, TOKEN_SIZE, UNSUPPORTED, Message

_REQUESTS = 12
_NUMBERS = (0, 1, 5, _REQUESTS, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)


class _Wire:
    """In the place of a socket: gives what is put in, and keeps what is sent."""

    def __init__(self) -> None:
        self.packet = b""
        self.sent = 0

    def recvmsg(self, size: int, _space: int) -> tuple[bytes, list[Any], int, Any]:
        return self.packet[:size], [], 0, ("192.0.2.1", 1)

    def send(self, _packet: bytes) -> None:
        self.sent += 1


class ProbeClient:
    """The target."""

    def __init__(self, sandbox: Path, guard: Guard) -> None:
        self._guard = guard
        self._file = sandbox / "inside" / "probe.csv"
        self._file.parent.mkdir()
        replies = client._Replies()
        replies.sent = [1]
        replies.note(Message(REPLY, replies.session, 0, 1, 5, 5, 1), 9)
        self._end(replies, True)  # loads what it takes

    def make(self, chance: Random) -> list[Step]:
        """Answers while a token is asked for, answers to requests, and what is then made of them."""
        steps: list[Step] = [_answer(chance) for _ in range(chance.choice([1, 5, 40]))]
        return [*steps, ["analyze"]] if chance.random() < 0.05 else steps

    def play(self, case: list[Step]) -> str:
        """Receives everything."""
        plan, wire, replies = Plan("localhost", 1), _Wire(), client._Replies()
        endpoint: socket.socket = wire  # type: ignore[assignment] # all of it that the client uses
        replies.sent = [1_000_000_000 + number * 20_000_000 for number in range(_REQUESTS)]
        asked = set(replies.sent)
        with self._guard.watch():
            try:
                for step in case:
                    if step == ["analyze"]:
                        continue
                    wire.packet = _packet(step, replies)
                    if step[0] == "token":
                        client._take_token(plan, endpoint, replies, asked)
                    else:
                        client._take(plan, endpoint, replies)
                self._end(replies, ["analyze"] in case)
            except RequestError:
                return "refused"
        if wire.sent > len(case):
            raise Broken("probe client: it sends more than it gets", f"{wire.sent} for {len(case)}")
        return "played"

    def _end(self, replies: client._Replies, analyze: bool) -> None:
        series = replies.series("probe")
        write_series(series, self._file)
        if not series.answered.any():
            return
        try:
            again = read_series(self._file)
        except RequestError as error:
            raise Broken("probe client: what it stores cannot be read", str(error)) from None
        if not np.array_equal(again.replies, series.replies):
            raise Broken("probe client: what it stores is read as something else")
        if analyze:
            command.run(["probe", "analyze", str(self._file), "--format", "json"], self._guard)


def _answer(chance: Random) -> Step:
    if chance.random() < 0.1:
        data = chance.randbytes(chance.choice([0, 3, SIZE - 1, SIZE, SIZE + 1, 1500]))
        return [chance.choice(["token", "answer"]), data.hex()]
    kind = chance.choice([REPLY, REPLY, REPLY, CHALLENGE, UNSUPPORTED, chance.randrange(256)])
    number = chance.choice([*range(_REQUESTS), *_NUMBERS])
    times = [chance.choice([*_NUMBERS, chance.getrandbits(64), 10**9]) for _ in range(3)]
    version = chance.choice([2, 2, 2, 2, 1, 3])
    step = chance.choice(["token", "answer", "answer", "answer"])
    token = chance.randbytes(TOKEN_SIZE).hex()
    return [step, kind, chance.random() < 0.9, number, chance.random() < 0.9, *times, token, version]


def _packet(step: Step, replies: client._Replies) -> bytes:
    if len(step) == 2:
        return bytes.fromhex(step[1])
    _, kind, own, number, as_sent, arrived, returned, counted, token, version = step
    session = replies.session if own else replies.session ^ 1
    sent = replies.sent[number] if as_sent and number < len(replies.sent) else number
    message = Message(kind, session, number, sent, arrived, returned, counted, bytes.fromhex(token))
    return message.pack(b"", version)


TARGET = ProbeClient
