"""The local server of the lab: the page, the scenarios of one folder, and the trials that the page asks for.

It answers only this machine. A page of another site could ask too, from the same browser: so every request but
for the page itself needs the token of the address that was printed, and all need a Host that is this machine
(against DNS rebinding) and no Origin but our own. Nothing is read but the page and the folder, and nothing is
written but the store of a sweep, into that folder.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from thalweg.base.errors import RequestError
from thalweg.lab.connection import Connection, admit
from thalweg.lab.folder import Folder
from thalweg.lab.plan import SweepRequest
from thalweg.lab.session import RefusedError, Session, words_of
from thalweg.lab.sweep import Sweeps

PAGE = Path(str(files("thalweg"))) / "lab" / "page"
HOST = "127.0.0.1"
MOST_PAGES = 8
"""Connections at once: each has a process. A page needs two."""
LARGEST_MESSAGE = 2 << 20
_ASSET = re.compile(r"[\w-]+\.(js|css|wasm)")
_TYPES = {"js": "text/javascript", "css": "text/css", "wasm": "application/wasm"}
_HEADERS = {
    "Cache-Control": "no-store",
    # As in the page itself (lab/index.html), which may be served elsewhere, and no frame around it.
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; worker-src 'self'; frame-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_FRAMED = {**_HEADERS, "Content-Security-Policy": "frame-ancestors 'self'; sandbox allow-scripts"}
"""Headers of the frame in which the page runs its reader's controllers: without origin, however opened."""


class Guard:
    """Refuses what does not come from the page of this server."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it with 403."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(refusal, 403, _HEADERS)(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal})

    def refusal(self, scope: Scope) -> str | None:
        """Why a request is refused; None if it is not."""
        headers = Headers(scope=scope)
        port = scope["server"][1]
        ours = [f"{name}:{port}" for name in (HOST, "localhost")]
        if headers.getlist("host") not in [[name] for name in ours]:
            return "this Host is not the lab's"
        origins = headers.getlist("origin")
        if origins and origins not in [[f"http://{name}"] for name in ours]:
            return "this Origin is not the lab's"
        if scope["path"].startswith("/assets/") or scope["path"] == "/sandbox.html":
            return None  # the code of the page is not secret
        token = QueryParams(scope["query_string"]).get("token")
        if token is None and scope["path"] == "/" and scope["type"] == "http":
            return None  # a link of the page: without a token the page asks nothing of this server
        if token is None or not hmac.compare_digest(token.encode(), self._token):
            return "the token is missing or wrong: open the address that thalweg lab has printed"
        admit(scope)
        return None


async def _body(request: Request) -> bytes | None:
    """What was sent; None if it is more than a message may have."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_MESSAGE:
            return None
    return body


def application(folder: Folder, token: str, sweeps: Sweeps) -> ASGIApp:
    """The server as an ASGI application."""
    connected: set[Session] = set()

    async def index(_: Request) -> Response:
        return FileResponse(PAGE / "index.html", headers=_HEADERS)

    async def sandbox(_: Request) -> Response:
        return FileResponse(PAGE / "sandbox.html", headers=_FRAMED)

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        match = _ASSET.fullmatch(name)
        file = PAGE / "assets" / name
        if match is None or not file.is_file():
            return PlainTextResponse("there is no such file", 404, _HEADERS)
        return FileResponse(file, headers=_HEADERS, media_type=_TYPES[match[1]])

    async def scenarios(_: Request) -> Response:
        return JSONResponse(folder.scenarios(), headers=_HEADERS)

    async def sweep(_: Request) -> Response:
        return JSONResponse(sweeps.state, headers=_HEADERS)

    async def start_sweep(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return PlainTextResponse(f"more than {LARGEST_MESSAGE} bytes", 413, _HEADERS)
        try:
            asked = SweepRequest.of(words_of(body))
        except RefusedError as refused:
            return PlainTextResponse(str(refused), 400, _HEADERS)
        if asked is None:
            return PlainTextResponse("a sweep has no axes", 400, _HEADERS)
        try:
            return JSONResponse(await asyncio.to_thread(sweeps.start, asked), headers=_HEADERS)
        except RequestError as error:
            return PlainTextResponse(str(error), 409, _HEADERS)

    async def stop_sweep(_: Request) -> Response:
        sweeps.stop()
        return JSONResponse(sweeps.state, headers=_HEADERS)

    async def engine(websocket: WebSocket) -> None:
        if len(connected) >= MOST_PAGES:
            await websocket.accept()  # a browser tells its page no reason of a connection that was not accepted
            await websocket.close(1013, f"{MOST_PAGES // 2} pages of the lab are open already: close one of them")
            return
        session = Session(websocket, folder)
        connected.add(session)
        try:
            await websocket.accept()
            await session.run()
        finally:
            connected.discard(session)

    routes = [
        Route("/", index),
        Route("/sandbox.html", sandbox),
        Route("/assets/{name}", asset),
        Route("/scenarios", scenarios),
        Route("/sweep", sweep),
        Route("/sweep/start", start_sweep, methods=["POST"]),
        Route("/sweep/stop", stop_sweep, methods=["POST"]),
        WebSocketRoute("/engine", engine),
    ]
    return Guard(Starlette(routes=routes), token)


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an entry of the log is about this server, and not about a text of a client that is not UTF-8."""
    return not (record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError))


def listening(port: int) -> socket.socket:
    """A socket on the loopback interface; port 0 is any that is free. Raises RequestError."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
    except (OSError, OverflowError) as error:
        found.close()
        raise RequestError(f"--port {port}: {error}; accepted: a free port, or 0 for any") from None
    return found


class Server:
    """The server on its socket, with the address to open."""

    def __init__(self, folder: Folder, port: int = 0) -> None:
        """Raises RequestError."""
        if not (PAGE / "index.html").is_file():
            raise RequestError("the page of the lab is not built; run make lab, which needs Node, npm and rustup")
        self._socket = listening(port)
        self._sweeps = Sweeps(folder)
        token = secrets.token_urlsafe(24)
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://{HOST}:{self.port}/?token={token}"
        settings = uvicorn.Config(
            application(folder, token, self._sweeps),
            log_level="error",
            access_log=False,
            server_header=False,
            ws_max_size=LARGEST_MESSAGE,
            ws_max_queue=4,
            http=Connection,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=1,
            lifespan="off",
        )
        logging.getLogger("uvicorn.error").addFilter(_is_ours)
        self.uvicorn = uvicorn.Server(settings)

    def run(self, on_started: Callable[[], object] = lambda: None) -> None:
        """Serves until interrupted. `on_started` is called once the socket listens, in another thread."""

        def tell() -> None:
            while not self.uvicorn.started:
                if self.uvicorn.should_exit:
                    return
                time.sleep(0.02)
            on_started()

        threading.Thread(target=tell, daemon=True).start()
        try:
            self.uvicorn.run(sockets=[self._socket])
        finally:
            self._sweeps.close()
