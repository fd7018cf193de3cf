"""One page that is connected: its calls go to a process of its own, which ends with the connection.

A page may vanish, stop a call or ask for nonsense at any moment: the process is then ended, and nothing else is
affected.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from thalweg.lab import own_session
from thalweg.lab.folder import Folder
from thalweg.lab.plan import SweepRequest, is_setup
from thalweg.lab.wire import packed
from thalweg.lab.worker import MOST_PACKETS, MOST_TRIALS, serve

MOST_SECONDS = 600.0
"""A call that takes longer is ended."""
_LATEST_S = 1e9
_NAMES = ("about", "check", "run", "packets", "trials", "live", "estimate", "results", "result")
_WITHOUT_SETUP = ("about", "estimate", "results", "result")
_SPAWN = multiprocessing.get_context("spawn")


class RefusedError(ValueError):
    """A message that is not a call."""


def words_of(text: str | bytes) -> Any:
    """What a message says. Raises RefusedError."""
    try:
        words = json.loads(text)
        json.dumps(words, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # half a pair of surrogates is not text either
        raise RefusedError("a message is not JSON") from None
    return words


def call_of(text: str) -> dict[str, Any]:
    """The call, or the stop, that a message is. Raises RefusedError."""
    call = words_of(text)
    if not isinstance(call, dict) or not isinstance(call.get("id"), int):
        raise RefusedError("a message has no number")
    if call.get("stop") is True:
        return call
    setup = call.get("setup")
    if call.get("name") not in _NAMES or (call["name"] not in _WITHOUT_SETUP and not isinstance(setup, dict)):
        raise RefusedError("a message names no call")
    if call["name"] == "estimate" and SweepRequest.of(call.get("sweep")) is None:
        raise RefusedError("a sweep has no axes")
    if call["name"] == "result" and not isinstance(call.get("path"), str):
        raise RefusedError("a result has no path")
    if isinstance(setup, dict) and not is_setup(setup):
        raise RefusedError("a scenario is not text")
    seeds = _seeds_of(call)
    if not isinstance(seeds, list) or not all(_is_seed(seed) for seed in seeds):
        raise RefusedError("a seed is not a number")
    if call["name"] == "run" and not isinstance(call.get("traced"), bool):
        raise RefusedError("a run does not say whether it is traced")
    if call["name"] == "packets" and not _is_part(call.get("fromS"), call.get("most")):
        raise RefusedError(f"packets are asked for from a time on, {MOST_PACKETS} at most")
    if len(seeds) > MOST_TRIALS:
        raise RefusedError(f"more than {MOST_TRIALS} trials at once")
    return call


def _is_seed(value: object) -> bool:
    return (
        isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 21 and int(value) < 2**64
    )


def _seeds_of(call: dict[str, Any]) -> object:
    match call["name"]:
        case "run" | "packets" | "live":
            return [call.get("seed")]
        case "trials":
            return call.get("seeds")
        case _:
            return []


def _is_part(from_s: object, most: object) -> bool:
    if isinstance(from_s, bool) or isinstance(most, bool) or not isinstance(from_s, int | float):
        return False
    return 0 <= from_s < _LATEST_S and isinstance(most, int) and 0 <= most <= MOST_PACKETS


@dataclass(frozen=True)
class _Worker:
    """A process that answers, and our end of its pipe."""

    process: BaseProcess
    pipe: Connection

    @classmethod
    def start(cls, folder: Folder) -> _Worker:
        pipe, other = _SPAWN.Pipe()
        process = _SPAWN.Process(target=serve, args=(other, folder), daemon=True)
        process.start()
        other.close()
        return cls(process, pipe)

    def end(self) -> None:
        own_session.kill(self.process)
        self.process.join()


class Session:
    """A connected page and the process that answers it."""

    def __init__(self, socket: WebSocket, folder: Folder) -> None:
        self._socket = socket
        self._folder = folder
        self._worker: asyncio.Task[_Worker] | None = None  # which may still start
        self._answering: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Until the page has gone."""
        try:
            while True:
                call = call_of(await self._socket.receive_text())
                if call.get("stop") is True:
                    await self._end()
                    if self._answering is not None:
                        await asyncio.wait([self._answering])
                    continue
                if self._answering is not None and not self._answering.done():
                    raise RefusedError("a call before the answer to the last one")
                if self._worker is None:
                    self._worker = asyncio.create_task(asyncio.to_thread(_Worker.start, self._folder))
                self._answering = asyncio.create_task(self._answer(call, self._worker))
        except RefusedError as refused:
            with suppress(RuntimeError):
                await self._socket.close(1008, str(refused))
        except (WebSocketDisconnect, KeyError, RuntimeError):
            pass  # The page has gone, or has sent bytes.
        finally:
            await self._end()

    async def _answer(self, call: dict[str, Any], worker: asyncio.Task[_Worker]) -> None:
        try:
            async with asyncio.timeout(MOST_SECONDS):
                pipe = (await asyncio.shield(worker)).pipe
                await asyncio.to_thread(pipe.send_bytes, json.dumps(call).encode())
                while True:
                    data = await asyncio.to_thread(pipe.recv_bytes)
                    await self._socket.send_bytes(data)
                    if not data[4:].startswith(b'{"id": %d, "finished"' % call["id"]):
                        return
        except TimeoutError:
            await self._fail(call, f"the call took longer than {MOST_SECONDS:.0f} s")
        except (EOFError, OSError):
            if self._worker is worker:  # nobody has stopped it
                await self._fail(call, "the process of the trial has ended: it may have needed too much memory")
        except (WebSocketDisconnect, RuntimeError):
            pass  # The page has gone.

    async def _fail(self, call: dict[str, Any], why: str) -> None:
        await self._end()
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_bytes(packed({"id": call["id"], "failed": why}))

    async def _end(self) -> None:
        """Ends the process, also one that is about to start; the next call starts another one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            with suppress(OSError):  # it could not start
                await asyncio.to_thread((await asyncio.shield(worker)).end)
