"""Runs cases in a separate process, which is replaced if it ends or hangs."""

from __future__ import annotations

import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from failure import Broken, of_exception
from guard import Guard, held_memory
from mutations import Step
from targets import ALL

_HANG_S = 60.0
"""Seconds without an answer; a case has two of the processor, and the machine may be busy."""
_START_S = 300.0
_WORN_OUT = 700 << 20
"""Bytes that a process holds after a case when it is replaced: what all its cases leave belongs to none."""
_MOST = 8 << 30


def play_forever(target: str) -> None:
    """Reads orders, one JSON document on each line, and answers each likewise."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST, _MOST))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with tempfile.TemporaryDirectory(prefix="thalweg-fuzz-") as folder:
        sandbox = Path(folder).resolve()
        os.chdir(sandbox)
        guard = Guard(sandbox)
        played = ALL[target](sandbox, guard)
        print(json.dumps({"ready": target}), file=answers, flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            case = order["case"] if "case" in order else played.make(random.Random(order["seed"]))
            answer: dict[str, Any] = {}
            if order.get("make"):
                answer["case"] = case
            else:
                try:
                    answer["end"] = played.play(case)
                except BaseException as error:
                    broken = of_exception(error)
                    answer |= {"kind": broken.kind, "message": broken.message, "case": case}
                answer["held"] = held_memory()
            print(json.dumps(answer), file=answers, flush=True)


class Player:
    """Runs cases of a target in another process."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Player:
        """Starts when it is first needed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the process."""
        self._end()

    def new(self, seed: int) -> str:
        """Plays the case of a seed and returns how it ended. Raises Broken, which holds the case in `case`."""
        return self._play({"seed": seed})

    def again(self, case: list[Step]) -> str:
        """Plays a case. Raises Broken."""
        return self._play({"case": case})

    def made(self, seed: int) -> list[Step]:
        """The case of a seed."""
        case: list[Step] = self._ask({"seed": seed, "make": True})["case"]
        return case

    def _play(self, order: dict[str, Any]) -> str:
        answer = self._ask(order)
        if "kind" in answer:
            raise Found(answer["kind"], answer["message"], answer.get("case"))
        if answer["held"] > _WORN_OUT:
            self._end()
        return str(answer["end"])

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        self.start()
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        line = self._line(_HANG_S)
        if line is None:
            died = self._process.poll()
            self._end()
            return {"kind": "hang", "message": f"no answer within {_HANG_S:g} s"} if died is None else _death(died)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def start(self) -> None:
        """Starts the process, if there is none."""
        if self._process:
            return
        self._rest = b""
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent), "play", self.target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if self._line(_START_S) is None:
            self._end()
            raise RuntimeError(f"{self.target} does not start")

    def _line(self, patience_s: float) -> bytes | None:
        """The next line of the process; None if it ended, or says nothing."""
        assert self._process
        assert self._process.stdout
        end = time.monotonic() + patience_s
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                return None
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            if not data:
                self._process.wait()
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


class Found(Broken):
    """A failure with the case that showed it; None if the process died of it."""

    def __init__(self, kind: str, message: str, case: list[Step] | None) -> None:
        super().__init__(kind, message)
        self.case = case


def _death(status: int) -> dict[str, Any]:
    return {"kind": f"the process ended with status {status}", "message": ""}
