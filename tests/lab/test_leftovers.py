"""Sweeps and servers that end in odd ways, and what they leave: nothing that runs, and nothing that blocks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.test_server import SIMPLE, Lab, ask, eventually, running, setup
from lab.test_sweeps import LONG, asked, call, ended, start, state
from thalweg import Scenario

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "mine"
    path.mkdir()
    (path / "one.toml").write_text(SIMPLE)
    return path


@pytest.fixture
def lab(folder: Path, static: str) -> Iterator[Lab]:
    with running(folder) as found:
        yield found


def test_what_is_unknown_in_a_call_hinders_no_sweep(lab: Lab) -> None:
    deep = "[" * 500 + "]" * 500
    for wanted in (asked(x=0), asked(setup=setup(x=0))):
        start_deep = json.dumps(wanted).replace('"x": 0', f'"x": {deep}')
        assert call(lab, "/sweep/start", start_deep)[0] == 200
        assert ended(lab)["isComplete"]


def test_a_sweep_that_is_stopped_at_once_tells_what_there_was(lab: Lab) -> None:
    wanted = asked(name="again", setup=setup(LONG), trials=5000)
    start(lab, wanted)
    assert eventually(lambda: state(lab).get("done", 0) > 4, 120)
    assert call(lab, "/sweep/stop", "")[0] == 200
    before = ended(lab)["done"]
    start(lab, wanted)
    for _ in range(3):  # more than once is as once
        assert call(lab, "/sweep/stop", "")[0] == 200
    found = ended(lab)
    assert (found["isComplete"], found["trials"]) == (False, 20_000)
    assert before <= found["done"] < 20_000
    start(lab, asked(name="another"))
    assert ended(lab)["isComplete"]


def test_a_sweep_whose_scenario_is_edited_meanwhile_is_stopped_as_it_began(lab: Lab, folder: Path) -> None:
    (folder / "edited.toml").write_text(LONG)
    start(lab, asked(name="edited", setup=setup(LONG, origin="edited.toml"), trials=5000))
    assert eventually(lambda: state(lab).get("done", 0) > 4, 120)
    (folder / "edited.toml").write_text("another one\n")
    assert call(lab, "/sweep/stop", "")[0] == 200
    found = ended(lab)
    assert "refused" not in found
    assert (found["isComplete"], found["trials"]) == (False, 20_000)
    assert 4 < found["done"] < 20_000


def test_the_file_that_opens_the_page_goes_with_a_server_that_is_terminated(
    folder: Path, static: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TMPDIR", str(tmp_path)), ("HOME", str(tmp_path)), ("BROWSER", "true")):
        monkeypatch.setenv(name, value)
    with running(folder, "--open"):
        assert eventually(lambda: any(tmp_path.glob("thalweg-lab-*")), 60)
    assert not any(tmp_path.glob("thalweg-lab-*"))


def test_a_run_ends_with_a_server_that_is_killed(folder: Path, static: str) -> None:
    longest = {"flow.main.download": "10000 GB", "time_limit": "1000000 s"}  # about an hour of a core
    endless = Scenario.load("c4/simple-200mbps", overrides=longest).toml
    with running(folder) as own, own.socket() as connection:
        ask(connection, name="about")  # its process is there
        left = processes("--ppid", own.process.pid)
        before = sum(left.values())
        connection.send(
            json.dumps({"id": 2, "name": "run", "setup": setup(endless), "seed": "1", "traced": False})
        )
        assert eventually(lambda: sum(processes("--ppid", own.process.pid).values()) > before + 1, 60)
        own.process.send_signal(signal.SIGKILL)
        own.process.wait(60)
        assert eventually(lambda: not any(processes("-p", process) for process in left), 60)


def soaked(*ways: str, but: str) -> list[Any]:
    """Ways to end a process: each takes many seconds, and one has to do where time counts."""
    return [but, *(pytest.param(way, marks=pytest.mark.soak) for way in ways)]


NEVER = """
import time
from pathlib import Path
import thalweg

class Never(thalweg.Controller):
    def on_ack(self, event, path):
        Path("it-hangs").touch()
        time.sleep(3600)
"""
"""A controller whose handler does not return as long as a test lasts."""
HANGING: dict[str, Any] = {"axes": [{"key": "controller.main", "values": "./never.py, cubic"}], "trials": 50}


@pytest.fixture
def hanging(folder: Path) -> Callable[[], bool]:
    """Whether the handler that never returns has been called."""
    (folder / "never.py").write_text(NEVER)
    return (folder / "it-hangs").exists


@pytest.mark.parametrize("how", soaked("stop", "TERM", "INT", "KILL", but="vanish"))
def test_an_estimate_whose_handler_never_returns_leaves_no_process(
    folder: Path, static: str, hanging: Callable[[], bool], how: str
) -> None:
    with running(folder, "--python") as own, own.socket() as connection:
        ask(connection, name="about")  # its process is there
        sessions = sessions_of(own)
        assert len(sessions) == 1
        connection.send(json.dumps({"id": 2, "name": "estimate", "sweep": asked(**HANGING)}))
        assert eventually(hanging, 120)
        assert len(processes("-s", sessions[0])) > 1  # else there is nothing that could be left
        match how:
            case "stop":
                connection.send(json.dumps({"id": 2, "stop": True}))
            case "vanish":
                connection.close()
            case _:
                own.process.send_signal(signal.Signals[f"SIG{how}"])
        assert eventually(lambda: not processes("-s", sessions[0]), 120)


@pytest.mark.parametrize("how", soaked("KILL", "KILL the sweep", but="stop"))
def test_a_sweep_whose_handler_never_returns_leaves_no_process(
    folder: Path, static: str, hanging: Callable[[], bool], how: str
) -> None:
    with running(folder, "--python") as own:
        start(own, asked(**HANGING))
        assert eventually(hanging, 120)
        sessions = sessions_of(own)
        assert len(sessions) == 1
        assert len(processes("-s", sessions[0])) > 1
        match how:
            case "stop":
                assert call(own, "/sweep/stop", "")[0] == 200
            case "KILL":
                own.process.send_signal(signal.SIGKILL)
            case _:
                os.kill(sessions[0], signal.SIGKILL)
        assert eventually(lambda: not processes("-s", sessions[0]), 120)
        assert how != "KILL the sweep" or "has ended" in ended(own)["refused"]


def sessions_of(lab: Lab) -> list[int]:
    """The sessions that processes of a server have begun."""
    return [process for process in processes("--ppid", lab.process.pid) if process in processes("-s", process)]


def processes(which: str, number: int) -> dict[int, int]:
    """Processes that have not ended, each with the processor time that it has taken, in seconds."""
    words = ["ps", "-o", "pid=,cputimes=,stat=", which, str(number)]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {int(process): int(taken) for process, taken, how in rows if not how.startswith("Z")}
