"""Connections to the server of the lab: connections of strangers lock nobody out.

Any process of this machine may connect. A connection is of a *stranger* until a request on it has had the token.
At most `MOST_STRANGERS` are open, and the oldest gives way to the next one: a browser that loads the page needs
its own for milliseconds. One that has sent no whole head of a request in time is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_STRANGERS = 64
HEAD_S = 10.0
"""How long a stranger may take to send the head of a request."""
_ADMITTED = "thalweg.admitted"


def admit(scope: MutableMapping[str, Any]) -> None:
    """Notes that a request has had the token."""
    scope[_ADMITTED] = True


class Connection(H11Protocol):
    """One connection."""

    _since: float = 0.0

    @property
    def _is_stranger(self) -> bool:
        return self.scope is None or not self.scope.get(_ADMITTED)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Lets the oldest stranger give way."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self.loop.call_later(HEAD_S, self._end_without_head)
        strangers = [other for other in self.connections if isinstance(other, Connection) and other._is_stranger]
        if len(strangers) > MOST_STRANGERS:
            min(strangers, key=lambda other: other._since).transport.abort()

    def _end_without_head(self) -> None:
        if self.scope is None and not self.transport.is_closing():
            self.transport.abort()
