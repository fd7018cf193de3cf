"""The packets of the probe: one layout and size for all, so that no answer is larger than what asked for it.

```
 0  magic "TWP", version "2"  4 bytes
 4  kind: 1 request, 2 reply, 3 challenge, 4 unsupported, then 3 bytes of zero
 8  session                   8 bytes, chosen by the client at random
16  number                    8 bytes, from 0 on
24  sent                      8 bytes, ns of the client's clock
32  arrived, returned         8 bytes each, ns of the server's clock; in a request and a challenge the token
48  counted                   8 bytes, requests of this session that the server has seen; zero but in a reply
56  tag                       16 bytes: HMAC-SHA256 (RFC 2104) of the bytes before, cut to its first half as
                              RFC 2104 section 5 allows; zero without a key
```

All numbers are big-endian; clocks may start anywhere. A reply with a time or a count of 2^62 or more, which no
clock of nanoseconds reaches in a hundred years, is not a reply.

A request without a valid token is answered by a challenge, which repeats session, number and time of the request
and holds a token (`tokens`); the client sends its request again, with the token. A server keeps nothing of a
client that has not shown a token. A request of another version is answered by "unsupported", which has this layout
in all versions: its own number is what it tells.

The key keeps strangers from using a server and from forging replies. The tag covers the token, which binds the
address of the client and the time: a recorded request is worth nothing from elsewhere, and opens nothing when the
token is old. Until then, an observer can replay recorded packets in the name of their client;
the answer goes to that client and is of the same size.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, replace

PORT = 50057
"""0xC389, as octoping has it."""
SIZE = 72
VERSION = 2
REQUEST, REPLY, CHALLENGE, UNSUPPORTED = 1, 2, 3, 4
TOKEN_SIZE = 16
LARGEST = 1 << 62
"""The largest time and count of a reply, plus one."""
NO_TOKEN = bytes(TOKEN_SIZE)
_MAGIC = b"TWP"
_HEAD = struct.Struct("!3scB3xQQQ")
_TIMES = struct.Struct("!QQQ")
_TOKEN = struct.Struct("!16s8x")
_BODY_SIZE = _HEAD.size + _TIMES.size
_TAG = 16


@dataclass(frozen=True, slots=True)
class Message:
    """A packet. Times are nanoseconds of the clock of their writer."""

    kind: int
    session: int
    number: int
    sent_ns: int
    arrived_ns: int = 0
    returned_ns: int = 0
    counted: int = 0
    token: bytes = NO_TOKEN
    """The token of a request and a challenge; the times and the count belong to a reply."""

    def pack(self, key: bytes = b"", version: int = VERSION) -> bytes:
        """The packet. Version 1 had only requests and replies, and no token.

        >>> len(Message(REQUEST, session=1, number=0, sent_ns=5).pack())
        72
        """
        head = _HEAD.pack(_MAGIC, b"%d" % version, self.kind, self.session, self.number, self.sent_ns)
        if self.kind == REPLY:
            body = head + _TIMES.pack(self.arrived_ns, self.returned_ns, self.counted)
        else:
            body = head + _TOKEN.pack(self.token)
        return body + _tag(body, key)

    def reply(self, arrived_ns: int, returned_ns: int, counted: int) -> Message:
        """The reply to a request."""
        return Message(REPLY, self.session, self.number, self.sent_ns, arrived_ns, returned_ns, counted)

    def challenge(self, token: bytes) -> Message:
        """The answer to a request without a valid token."""
        return replace(self, kind=CHALLENGE, token=token)

    def unsupported(self) -> Message:
        """The answer to a request of another version."""
        return replace(self, kind=UNSUPPORTED, token=NO_TOKEN)


def unpack(packet: bytes, key: bytes = b"", version: int = VERSION) -> Message | None:
    """Reads a packet; None for anything else, and for a tag that the key did not make.

    >>> unpack(Message(REQUEST, 1, 2, 3).pack(b"secret"), b"secret").number
    2
    >>> unpack(Message(REQUEST, 1, 2, 3).pack(b"secret"), b"another") is None
    True
    """
    if len(packet) != SIZE or version_of(packet) != version:
        return None
    body = packet[:_BODY_SIZE]
    if not hmac.compare_digest(packet[_BODY_SIZE:], _tag(body, key)):
        return None
    _, _, kind, session, number, sent = _HEAD.unpack_from(body)
    if kind == REPLY:
        return Message(kind, session, number, sent, *_TIMES.unpack_from(body, _HEAD.size))
    (token,) = _TOKEN.unpack_from(body, _HEAD.size)
    return Message(kind, session, number, sent, token=token)


def version_of(packet: bytes) -> int | None:
    """The version of the protocol that a packet is of; None if it is not a packet of a probe.

    >>> version_of(Message(REQUEST, 1, 2, 3).pack(version=1)), version_of(b"something else")
    (1, None)
    """
    if len(packet) < SIZE or not packet.startswith(_MAGIC) or not packet[3:4].isdigit():
        return None
    return int(packet[3:4])


def _tag(body: bytes, key: bytes) -> bytes:
    return hmac.digest(key, body, "sha256")[:_TAG] if key else bytes(_TAG)
