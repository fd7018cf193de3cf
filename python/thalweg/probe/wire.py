"""The packets of the probe: one layout for request and reply, so that a reply is never the larger one.

```
 0  magic "TWP1"          4 bytes
 4  kind: 1 request, 2 reply, then 3 bytes of zero
 8  session               8 bytes, chosen by the client at random
16  number                8 bytes, from 0 on
24  sent                  8 bytes, ns of the client's clock
32  arrived               8 bytes, ns of the server's clock; zero in a request
40  returned              8 bytes, ns of the server's clock; zero in a request
48  counted               8 bytes, requests of this session that the server has seen; zero in a request
56  tag                   16 bytes: HMAC-SHA256 (RFC 2104) of the bytes before, cut to its first half as RFC 2104
                          section 5 allows; zero without a key
```

All numbers are big-endian; clocks may start anywhere. The key keeps strangers from using a server and from
forging replies. Whoever can read the packets can send a request again; the answer goes to its sender and is
of the same size.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, replace

PORT = 50057
"""0xC389, as octoping has it."""
SIZE = 72
REQUEST, REPLY = 1, 2
_MAGIC = b"TWP1"
_BODY = struct.Struct("!4sB3xQQQQQQ")
_TAG = 16


@dataclass(frozen=True, slots=True)
class Message:
    """A request or a reply. Times are nanoseconds of the clock of whoever wrote them."""

    kind: int
    session: int
    number: int
    sent_ns: int
    arrived_ns: int = 0
    returned_ns: int = 0
    counted: int = 0

    def pack(self, key: bytes = b"") -> bytes:
        """The packet.

        >>> len(Message(REQUEST, session=1, number=0, sent_ns=5).pack())
        72
        """
        body = _BODY.pack(
            _MAGIC,
            self.kind,
            self.session,
            self.number,
            self.sent_ns,
            self.arrived_ns,
            self.returned_ns,
            self.counted,
        )
        return body + _tag(body, key)

    def reply(self, arrived_ns: int, returned_ns: int, counted: int) -> Message:
        """The reply to a request."""
        return replace(self, kind=REPLY, arrived_ns=arrived_ns, returned_ns=returned_ns, counted=counted)


def unpack(packet: bytes, kind: int, key: bytes = b"") -> Message | None:
    """Reads a packet of this kind; None for anything else, and for a tag that the key did not make.

    >>> unpack(Message(REQUEST, 1, 2, 3).pack(b"secret"), REQUEST, b"secret")
    Message(kind=1, session=1, number=2, sent_ns=3, arrived_ns=0, returned_ns=0, counted=0)
    >>> unpack(Message(REQUEST, 1, 2, 3).pack(b"secret"), REQUEST, b"another") is None
    True
    """
    if len(packet) != SIZE or not packet.startswith(_MAGIC) or packet[4] != kind:
        return None
    body = packet[: _BODY.size]
    if not hmac.compare_digest(packet[_BODY.size :], _tag(body, key)):
        return None
    return Message(kind, *_BODY.unpack(body)[2:])


def _tag(body: bytes, key: bytes) -> bytes:
    return hmac.digest(key, body, "sha256")[:_TAG] if key else bytes(_TAG)
