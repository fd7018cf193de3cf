"""The request of a client, and its result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from thalweg import _native
from thalweg.base.errors import QuicError, RequestError
from thalweg.engine.controllers.failure import error_of
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.trace import Trace

Workload = Literal["download", "upload", "call"]


@dataclass(frozen=True)
class Request:
    """The server and the request."""

    host: str
    port: int
    fingerprint: str
    """The fingerprint of the certificate that the server must have."""
    workload: Workload
    amount: float
    """Bytes, or for a call seconds."""
    controller: str = "c4"
    """The controller of our own sender."""
    server_controller: str | None = None
    """Which the server should use; it must let clients choose."""
    patience_s: float = 5.0
    """For the handshake."""
    idle_s: float = 10.0
    """Idle timeout."""


@dataclass(frozen=True)
class Fetched:
    """The result of a request."""

    summary: dict[str, Any]
    trace: Trace | None
    """The trace of our own sender, if requested."""


def fetch(request: Request, trace: bool = False, on_progress: Callable[[int], None] | None = None) -> Fetched:
    """Transfers the data of a request; `on_progress` gets the bytes transferred ten times a second.

    Raises RequestError if the server cannot be reached or refuses, and QuicError if the connection fails.
    """
    resolver = Resolver()
    try:
        summary, native = _native.quic_get(
            request.host,
            request.port,
            request.fingerprint,
            request.workload,
            request.amount,
            request.controller,
            request.server_controller,
            request.patience_s,
            request.idle_s,
            trace,
            on_progress,
            resolver,
        )
    except _native.ControllerFailed as failed:
        raise error_of(failed, resolver.definitions) from failed.__cause__
    except _native.QuicRefused as error:
        raise RequestError(str(error)) from None
    except _native.QuicFailed as error:
        raise QuicError(str(error)) from None
    return Fetched(json.loads(summary), Trace.of(native) if native else None)
