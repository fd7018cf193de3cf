"""A sweep that a page has started: in a process of its own, one at a time for each server.

It goes on when the page vanishes, and any page of this server sees how far it is and may stop it. It ends with the
server. Whatever ends it, what is finished is kept: the process stops as `thalweg sweep` does at Ctrl-C, when it is
told so or when the other end of its pipe is closed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError, ThalwegError
from thalweg.base.progress import Progress
from thalweg.engine import libraries
from thalweg.experiments.sweep import Sweep
from thalweg.experiments.sweep.plan import Plan
from thalweg.experiments.sweep.run import DAY_S
from thalweg.experiments.sweep.store import Store
from thalweg.lab import own_session
from thalweg.lab.folder import NO_LIBRARIES, Folder
from thalweg.lab.plan import SweepRequest
from thalweg.trials.machine import ThisMachine
from thalweg.trials.store.shard import Shard

_PROGRESS_EVERY_S = 0.1
_GRACE_S = 10.0
"""How long a sweep may take to write what is finished, once it is told to stop."""
_SPAWN = multiprocessing.get_context("spawn")


def estimated(folder: Folder, asked: SweepRequest) -> dict[str, Any]:
    """What would run and how long it would take, as `--dry-run` says, and what does the same elsewhere.

    Raises RequestError.
    """
    plan = asked.plan(folder)
    place = asked.place(folder, plan)
    found = Sweep.of(plan).estimate(place if place.is_dir() else None)
    is_long = found.wall_s > DAY_S
    return {
        "points": found.points,
        "trials": found.trials,
        "present": found.present,
        "trialS": found.trial_s,
        "wallS": found.wall_s,
        "width": found.width,
        "isLong": is_long,
        "plan": plan.file.text,
        "file": asked.file,
        "command": asked.command(is_long),
    }


class Sweeps:
    """The sweep of a server: the one that runs, or ran last."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        """Ours, of a sweep that runs; `_hear` closes it."""
        self._hearing: threading.Thread | None = None
        self._is_stopping = False
        self._state: dict[str, Any] = {"number": 0, "isRunning": False}

    @property
    def state(self) -> dict[str, Any]:
        """How far it is, as the page reads it."""
        with self._lock:
            return dict(self._state)

    def start(self, asked: SweepRequest) -> dict[str, Any]:
        """Starts a sweep. Raises RequestError if one runs; what else is wrong, the state says."""
        with self._lock:
            if self._state["isRunning"]:
                raise RequestError(
                    f"the sweep {self._state['name']} runs already; start another one when it has ended"
                )
            number = self._state["number"] + 1
            self._state = {"number": number, "name": asked.name, "isRunning": False, "done": 0, "trials": 0}
            try:
                self._begin(asked)
            except Exception as error:  # whatever it is, another sweep may start
                self._state["refused"] = f"no process for the sweep could be started: {error}"
            else:
                self._state["isRunning"] = True
            return dict(self._state)

    def stop(self) -> None:
        """Has the sweep stop; what is finished is kept. One that does not within ten seconds is ended."""
        with self._lock:
            if self._pipe is None or self._is_stopping:
                return
            self._is_stopping = True
            with suppress(OSError):  # it has ended
                self._pipe.send_bytes(b"stop")
            args = (self._process, self._hearing)
        threading.Thread(target=_end, args=args, daemon=True).start()

    def close(self) -> None:
        """Has it stop, and waits for that."""
        self.stop()
        with self._lock:
            process, hearing = self._process, self._hearing
        if process is not None and hearing is not None:
            _end(process, hearing)

    def _begin(self, asked: SweepRequest) -> None:
        """Starts the process, and who hears it."""
        pipe, other = _SPAWN.Pipe()
        with other:
            process = _SPAWN.Process(target=play, args=(other, self._folder, asked), daemon=True)
            hearing = threading.Thread(target=self._hear, args=(process, pipe), daemon=True)
            try:
                process.start()
                hearing.start()
            except BaseException:
                pipe.close()  # which stops the process, if there is one
                raise
        self._process, self._pipe, self._hearing, self._is_stopping = process, pipe, hearing, False

    def _hear(self, process: BaseProcess, pipe: Connection) -> None:
        """Takes what the process tells. What it says last is told when the process has ended."""
        last: dict[str, Any] | None = None
        with suppress(EOFError, OSError):
            while last is None:
                said = json.loads(pipe.recv_bytes())
                if said.pop("isLast", False):
                    last = said
                else:
                    self._tell(**said)
        connection.wait([process.sentinel])
        own_session.kill(process)  # what it has left
        process.join()
        with self._lock:
            pipe.close()
            self._pipe = None
            self._state.update(last or {"refused": _ended(self._is_stopping)}, isRunning=False)

    def _tell(self, **said: Any) -> None:
        with self._lock:
            self._state.update(said)


def _end(process: BaseProcess, hearing: threading.Thread) -> None:
    """Ends a process that takes too long to stop."""
    hearing.join(_GRACE_S)
    if hearing.is_alive():
        own_session.kill(process)


def _ended(is_stopping: bool) -> str:
    """What there is to say about a process that has ended without a last word."""
    if is_stopping:
        return "the process of the sweep did not stop and was ended; what it had written is kept"
    return "the process of the sweep has ended: it may have needed too much memory; what is finished is kept"


def play(pipe: Connection, folder: Folder, asked: SweepRequest) -> None:
    """Runs a sweep and tells how it goes; the process of `Sweeps`."""
    own_session.begin()
    try:
        os.chdir(folder.path)  # names of scenarios, controllers and stores begin here
        libraries.refuse(NO_LIBRARIES)
        plan = asked.plan(folder)
        said = _played(pipe, plan, asked.place(folder, plan).relative_to(folder.path))
    except (ThalwegError, _native.ScenarioError, _native.ControllerFailed, _native.AuditError) as error:
        said = {"refused": str(error)}
    except Exception as error:
        said = {"refused": f"a defect of thalweg: {error!r}"}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _say(pipe, {"isLast": True, **said})


def _played(pipe: Connection, plan: Plan, place: Path) -> dict[str, Any]:
    """Runs a sweep; what came of it, or what there is of one that was stopped, maybe before it had looked."""
    signal.signal(signal.SIGTERM, _interrupt)
    errors = {}
    try:
        threading.Thread(target=_stop_when_told, args=(pipe,), daemon=True).start()
        tally = Sweep.of(plan).play(place, ThisMachine(), Shard.read("1/1"), _teller(pipe))
        errors = {"errors": tally.errors}
        if tally.complete:
            done = tally.present + tally.ran
            ran = {"ran": tally.ran, "wallS": tally.wall_s}
            return {"isComplete": True, "done": done, "trials": tally.trials, **ran, **errors}
    except KeyboardInterrupt:
        pass
    except pl.exceptions.PanicException:  # an interruption met what Polars sets up when it is first used
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
            raise
    store = Store(place, _native.engine())
    store.load()
    trials = plan.space.count * plan.trials
    return {"isComplete": False, "done": store.height, "trials": trials, **errors}


def _teller(pipe: Connection) -> Progress:
    """Tells how far a sweep is, and how fast."""
    reported = begun = time.monotonic()
    first: int | None = None

    def tell(_: str, done: int, trials: int) -> None:
        nonlocal reported, begun, first
        now = time.monotonic()
        if first is None:
            first, begun = done, now
        if now - reported > _PROGRESS_EVERY_S:
            reported = now
            _say(
                pipe,
                {"done": done, "trials": trials, "perS": (done - first) / (now - begun) if now > begun else 0},
            )

    return tell


def _interrupt(*_: object) -> None:
    """Stops as Ctrl-C does, once: what is finished is then written."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _say(pipe: Connection, words: Mapping[str, Any]) -> None:
    with suppress(OSError):  # the server has gone, and this is told to stop
        pipe.send_bytes(json.dumps(words).encode())


def _stop_when_told(pipe: Connection) -> None:
    with suppress(EOFError, OSError):
        pipe.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    own_session.end_with_server(_GRACE_S)  # which can no longer end one that does not stop
