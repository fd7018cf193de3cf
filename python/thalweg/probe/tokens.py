"""Tokens: a client's proof that it receives at its address.

Like the token of a Retry packet (RFC 9000 sections 8.1.2 to 8.1.4): the server derives it, without keeping state,
from its own secret, the address and port of the client, the session and the time. A sender with a spoofed address
never receives the token.
"""

from __future__ import annotations

import hmac
import secrets
import struct
from typing import Any

from thalweg.probe.wire import TOKEN_SIZE

LIFETIME_S = 120
"""How long a token opens a session: twice the longest time between two probes."""
_TIME = struct.Struct("!I")


class Tokens:
    """The tokens of one server, during its lifetime."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def make(self, sender: Any, session: int, now_s: int) -> bytes:
        """A token for a session of a sender: an address and a port, and what else the system adds.

        >>> tokens, sender = Tokens(), ("192.0.2.1", 4711)
        >>> token = tokens.make(sender, session=5, now_s=100)
        >>> tokens.age_s(token, sender, 5, now_s=130), tokens.age_s(token, ("192.0.2.2", 4711), 5, now_s=130)
        (30, None)
        """
        time = _TIME.pack(now_s & 0xFFFF_FFFF)
        return time + self._proof(time, sender, session)

    def age_s(self, token: bytes, sender: Any, session: int, now_s: int) -> int | None:
        """How old a token is; None if it was not made here for this session of this sender."""
        time, proof = token[: _TIME.size], token[_TIME.size :]
        if not hmac.compare_digest(proof, self._proof(time, sender, session)):
            return None
        return (now_s - int(_TIME.unpack(time)[0])) & 0xFFFF_FFFF

    def _proof(self, time: bytes, sender: Any, session: int) -> bytes:
        address, port = sender[:2]
        claim = b"%b%d %d %b" % (time, session, port, str(address).encode())
        return hmac.digest(self._secret, claim, "sha256")[: TOKEN_SIZE - _TIME.size]
