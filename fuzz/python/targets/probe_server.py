"""The server of the probe under attackers' datagrams: random, recorded, changed, and with spoofed addresses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from random import Random
from typing import TypeAlias

from failure import Broken
from guard import Guard
from mutations import Step
from thalweg.probe.server import Server
from thalweg.probe.wire import CHALLENGE, NO_TOKEN, REPLY, REQUEST, SIZE, TOKEN_SIZE, Message, unpack

Address: TypeAlias = tuple[str, int]

_KEY = b"a key that strangers do not have"
_MOST, _SESSIONS, _RATE = 4, 64, 20.0
_HONEST: Address = ("198.51.100.1", 5000)
_SIGHTED: list[Address] = [
    ("192.0.2.1", 1),
    ("192.0.2.1", 2),
    ("::ffff:192.0.2.2", 1),
    ("2001:db8::1", 1),
    ("2001:db8::ffff:1", 1),
    ("fe80::1%lo", 1),
    *((f"203.0.113.{host}", 1) for host in range(1, 5)),
]
_BLIND: list[Address] = [_HONEST, *((f"198.51.100.{host}", 9) for host in range(2, 8)), ("2001:db8:f::1", 1)]
"""Spoofed addresses: the attackers never receive what is sent there."""
_NUMBERS = (0, 1, 2**63, 2**64 - 1)


class _World:
    """A server, its senders, and what it may answer them."""

    def __init__(self, server: Server, key: bytes) -> None:
        self.server, self.key = server, key
        self.now_ns = 1_000_000_000_000
        self.sent: list[bytes] = []
        self.tokens: dict[Address, list[Message]] = {}
        self.came: Counter[Address] = Counter()
        self.went: Counter[Address] = Counter()
        self._proven: set[str] = set()
        self._honest = Message(REQUEST, 77, 0, 0)

    def send(self, who: Address, packet: bytes) -> Message | None:
        """A datagram and what comes back, to those who see it."""
        self.sent.append(packet)
        self.came[who] += len(packet)
        answer = self.server.respond(packet[: SIZE + 1], (*who, 0, 0) if ":" in who[0] else who, self.now_ns)
        if answer:
            self.went[who] += len(answer)
        if answer and len(answer) > len(packet):
            raise Broken("probe server: an answer larger than its request", f"{len(answer)} B to {len(packet)} B")
        if self.went[who] > 3 * self.came[who]:
            raise Broken("probe server: amplification", f"{self.went[who]} B to {self.came[who]} B")
        message = unpack(answer, self.key) if answer else None
        if who not in _BLIND or who == _HONEST:
            self._proven.add(_network(who[0]))
        if message and message.kind == CHALLENGE and who not in _BLIND:
            self.tokens.setdefault(who, []).append(message)
        self._hold()
        return message

    def _hold(self) -> None:
        clients = self.server._clients
        if len(clients) > _MOST:
            raise Broken("probe server: more clients than its limit", str(len(clients)))
        if any(len(client.counts) > _SESSIONS for client in clients.values()):
            raise Broken("probe server: more sessions than its limit")
        if strange := {str(name).partition("/")[0] for name in clients} - self._proven:
            raise Broken("probe server: a client that has proven nothing", repr(strange))

    def ask(self) -> bool:
        """A request of the honest client, which gets a token when it is asked for one; whether it is answered."""
        for _ in range(2):
            self._honest = replace(self._honest, number=self._honest.number + 1, sent_ns=self.now_ns)
            answer = self.send(_HONEST, self._honest.pack(self.key))
            if answer and answer.kind == REPLY:
                return answer.number == self._honest.number
            if answer and answer.kind == CHALLENGE:
                self._honest = replace(self._honest, token=answer.token)
        return False


class ProbeServer:
    """The target."""

    def __init__(self, sandbox: Path, guard: Guard) -> None:
        self._guard = guard
        (sandbox / "inside").mkdir()

    def make(self, chance: Random) -> list[Step]:
        """Datagrams with the times between them."""
        steps: list[Step] = [["server", chance.random() < 0.5]]
        for _ in range(chance.choice([5, 50, 300])):
            # Strangers write in the name of the honest client, but play none of its datagrams again: who records
            # may repeat, as the format says, and spend what the client is allowed.
            sighted = chance.random() < 0.7
            who = chance.randrange(len(_SIGHTED)) if sighted else -1 - chance.randrange(len(_BLIND))
            steps.append(_datagram(chance, who))
            if chance.random() < 0.2:
                steps.append(["wait", chance.choice([1e-6, 0.01, 0.5, 5.0, 29.0])])
        return steps

    def play(self, case: list[Step]) -> str:
        """Sends everything, while an honest client is served throughout, and another one after it."""
        keyed = next((step[1] for step in case if step[0] == "server"), False)
        key = _KEY if keyed else b""
        with self._guard.watch(), Server("127.0.0.1", 0, key, rate=_RATE, clients=_MOST) as server:
            world = _World(server, key)
            if not world.ask():
                raise Broken("probe server: an honest client is not served at first")
            for step in case:
                self._step(world, step)
            world.now_ns += 31_000_000_000  # strangers are silent, and make room
            if not world.ask():
                raise Broken("probe server: an honest client is not served afterwards")
        return "played"

    def _step(self, world: _World, step: Step) -> None:
        match step:
            case ["wait", seconds]:
                world.now_ns += round(seconds * 1e9)
                if not world.ask():
                    raise Broken("probe server: an honest client is not served meanwhile")
            case ["request", who, kind, session, number, token, version, own_key]:
                world.send(_address(who), _request(world, who, kind, session, number, token, own_key, version))
            case ["noise", who, data]:
                world.send(_address(who), bytes.fromhex(data))
            case ["again", who, index, at, length, data]:
                recorded = world.sent[index % len(world.sent)]
                world.send(_address(who), recorded[:at] + bytes.fromhex(data) + recorded[at + length :])


def _network(address: str) -> str:
    """The least address of a client: an IPv4 address, or the /64 of an IPv6 address."""
    known = ip_address(address)
    if known.version == 4:
        return str(known)
    mapped = getattr(known, "ipv4_mapped", None)
    return str(mapped or ip_address(int(known) >> 64 << 64))


def _address(who: int) -> Address:
    return _SIGHTED[who % len(_SIGHTED)] if who >= 0 else _BLIND[(-1 - who) % len(_BLIND)]


def _datagram(chance: Random, who: int) -> Step:
    match chance.randrange(8):
        case 0:
            length = chance.choice([0, 1, 3, 4, SIZE - 1, SIZE, SIZE + 1, 1500])
            return ["noise", who, ((b"TWP2" if chance.random() < 0.5 else b"") + chance.randbytes(length)).hex()]
        case 1:
            at, length = chance.randrange(SIZE), chance.choice([0, 1, 1, 8, SIZE])
            data = chance.randbytes(chance.choice([0, 1, length % 9, 9])).hex()
            # The honest client's own datagrams stay its own: see above.
            return ["again", who if who != -1 else -2, chance.randrange(1000), at, length, data]
        case _:
            kind = REQUEST if chance.random() < 0.9 else chance.randrange(256)
            session = chance.choice([0, 77, chance.randrange(100), chance.getrandbits(64)])
            token = chance.choice(["none", "own", "own", "own", "others", chance.randbytes(TOKEN_SIZE).hex()])
            version = chance.choice([2, 2, 2, 2, 2, 0, 1, 3, 9])
            return ["request", who, kind, session, chance.choice(_NUMBERS), token, version, chance.random() < 0.8]


def _request(
    world: _World, who: int, kind: int, session: int, number: int, token: str, own_key: bool, version: int
) -> bytes:
    address = _address(who)
    others = [challenge for those in world.tokens.values() for challenge in those]
    found = {"own": world.tokens.get(address, []), "others": others}
    shown = NO_TOKEN
    if known := found.get(token):
        session, shown = known[-1].session, known[-1].token
    elif token not in (*found, "none"):
        shown = bytes.fromhex(token)
    message = Message(kind, session, number, number, token=shown)
    return message.pack(world.key if own_key else b"another key of some length", version)


TARGET = ProbeServer
