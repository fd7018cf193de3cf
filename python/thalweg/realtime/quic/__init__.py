"""The QUIC stack over UDP sockets: a server and a client."""

from thalweg.base.errors import QuicError
from thalweg.realtime.quic.client import Fetched, Request, fetch
from thalweg.realtime.quic.identity import Identity, default_identity_file
from thalweg.realtime.quic.server import QuicServer, ServerOptions

__all__ = [
    "Fetched",
    "Identity",
    "QuicError",
    "QuicServer",
    "Request",
    "ServerOptions",
    "default_identity_file",
    "fetch",
]
