"""A server and a client on aioquic: a request of a line, "GET BYTES", is answered with so many bytes.

aioquic_ends.py server PORT CERTIFICATE KEY QLOG-FOLDER
aioquic_ends.py client ADDRESS PORT BYTES QLOG-FOLDER
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from pathlib import Path

from aioquic.asyncio.client import connect
from aioquic.asyncio.server import serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.logger import QuicFileLogger

ALPN = ["bytes"]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    size = int((await reader.read()).split()[1])
    writer.write(bytes(size))
    writer.write_eof()


async def serving(port: int, certificate: str, key: str, logs: str) -> None:
    own = QuicConfiguration(is_client=False, alpn_protocols=ALPN, quic_logger=QuicFileLogger(logs))
    own.load_cert_chain(Path(certificate), Path(key))
    running = set()

    def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(answer(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    await serve("0.0.0.0", port, configuration=own, stream_handler=handle)
    await asyncio.Event().wait()


async def fetching(address: str, port: int, size: int, logs: str) -> None:
    own = QuicConfiguration(
        is_client=True, alpn_protocols=ALPN, verify_mode=ssl.CERT_NONE, quic_logger=QuicFileLogger(logs)
    )
    async with connect(address, port, configuration=own) as client:
        reader, writer = await client.create_stream()
        writer.write(f"GET {size}".encode())
        writer.write_eof()
        got = len(await reader.read())
    if got != size:
        sys.exit(f"got {got} bytes of {size}")


if __name__ == "__main__":
    end, *rest = sys.argv[1:]
    if end == "server":
        asyncio.run(serving(int(rest[0]), rest[1], rest[2], rest[3]))
    else:
        asyncio.run(fetching(rest[0], int(rest[1]), int(rest[2]), rest[3]))
