"""A server of bulk data and calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from thalweg import _native
from thalweg.base.errors import QuicError, RequestError
from thalweg.engine.controllers.failure import error_of
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.trace import Trace
from thalweg.realtime.quic.identity import Identity

OnServed = Callable[[dict[str, Any], Trace | None], None]


@dataclass(frozen=True)
class ServerOptions:
    """Configuration and limits of a server."""

    controller: str = "c4"
    clients_choose: bool = False
    """Whether a request may name another controller."""
    connections: int = 64
    half_open: int = 32
    """Connections whose handshake is not complete; beyond a quarter of them clients get a Retry."""
    idle_s: float = 10.0
    """Idle timeout."""
    trace: bool = False


class QuicServer:
    """A server that listens from now on. Raises RequestError if it cannot."""

    def __init__(self, address: str, port: int, identity: Identity, options: ServerOptions) -> None:
        self._resolver = Resolver()
        try:
            self._native = _native.QuicServer(
                address,
                port,
                identity.certificate,
                identity.key,
                options.controller,
                options.clients_choose,
                options.connections,
                options.half_open,
                options.idle_s,
                options.trace,
                self._resolver,
            )
        except _native.QuicRefused as error:
            raise RequestError(str(error)) from None

    @property
    def address(self) -> tuple[str, int]:
        """Address and port."""
        return self._native.address

    @property
    def fingerprint(self) -> str:
        """Its fingerprint."""
        return self._native.fingerprint

    def serve(
        self, on_served: OnServed, duration_s: float | None = None, once: bool = False
    ) -> tuple[dict[str, int], bool]:
        """Serves until Ctrl-C, `stop` or the end; `on_served` gets every connection with a request.

        Returns the counters, and whether Ctrl-C ended it. Raises QuicError if the socket fails.
        """

        def told(report: str, trace: _native.Trace | None) -> None:
            on_served(json.loads(report), Trace.of(trace) if trace else None)

        try:
            return self._native.serve(duration_s, once, told)
        except _native.ControllerFailed as failed:
            raise error_of(failed, self._resolver.definitions) from failed.__cause__
        except _native.QuicFailed as error:
            raise QuicError(str(error)) from None

    def stop(self) -> None:
        """Ends `serve`, from another thread."""
        self._native.stop()
