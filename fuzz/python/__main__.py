"""Plays cases of targets in Python, as `src/worker.rs` plays the cases of the engine: the same orders and answers.

python fuzz/python work TARGET SEED FIRST MILLISECONDS   plays new cases, from a number on
python fuzz/python check TARGET FILE...                  plays the cases of files
python fuzz/python make TARGET SEED                      prints the case of a seed

A case may name what was random when its worker made the files that it changes, so the text of a failed one
follows: `case JSON`.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TextIO

from failure import Broken, of_exception
from guard import Guard, held_memory, peak_memory
from mutations import Step
from targets import Target

_START_S, _HANG_S = 300, 60
"""Seconds after which the process ends: of its start, and of a case, which has two of the processor."""
_WORN_OUT = 700 << 20
"""Bytes that a process holds after a case when it is replaced: what all its cases leave belongs to none."""
_MOST = 8 << 30
_DIED = 3


def main() -> int:
    """Carries out one order: 0 if every rule held, 1 if not."""
    order, name, *rest = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (_MOST, _MOST))
    signal.alarm(_START_S)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    files = [Path(file).absolute() for file in rest] if order == "check" else []
    with tempfile.TemporaryDirectory(prefix="thalweg-fuzz-") as folder:
        sandbox = Path(folder).resolve()
        os.chdir(sandbox)
        target: Target = import_module(f"targets.{name.replace('-', '_')}").TARGET(sandbox, Guard(sandbox))
        match order:
            case "check":
                return _check(target, files, answers)
            case "make":
                answers.write(_text(target.make(Random(int(rest[0])))))
                answers.flush()
            case _:
                seed, first, milliseconds = rest
                _work(target, f"{seed} {name}", int(first), int(milliseconds) / 1e3, answers)
    return 0


def _work(target: Target, seed: str, number: int, span_s: float, answers: TextIO) -> None:
    ends: Counter[str] = Counter()
    begin, peak = time.monotonic(), 0
    while time.monotonic() - begin < span_s and held_memory() < _WORN_OUT:
        case = int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8])
        number += 1
        print(f"at {case} {_counts(ends, peak)}", file=answers, flush=True)
        signal.alarm(_HANG_S)
        steps = target.make(Random(case))
        if broken := _played(target, steps, ends):
            print(_line(broken), file=answers)
            print(f"case {json.dumps(_text(steps))}", file=answers, flush=True)
        peak = max(peak, peak_memory())  # the guard forgets the one of the case before
    print(f"done {_counts(ends, peak)}", file=answers, flush=True)


def _check(target: Target, files: list[Path], answers: TextIO) -> int:
    status = 0
    for file in files:
        print(f"at {file}", file=answers, flush=True)
        broken = _read_and_played(target, file)
        print(_line(broken) if broken else "held", file=answers, flush=True)
        status |= broken is not None
    return status


def _read_and_played(target: Target, file: Path) -> Broken | None:
    try:
        case = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        return Broken("not a case", str(error))
    return _played(target, case, Counter())


def _played(target: Target, case: list[Step], ends: Counter[str]) -> Broken | None:
    signal.alarm(_HANG_S)
    try:
        ends[target.play(case)] += 1
    except BaseException as error:
        return of_exception(error)
    finally:
        signal.alarm(0)
    return None


def _text(case: list[Step]) -> str:
    return "".join(f"{json.dumps(step)}\n" for step in case)


def _counts(ends: Counter[str], peak: int) -> str:
    return f"{ends['played']} {ends['stopped']} {ends['refused']} {peak}"


def _line(broken: Broken) -> str:
    return f"failed {' '.join(broken.kind.split())}\t{' '.join(broken.message.split())}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        sys.exit(_DIED)
