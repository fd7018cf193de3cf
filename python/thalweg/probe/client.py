"""The client of the probe: sends requests at constant intervals and records the replies.

First it requests a token, which proves that it receives at its address (`wire`). Then one loop, as in
octoping: a request is sent when it is due, and if the program is late for several, the interval restarts
now, without a burst; otherwise it waits for a reply. After the last request it listens for `patience` more.
A server that has dropped the client meanwhile requires a new token: that request is sent again immediately.

Times come from the monotonic clock. A request is stamped just before it is handed to the kernel, a reply by
the kernel (`timestamps`): what both leave out is tens of microseconds of the client's own network stack.
"""

from __future__ import annotations

import errno
import secrets
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.probe.series import Series
from thalweg.probe.timestamps import ask_for_timestamps, receive
from thalweg.probe.wire import (
    CHALLENGE,
    LARGEST,
    NO_TOKEN,
    REPLY,
    REQUEST,
    SIZE,
    VERSION,
    Message,
    unpack,
    version_of,
)

_Address: TypeAlias = tuple[socket.AddressFamily, Any]

_FIRST_WAIT_NS = 250_000_000
"""How long the first request for a token waits for an answer; each further one twice as long."""
_REFUSED = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EACCES, errno.EPERM)
_MEANING = {
    errno.ECONNREFUSED: "nothing listens on this port; start `thalweg probe serve` there",
    errno.EHOSTUNREACH: "the host is unreachable",
    errno.ENETUNREACH: "the network is unreachable",
}


@dataclass(frozen=True)
class Plan:
    """What to measure."""

    host: str
    port: int
    interval_s: float = 0.02
    duration_s: float = 75.0
    patience_s: float = 3.0
    """How long to wait for the first reply, and for the last."""
    key: bytes = b""
    family: socket.AddressFamily = socket.AF_UNSPEC


@dataclass
class Run:
    """What was measured."""

    series: Series
    interrupted: bool


class _Replies:
    """Sent requests and what came back, by number."""

    def __init__(self) -> None:
        self.session = secrets.randbits(64)
        self.token = NO_TOKEN
        self.sent: list[int] = []
        self.first: dict[int, tuple[int, int, int, int]] = {}
        """Arrived, returned, received, counted."""
        self.copies: dict[int, int] = {}

    def knows(self, answer: Message) -> bool:
        """Whether this answers a request as last sent, with valid numbers."""
        is_sent = answer.session == self.session and answer.number < len(self.sent)
        can_be = max(answer.arrived_ns, answer.returned_ns, answer.counted) < LARGEST
        return is_sent and can_be and self.sent[answer.number] == answer.sent_ns

    def note(self, reply: Message, received_ns: int) -> None:
        self.copies[reply.number] = self.copies.get(reply.number, 0) + 1
        self.first.setdefault(reply.number, (reply.arrived_ns, reply.returned_ns, received_ns, reply.counted))

    def series(self, name: str) -> Series:
        """All requests; the client's times count from the first request, the server's from its first arrival."""
        start = self.sent[0] if self.sent else 0
        origin = min((times[0] for times in self.first.values()), default=0)
        table = np.full((len(self.sent), 3), np.nan)
        counted = np.zeros(len(self.sent), np.int64)
        for number, (arrived, returned, received, count) in self.first.items():
            table[number] = (arrived - origin) * 1e-9, (returned - origin) * 1e-9, (received - start) * 1e-9
            counted[number] = count
        replies = np.array([self.copies.get(number, 0) for number in range(len(self.sent))], np.int64)
        sent = np.array([(sent - start) * 1e-9 for sent in self.sent])
        return Series(name, sent, table[:, 0], table[:, 1], table[:, 2], replies, counted)


def measure(plan: Plan, on_progress: Callable[[int, int], None] | None = None) -> Run:
    """Sends the probes. Ctrl-C ends the measurement and keeps the replies so far.

    `on_progress` gets how many requests of how many were sent. Raises RequestError if the host cannot be
    reached or does not answer.
    """
    addresses = _addresses(plan)
    for address in addresses:
        try:
            return _measure_at(plan, address, on_progress)
        except RequestError:
            # A name may have addresses of both families while the server listens at one.
            if address is addresses[-1]:
                raise
    raise _no_answer(plan)


def _measure_at(plan: Plan, address: _Address, on_progress: Callable[[int, int], None] | None) -> Run:
    replies = _Replies()
    interrupted = False
    with _connect(plan, address) as endpoint:
        try:
            _exchange(plan, endpoint, replies, on_progress)
        except KeyboardInterrupt:
            interrupted = True
    if not replies.first:
        if interrupted:
            raise KeyboardInterrupt
        raise _no_answer(plan)
    return Run(replies.series(plan.host), interrupted)


def _exchange(
    plan: Plan, endpoint: socket.socket, replies: _Replies, on_progress: Callable[[int, int], None] | None
) -> None:
    _ask_for_token(plan, endpoint, replies)
    interval = round(plan.interval_s * 1e9)
    start = time.monotonic_ns()
    stop = start + round(plan.duration_s * 1e9)
    patience = round(plan.patience_s * 1e9)
    due = start
    total = max(1, -(-(stop - start) // interval))
    while True:
        now = time.monotonic_ns()
        if due < stop and now >= due:
            now = time.monotonic_ns()
            replies.sent.append(now)
            _send(plan, endpoint, replies, len(replies.sent) - 1)
            due += max(1, -(-(now + 1 - due) // interval)) * interval
            if on_progress:
                on_progress(len(replies.sent), total)
            continue
        if not replies.first and now - start > patience:
            raise _no_answer(plan)
        end = min(due, stop) if due < stop else replies.sent[-1] + patience
        if due >= stop and (now >= end or len(replies.first) == len(replies.sent)):
            return
        wait = end - now if replies.first else min(end, start + patience + 1) - now
        if select.select([endpoint], [], [], max(wait, 0) * 1e-9)[0]:
            _try(plan, replies, partial(_take, plan, endpoint, replies))


def _ask_for_token(plan: Plan, endpoint: socket.socket, replies: _Replies) -> None:
    """Sends requests without a token until one is challenged. Raises RequestError."""
    now = time.monotonic_ns()
    end, due, wait = now + round(plan.patience_s * 1e9), now, _FIRST_WAIT_NS
    asked: set[int] = set()
    while replies.token == NO_TOKEN:
        now = time.monotonic_ns()
        if now >= end:
            raise _no_answer(plan)
        if now >= due:
            hello = Message(REQUEST, replies.session, 0, now)
            _try(plan, replies, partial(endpoint.send, hello.pack(plan.key)))
            if asked:
                # Version 1 drops what it does not know in silence, but answers its own.
                _try(plan, replies, partial(endpoint.send, hello.pack(plan.key, version=1)))
            asked.add(now)
            due, wait = now + wait, 2 * wait
        if select.select([endpoint], [], [], max(min(due, end) - now, 0) * 1e-9)[0]:
            _try(plan, replies, partial(_take_token, plan, endpoint, replies, asked))


def _take_token(plan: Plan, endpoint: socket.socket, replies: _Replies, asked: set[int]) -> None:
    packet, _, _ = receive(endpoint, SIZE)
    version = version_of(packet)
    answer = None if version is None else unpack(packet[:SIZE], plan.key, version)
    if answer is None or answer.session != replies.session or answer.sent_ns not in asked:
        return
    if version != VERSION:
        raise RequestError(
            f"{plan.host} port {plan.port} has another version of thalweg, "
            f"with version {version} of the probe protocol; this one has version {VERSION}; "
            f"install the same version on both hosts"
        )
    if answer.kind == CHALLENGE:
        replies.token = answer.token


def _send(plan: Plan, endpoint: socket.socket, replies: _Replies, number: int) -> None:
    request = Message(REQUEST, replies.session, number, replies.sent[number], token=replies.token)
    _try(plan, replies, partial(endpoint.send, request.pack(plan.key)))


def _take(plan: Plan, endpoint: socket.socket, replies: _Replies) -> None:
    packet, received, _ = receive(endpoint, SIZE)
    answer = unpack(packet, plan.key)
    if answer is None or not replies.knows(answer):
        return
    if answer.kind == REPLY:
        replies.note(answer, received)
    elif answer.kind == CHALLENGE and answer.number not in replies.first:
        replies.token = answer.token
        replies.sent[answer.number] = time.monotonic_ns()
        _send(plan, endpoint, replies, answer.number)


def _try(plan: Plan, replies: _Replies, action: Callable[[], object]) -> None:
    """Sends or receives. After the first answer, a network error is only a lost probe."""
    try:
        action()
    except OSError as error:
        if not replies.first and error.errno in _REFUSED:
            meaning = _MEANING.get(error.errno or 0, error.strerror or str(error))
            raise RequestError(f"cannot probe {plan.host} port {plan.port}: {meaning}") from None


def _no_answer(plan: Plan) -> RequestError:
    waited = min(plan.patience_s, plan.duration_s + plan.patience_s)
    keyed = "the same key" if plan.key else "no key"
    return RequestError(
        f"no answer from {plan.host} port {plan.port} within {waited:g} s; "
        f"is `thalweg probe serve` running there, with {keyed}, and does a firewall let UDP pass?"
    )


def _addresses(plan: Plan) -> list[_Address]:
    """The addresses of the host, the preferred one first."""
    try:
        found = socket.getaddrinfo(plan.host, plan.port, family=plan.family, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot probe {plan.host}: {reason}") from None
    return [(family, address) for family, _, _, _, address in found]


def _connect(plan: Plan, address: _Address) -> socket.socket:
    """A socket connected to this address."""
    family, where = address
    endpoint = None
    try:
        endpoint = socket.socket(family, socket.SOCK_DGRAM)
        endpoint.connect(where)
    except OSError as error:
        if endpoint:
            endpoint.close()
        meaning = _MEANING.get(error.errno or 0, error.strerror or str(error))
        raise RequestError(f"cannot probe {plan.host} port {plan.port}: {meaning}") from None
    ask_for_timestamps(endpoint)
    return endpoint
