"""aioquic as a stack of Thalweg. It runs inside of libaioquic.so (shim.c), which gives TABLE and FOLDER.

Determinism: times come from the calls. `os.urandom` of aioquic's modules and the keys of TLS come from the seed,
the certificate is fixed, and there are no session tickets: sizes, times and contents of all packets repeat.

Limits: `ack_every`, `ack_frequency`, `max_ack_delay_ns`, `initial_window` and `paced` have no effect: aioquic
acknowledges after 1 ms, says that it may take 25 ms, starts with ten packets and always paces. It knows no ECN and
does not look for larger datagrams: all have `max_mtu`.
"""

from __future__ import annotations

import ctypes
import os
import ssl
import sys
from collections import deque
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from datetime import UTC, datetime
from itertools import count
from random import Random
from types import ModuleType, SimpleNamespace

sys.path.insert(0, FOLDER)  # noqa: F821 - given by shim.c

from aioquic import tls
from aioquic.buffer import Buffer
from aioquic.quic import connection as connections
from aioquic.quic import events, packet
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x448, x25519

FOUND = os.path.dirname(os.path.dirname(os.path.realpath(tls.__file__)))
if os.path.realpath(FOLDER) != FOUND:  # noqa: F821 - given by shim.c
    # Another version, say, which this Python has for itself.
    raise ImportError(f"aioquic is not in {FOLDER}, but in {FOUND}")  # noqa: F821

OK, BLOCKED, FAULT = 0, -1, -2
NEVER = UNKNOWN = 2**64 - 1
CLIENT = 0
CONNECTING, ESTABLISHED, CLOSED = 0, 1, 2
CONNECTION_ID = 8
SEND_BUFFER = 64 << 20
"""Data that waits to be sent or acknowledged, at most; the rest stays with the application."""
WIDE = (1 << 30) - 1
"""Flow-control windows that never limit."""
START_S = 1.0
"""What the clock of aioquic shows when an end is created: 0 means "not yet" there."""
FOREVER_S = 1e9
SERVER = ("192.0.2.2", 4433)
CLIENTS = ("192.0.2.1", 4433)
"""Addresses for documentation (RFC 5737)."""
ZEROS = memoryview(bytes(1 << 20))


class Options(Structure):
    """thalweg_stack_options."""

    _fields_ = (
        ("role", c_uint32),
        ("ack_every", c_uint32),
        ("seed", ctypes.c_uint8 * 32),
        ("connection", ctypes.c_uint8 * 32),
        ("controller", c_char_p),
        ("initial_window", c_uint64),
        ("initial_mtu", c_uint64),
        ("max_mtu", c_uint64),
        ("max_ack_delay_ns", c_uint64),
        ("receive_window", c_uint64),
        ("paced", c_uint32),
        ("ack_frequency", c_uint32),
    )


class Datagram(Structure):
    """thalweg_stack_datagram."""

    _fields_ = (
        ("data", c_void_p),
        ("length", c_size_t),
        ("ecn", c_uint32),
        ("reserved", c_uint32),
        ("not_before", c_uint64),
    )


class Arrival(Structure):
    """thalweg_stack_arrival."""

    _fields_ = (("stream", c_uint64), ("bytes", c_uint64), ("fin", c_uint32), ("reserved", c_uint32))


class Probes(Structure):
    """thalweg_stack_probes."""

    _fields_ = (
        ("window", c_uint64),
        ("in_flight", c_uint64),
        ("smoothed_rtt_ns", c_uint64),
        ("latest_rtt_ns", c_uint64),
        ("pacing_rate", c_uint64),
        ("packets_lost", c_uint64),
        ("state", c_char_p),
    )


class Randomness:
    """Random numbers of the end that is being called."""

    of_end = Random(0)


def draw(length: int) -> bytes:
    """Random bytes."""
    return Randomness.of_end.randbytes(length)


def curve_key(curve: ec.EllipticCurve) -> ec.EllipticCurvePrivateKey:
    """A key on a curve: 31 bytes are less than the order of any curve of TLS."""
    return ec.derive_private_key(1 + int.from_bytes(draw(31), "big"), curve)


def seeded(module: ModuleType, kind: str, length: int) -> SimpleNamespace:
    """A module with one kind of keys, of so many bytes, that come from the seed."""
    private = getattr(module, f"{kind}PrivateKey")
    keys = SimpleNamespace(generate=lambda: private.from_private_bytes(draw(length)))
    return SimpleNamespace(**{**vars(module), f"{kind}PrivateKey": keys})


connections.os = packet.os = tls.os = SimpleNamespace(**{**vars(os), "urandom": draw})
tls.ec = SimpleNamespace(**{**vars(ec), "generate_private_key": curve_key})
tls.x25519 = seeded(x25519, "X25519", 32)
tls.x448 = seeded(x448, "X448", 56)


def identity() -> tuple[x509.Certificate, ed25519.Ed25519PrivateKey]:
    """A certificate that is the same in every process, and its key, which is not secret."""
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "thalweg")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1)
    builder = builder.not_valid_before(datetime(2000, 1, 1, tzinfo=UTC))
    return builder.not_valid_after(datetime(2100, 1, 1, tzinfo=UTC)).sign(key, None), key


CERTIFICATE, KEY = identity()


class End:
    """One end of a connection."""

    def __init__(self, options: Options, now: int) -> None:
        self.random = Randomness.of_end = Random(bytes(options.seed))
        self.created = now
        self.is_established = self.is_closed = False
        self.datagrams: deque[bytes] = deque()
        self.arrivals: deque[tuple[int, int, bool]] = deque()
        self.opened = self.lost = 0
        self.fault = b""
        window = options.receive_window or WIDE
        self.configuration = QuicConfiguration(
            alpn_protocols=["thalweg"],
            cipher_suites=[tls.CipherSuite.AES_128_GCM_SHA256],
            congestion_control_algorithm=options.controller.decode(),
            connection_id_length=CONNECTION_ID,
            idle_timeout=FOREVER_S,
            is_client=options.role == CLIENT,
            max_data=window,
            max_datagram_size=options.max_mtu,
            max_stream_data=window,
            server_name="thalweg",
            verify_mode=ssl.CERT_NONE,
            certificate=CERTIFICATE,
            private_key=KEY,
        )
        self.connection: QuicConnection | None = None
        if options.role == CLIENT:
            self.connect(QuicConnection(configuration=self.configuration))
            self.connection.connect(SERVER, now=self.at(now))

    def connect(self, connection: QuicConnection) -> None:
        """Takes a connection, and counts what it loses."""
        self.connection = connection
        tell = connection._loss._on_packets_lost

        def counted(*, packets: list, congestion_event: bool = True, **rest: object) -> None:
            self.lost += len(packets) if congestion_event else 0
            tell(packets=packets, congestion_event=congestion_event, **rest)

        connection._loss._on_packets_lost = counted

    def at(self, now: int) -> float:
        """The time of aioquic, in seconds."""
        return START_S + (now - self.created) / 1e9

    def process(self) -> None:
        """Takes what has happened."""
        while self.connection and (event := self.connection.next_event()):
            if isinstance(event, events.HandshakeCompleted):
                self.is_established = True
            elif isinstance(event, events.ConnectionTerminated):
                self.is_closed = True
            elif isinstance(event, events.StreamDataReceived):
                self.arrivals.append((event.stream_id // 4, len(event.data), event.end_stream))


ENDS: dict[int, End] = {}
NUMBERS = count(1)
"""Numbers of ends: none comes twice."""


def of_end(call):
    """A function of an end that returns FAULT where aioquic raises."""

    def safe(handle: int, *arguments: object) -> int:
        end = ENDS[handle]
        Randomness.of_end = end.random
        try:
            return FAULT if end.fault else call(end, *arguments)
        except Exception as error:  # none may leave
            end.fault = f"{type(error).__name__}: {error}".encode()
            return FAULT

    return safe


def create(options, now: int, problem: int, room: int) -> int | None:
    """thalweg_stack_create."""
    try:
        end = End(options.contents, now)
    except Exception as error:  # as above
        text = f"{error}".encode()[: room - 1] + b"\0"
        ctypes.memmove(problem, text, len(text))
        return None
    number = next(NUMBERS)
    ENDS[number] = end
    return number


def destroy(handle: int) -> None:
    """thalweg_stack_destroy."""
    del ENDS[handle]


@of_end
def datagram_in(end: End, now: int, ecn: int, data: int, length: int) -> int:
    """thalweg_stack_datagram_in."""
    content = ctypes.string_at(data, length)
    if end.connection is None:
        first = packet.pull_quic_header(Buffer(data=content), host_cid_length=CONNECTION_ID)
        original = first.destination_cid
        end.connect(QuicConnection(configuration=end.configuration, original_destination_connection_id=original))
    peer = CLIENTS if end.configuration.is_client is False else SERVER
    end.connection.receive_datagram(content, peer, now=end.at(now))
    end.process()
    return OK


@of_end
def datagram_out(end: End, now: int, datagram) -> int:
    """thalweg_stack_datagram_out."""
    if not end.datagrams and end.connection:
        end.datagrams.extend(data for data, _ in end.connection.datagrams_to_send(now=end.at(now)))
        end.process()
    if not end.datagrams:
        return 0
    data = end.datagrams.popleft()
    out = datagram.contents
    if len(data) > out.length:
        raise ValueError(f"a datagram has {len(data)} bytes")
    ctypes.memmove(out.data, data, len(data))
    out.length, out.ecn, out.not_before = len(data), 0, 0
    return 1


def next_time(handle: int) -> int:
    """thalweg_stack_next: the first nanosecond that is later than the timer. A fault is for the next call."""
    end = ENDS[handle]
    if end.connection is None or end.is_closed:
        return NEVER
    timer = end.connection.get_timer()
    if timer is None or timer >= FOREVER_S:
        return NEVER
    return max(0, int((timer - START_S) * 1e9) + 1) + end.created


@of_end
def expire(end: End, now: int) -> int:
    """thalweg_stack_expire."""
    if end.connection:
        end.connection.handle_timer(now=end.at(now))
        end.process()
    return OK


@of_end
def open_stream(end: End, now: int) -> int:
    """thalweg_stack_open."""
    end.opened += 1
    return end.opened - 1


@of_end
def write(end: End, now: int, stream: int, length: int, fin: int) -> int:
    """thalweg_stack_write."""
    if end.connection is None:
        return BLOCKED
    sender = end.connection._get_or_create_stream_for_send(4 * stream).sender
    taken = min(length, max(0, SEND_BUFFER - (sender._buffer_stop - sender._buffer_start)))
    left = taken
    while left > len(ZEROS):
        end.connection.send_stream_data(4 * stream, ZEROS)
        left -= len(ZEROS)
    end.connection.send_stream_data(4 * stream, ZEROS[:left], end_stream=bool(fin) and taken == length)
    return taken


@of_end
def read(end: End, now: int, arrival) -> int:
    """thalweg_stack_read."""
    if not end.arrivals:
        return 0
    arrived = arrival.contents
    arrived.stream, arrived.bytes, arrived.fin = end.arrivals.popleft()
    return 1


@of_end
def close(end: End, now: int) -> int:
    """thalweg_stack_close."""
    if end.connection:
        end.connection.close()
    end.is_closed |= end.connection is None
    return OK


@of_end
def status(end: End) -> int:
    """thalweg_stack_status."""
    return CLOSED if end.is_closed else ESTABLISHED if end.is_established else CONNECTING


@of_end
def probe(end: End, probes) -> int:
    """thalweg_stack_probe."""
    if end.connection is None:
        return 0
    recovery, found = end.connection._loss, probes.contents
    found.window, found.in_flight = recovery.congestion_window, recovery.bytes_in_flight
    found.smoothed_rtt_ns, found.latest_rtt_ns = (
        round(rtt * 1e9) if recovery._rtt_initialized else UNKNOWN
        for rtt in (recovery._rtt_smoothed, recovery._rtt_latest)
    )
    interval = recovery._pacer.packet_time
    found.pacing_rate = round(8 * end.configuration.max_datagram_size / interval) if interval else UNKNOWN
    found.packets_lost = end.lost
    threshold = recovery._cc.ssthresh
    is_starting = threshold is None or recovery.congestion_window < threshold
    found.state = b"slow_start" if is_starting else b"congestion_avoidance"
    return 1


def fault(handle: int) -> int | None:
    """thalweg_stack_fault."""
    return ctypes.cast(ctypes.c_char_p(ENDS[handle].fault), c_void_p).value


# In the order of the table of shim.c. They stay as long as this module does, which is in sys.modules.
FUNCTIONS = (
    CFUNCTYPE(c_void_p, POINTER(Options), c_uint64, c_void_p, c_size_t)(create),
    CFUNCTYPE(None, c_void_p)(destroy),
    CFUNCTYPE(c_int32, c_void_p, c_uint64, c_uint32, c_void_p, c_size_t)(datagram_in),
    CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(Datagram))(datagram_out),
    CFUNCTYPE(c_uint64, c_void_p)(next_time),
    CFUNCTYPE(c_int32, c_void_p, c_uint64)(expire),
    CFUNCTYPE(c_int64, c_void_p, c_uint64)(open_stream),
    CFUNCTYPE(c_int64, c_void_p, c_uint64, c_uint64, c_uint64, c_uint32)(write),
    CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(Arrival))(read),
    CFUNCTYPE(c_int32, c_void_p, c_uint64)(close),
    CFUNCTYPE(c_int32, c_void_p)(status),
    CFUNCTYPE(c_int32, c_void_p, POINTER(Probes))(probe),
    CFUNCTYPE(c_void_p, c_void_p)(fault),
)
(c_void_p * len(FUNCTIONS)).from_address(TABLE)[:] = [  # noqa: F821 - given by shim.c
    ctypes.cast(function, c_void_p).value for function in FUNCTIONS
]
