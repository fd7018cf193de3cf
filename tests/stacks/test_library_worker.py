"""The process that plays a trial of a library: what of it is heard, limited and ended."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import thalweg
from thalweg.trials.library_worker import Trial
from toys import Toy, small, small_text

FAILING = """
from types import SimpleNamespace
from thalweg.trials.library_worker import Trial
def answer(seed, traced):
    raise MemoryError(f"seed {seed}, {traced}")
print(Trial(SimpleNamespace(libraries=["libtoy.so"], answer=answer), 60.0).answer(7, False))
"""


def ended_process(code: str) -> int:
    """The number of a process that has ended, of which nobody has asked how."""
    child = os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", code], os.environ)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    return child


def heard(code: str, answer: bytes, output: bytes) -> dict[str, Any]:
    """What is heard of a process that has written these, and ended."""
    asker, _ = os.pipe()
    answer_out, answer_in = os.pipe()
    output_out, output_in = os.pipe()
    os.write(answer_in, answer)
    os.write(output_in, output)
    os.close(answer_in)
    os.close(output_in)
    trial = Trial(SimpleNamespace(libraries=["libtoy.so"]), 60.0, asker)
    return trial.hear(ended_process(code), answer_out, output_out)


def test_the_last_line_is_heard_when_it_and_the_end_come_at_once() -> None:
    found = heard("import os; os.abort()", b"", b"first\nassertion failed\n")
    assert found["error"] == 'libtoy.so crashed with SIGABRT; the last line that it printed: "assertion failed"'
    assert found["printed"] == [len("first\nassertion failed\n"), "first\nassertion failed"]


def test_an_answer_is_heard_whole_when_it_and_the_end_come_at_once() -> None:
    answer = {"record": "x" * 40_000, "core_s": 1.0}
    assert heard("", json.dumps(answer).encode(), b"") == answer
    assert heard("", json.dumps(answer).encode(), b"hello")["printed"] == [5, "hello"]


def test_half_an_answer_is_none() -> None:
    assert heard("raise SystemExit(3)", b'{"rec', b"")["error"] == "libtoy.so ended its process with status 3"


def test_what_fails_in_the_process_is_said_and_not_blamed_on_the_library() -> None:
    command = [sys.executable, "-c", FAILING]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    expected = {"failed": "StackError", "error": "the trial could not be played: MemoryError('seed 7, False')"}
    assert done.stdout == f"{expected}\n", done.stderr


def test_a_lower_limit_of_memory_stays(toy: Toy, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(small_text(toy()))
    lower = 3 << 30  # bytes; a trial has 4 GiB where more is allowed
    done = subprocess.run(
        [str(Path(sys.executable).with_name("thalweg")), "run", str(file), "-n", "1"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (lower, lower)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("fault", ["FORK", "FORK_DAEMON"])
def test_a_process_that_a_library_forks_is_not_waited_for(toy: Toy, fault: str) -> None:
    # It lives for longer than a test may take, and holds what descriptors it was given.
    forking = list(small(toy(FAULT=fault)).trials(4, jobs=1).trials["trace_hash"])
    assert forking == list(small(toy()).trials(4, jobs=1).trials["trace_hash"])


@pytest.mark.parametrize("fault", ["FORK_AND_ABORT", "FORK_DAEMON_AND_ABORT"])
def test_a_crash_is_named_although_a_forked_process_lives_on(toy: Toy, fault: str) -> None:
    with pytest.raises(thalweg.StackError, match=r"datagram_in .* crashed with SIGABRT, at 0\.\d+ s"):
        small(toy(FAULT=fault)).run(1)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says whether a process lives")
def test_a_process_that_a_library_forks_ends_with_its_trial(toy: Toy) -> None:
    with pytest.raises(thalweg.StackError, match="forked process") as raised:
        small(toy(FAULT="FORK_AND_ABORT")).run(1)
    found = re.search(r"forked process (\d+)", str(raised.value))
    assert found
    until = time.monotonic() + 30  # it has its signal; the kernel ends it soon
    while is_alive(int(found[1])):
        assert time.monotonic() < until
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    """Whether a process runs: one that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
