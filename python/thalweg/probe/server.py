"""The server of the probe: returns requests, within limits of rate and number of clients.

Packets that are not requests, lack the tag of the key, or exceed the rate are dropped silently, and no answer is
larger than its request: the server never sends more than it receives. A client must first present a token,
which proves its address (`tokens`): spoofed addresses use no memory. A client is an IPv4 address, or the
/64 of an IPv6 address, which a single host owns; it may have several sessions.

Limits: a client whose requests are dropped counts them as lost. On a host with several addresses, name the one
to listen on, since the kernel may choose another for the reply.
"""

from __future__ import annotations

import errno
import ipaddress
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import Any

from thalweg.base.errors import RequestError
from thalweg.probe.timestamps import ask_for_timestamps, receive
from thalweg.probe.tokens import LIFETIME_S, Tokens
from thalweg.probe.wire import PORT, REQUEST, SIZE, VERSION, Message, unpack, version_of

_IDLE_NS = 30_000_000_000
"""A client that is silent for this long may be replaced."""
_SESSIONS = 64
"""Most sessions of one client; beyond that, the oldest is dropped."""
_POLL_S = 0.25
"""Longest time between two checks of the stop flag."""


@dataclass
class Totals:
    """Counts of packets by result."""

    answered: int = 0
    challenged: int = 0
    """Without a valid token: challenged."""
    refused: int = 0
    """No request, or a wrong tag."""
    other_version: int = 0
    """Packets of another version of the protocol."""
    limited: int = 0
    """Beyond the rate or the number of clients."""


@dataclass
class _Client:
    tokens: float
    refilled_ns: int
    counts: dict[int, int] = field(default_factory=dict)
    """Requests of each session."""

    def admits(self, now_ns: int, rate: float) -> bool:
        """A token bucket with room for one second of requests."""
        self.tokens = min(rate, self.tokens + (now_ns - self.refilled_ns) * 1e-9 * rate)
        self.refilled_ns = now_ns
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def count(self, session: int) -> int:
        """Counts a request and returns the number in its session."""
        number = self.counts.pop(session, 0) + 1
        self.counts[session] = number
        if len(self.counts) > _SESSIONS:
            del self.counts[next(iter(self.counts))]
        return number


class Server:
    """A socket that returns probes. Opened at once; `with` closes it."""

    def __init__(
        self,
        address: str | None = None,
        port: int = PORT,
        key: bytes = b"",
        rate: float = 1000.0,
        clients: int = 64,
    ) -> None:
        """Listens at `address`, by default at all of IPv6 and IPv4. Raises RequestError.

        Each of at most `clients` clients may send `rate` requests per second.
        """
        self._key, self._rate, self._most = key, max(rate, 1.0), clients
        self._clients: dict[str, _Client] = {}
        self._tokens = Tokens()
        self.totals = Totals()
        self._socket = _listen(address, port)
        ask_for_timestamps(self._socket)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._socket.getsockname()[1])

    def __enter__(self) -> Server:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the socket."""
        self._socket.close()

    def serve(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Returns requests while `goes_on`."""
        while goes_on():
            if select.select([self._socket], [], [], _POLL_S)[0]:
                try:
                    self._answer()
                except OSError as error:
                    # What an earlier reply met on its way is told at the next call; it concerns one client.
                    if error.errno in (errno.EBADF, errno.ENOTSOCK):
                        raise

    def _answer(self) -> None:
        packet, arrived, sender = receive(self._socket, SIZE)
        if reply := self.respond(packet, sender, arrived):
            self._socket.sendto(reply, sender)

    def respond(self, packet: bytes, sender: Any, arrived: int) -> bytes | None:
        """The answer to a datagram that arrived at this time, in nanoseconds; None for none."""
        request = self._request(packet)
        if request is None:
            self.totals.refused += 1
            return None
        if version_of(packet) != VERSION:
            self.totals.other_version += 1
            return request.unsupported().pack(self._key)
        if not self._has_shown_a_token(request, sender, arrived):
            self.totals.challenged += 1
            token = self._tokens.make(sender, request.session, arrived // 1_000_000_000)
            return request.challenge(token).pack(self._key)
        return self._return(request, sender, arrived)

    def _request(self, packet: bytes) -> Message | None:
        """A request, of whichever version."""
        version = version_of(packet)
        request = None if version is None else unpack(packet, self._key, version)
        return request if request and request.kind == REQUEST else None

    def _has_shown_a_token(self, request: Message, sender: Any, now_ns: int) -> bool:
        """Whether the sender has a valid token: a new one, or an old one for a continuing session."""
        age = self._tokens.age_s(request.token, sender, request.session, now_ns // 1_000_000_000)
        if age is None:
            return False
        client = self._clients.get(_who(str(sender[0])))
        return age <= LIFETIME_S or (client is not None and request.session in client.counts)

    def _return(self, request: Message, sender: Any, arrived: int) -> bytes | None:
        client = self._client(_who(str(sender[0])), arrived)
        if client is None or not client.admits(arrived, self._rate):
            self.totals.limited += 1
            return None
        self.totals.answered += 1
        counted = client.count(request.session)
        return request.reply(arrived, time.monotonic_ns(), counted).pack(self._key)

    def _client(self, who: str, now_ns: int) -> _Client | None:
        client = self._clients.get(who)
        if client is None:
            if len(self._clients) >= self._most:
                fresh = {name: c for name, c in self._clients.items() if now_ns - c.refilled_ns < _IDLE_NS}
                self._clients = fresh
            if len(self._clients) >= self._most:
                return None
            client = self._clients[who] = _Client(self._rate, now_ns)
        return client


@lru_cache(maxsize=256)
def _who(address: str) -> str:
    """The client that an address stands for.

    >>> _who("::ffff:192.0.2.1"), _who("2001:db8:1:2:3::4")
    ('192.0.2.1', '2001:db8:1:2::/64')
    """
    known = ipaddress.ip_address(address)
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(known), 64), strict=False))


def _listen(address: str | None, port: int) -> socket.socket:
    """A socket bound to an address, or to all addresses of both families."""
    asked = f"port {port}" if address is None else f"{address} port {port}"
    try:
        if address is None and socket.has_dualstack_ipv6():
            endpoint = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            endpoint.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            where: tuple[str, int] | tuple[str, int, int, int] = ("::", port)
        else:
            found = socket.getaddrinfo(address or "0.0.0.0", port, type=socket.SOCK_DGRAM)
            endpoint = socket.socket(found[0][0], socket.SOCK_DGRAM)
            where = found[0][4]  # type: ignore[assignment] # an address of either family
    except (OSError, UnicodeError) as error:
        raise RequestError(f"cannot listen at {asked}: {getattr(error, 'strerror', None) or error}") from None
    try:
        endpoint.bind(where)
    except OSError as error:
        endpoint.close()
        hint = "; choose another with --port" if error.errno == errno.EADDRINUSE else ""
        raise RequestError(f"cannot listen at {asked}: {error.strerror or error}{hint}") from None
    return endpoint
