"""The QUIC stack over UDP sockets: a server and a client."""

from thalweg.quic.client import Fetched, QuicError, Request, fetch
from thalweg.quic.identity import Identity, default_identity_file
from thalweg.quic.server import QuicServer, ServerOptions

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
