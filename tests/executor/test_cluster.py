"""Dask: trials of this machine on its workers, and what is lost with them, or never there, is said or repeated."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import pytest

from short_download import SCENARIO
from thalweg import ControllerError, RequestError, Scenario, Sweep, SweepResult, _native
from thalweg.base.executor import Batch, Failed, Finished
from thalweg.cli import main
from thalweg.engine.outcome import Outcomes, Trial
from thalweg.trials.choice import chosen
from thalweg.trials.cluster import Cluster, connected
from thalweg.trials.gathering import gather
from thalweg.trials.store.shard import Shard

Capture = pytest.CaptureFixture[str]
AIMD = Path(__file__).parents[2] / "examples" / "controllers" / "aimd.py"


@pytest.fixture(name="scenario")
def scenario_file(tmp_path: Path) -> str:
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return str(file)


@contextmanager
def scheduler(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler with workers, each a process, as they run on many machines."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    head = f"from distributed.cli import dask_scheduler as s; s.main(['--port', '{port}', '--no-dashboard'])"
    tail = (
        f"from distributed.cli import dask_worker as w; w.main(['{address}', '--nthreads', '1', '--no-dashboard'])"
    )
    lines = [head, *[tail] * workers]
    processes = [subprocess.Popen([sys.executable, "-c", line], **quiet) for line in lines]  # type: ignore[call-overload]
    try:
        yield address, processes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def height(trial: Trial) -> int:
    assert trial.trace is not None
    return trial.trace.flows.height


def test_a_cluster_plays_the_trials_of_this_machine(scenario: str, tmp_path: Path) -> None:
    axes = {"path.rate": ["5 Mbps", "20 Mbps"], "controller.main": ["cubic", "c4", str(AIMD)]}
    own = Scenario.load(scenario, {"path.loss": '{ model = "random", rate = "1 %" }', "sample": "100 ms"})
    own_class = Scenario.load(scenario)
    kept: dict[int, Outcomes] = {}
    with connected("local:2") as executor:
        sweep = Sweep(scenario, axes, trials=4)
        sweep.play(tmp_path / "there", executor, Shard())
        gather(executor, [own, own_class], range(1, 41), kept.__setitem__)
        ends = executor.each(own, range(1, 4), height)
        assert executor.name == "2 workers"
        assert executor.width == executor.lanes == 2
    sweep.run(tmp_path / "here")
    tables = [
        SweepResult.load(tmp_path / name).scan().drop("core_s").sort("index", "seed").collect()
        for name in ("here", "there")
    ]
    assert tables[0].equals(tables[1], null_equal=True)
    here = own.trials(40)
    assert kept[0].trials.drop("core_s").equals(here.trials.drop("core_s"))
    assert kept[0].flows.equals(here.flows)
    assert kept[0].series(39, "main").received.tolist() == here.series(39, "main").received.tolist()
    assert kept[1].n == 40
    assert ends == [height(own.run(seed, trace=True)) for seed in (1, 2, 3)]


def test_an_address_that_nobody_answers_at_is_one_message(
    scenario: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thalweg.trials.cluster._PATIENCE_S", 1.0)
    plan = tmp_path / "plan.toml"
    plan.write_text(f'scenario = "{scenario}"\ntrials = 1\n[axes]\n"path.rate" = ["5 Mbps"]\n', encoding="utf-8")
    for address, problem in (
        ("tcp://127.0.0.1:9", "nobody answers"),
        ("nonsense", "accepted: the address of a running dask scheduler"),
        ("local:0", "accepted: local:N with N from 1 to 1024"),
        ("local", "accepted: local:N with N from 1 to 1024"),
    ):
        assert main(["sweep", str(plan), "--out", str(tmp_path / "out"), "--cluster", address]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: --cluster '{address}': ")
        assert problem in said
        assert said.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_threads_of_this_machine_and_a_cluster_are_not_asked_for_together() -> None:
    with pytest.raises(RequestError, match="--jobs cannot be combined with --cluster"), chosen(2, "local:1"):
        pass


@pytest.mark.soak
def test_workers_of_another_engine_are_refused(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, batch = _native.engine(), Batch([Scenario.load(scenario)], [1])

    def play(address: str) -> None:
        with connected(address) as executor:  # the worker may come before, or later
            executor.play([batch], lambda result: None)

    with scheduler(1) as (address, _):
        play(address)
        monkeypatch.setattr(_native, "engine", lambda: "0.0.9+0123456789abcdef")
        with pytest.raises(RequestError) as caught:
            play(address)
    assert "1 of 1 workers, tcp://" in str(caught.value)
    assert f"has Thalweg {engine}, this command 0.0.9+0123456789abcdef; " in str(caught.value)
    assert "all workers need the same version" in str(caught.value)
    with connected("local:1") as executor:
        with pytest.raises(RequestError, match="a worker has Thalweg"):
            executor.play([batch], lambda result: None)
        with pytest.raises(RequestError, match="a worker has Thalweg"):
            executor.each(Scenario.load(scenario), [1], height)


def test_a_worker_keeps_the_memory_of_a_trial_for_the_next_one() -> None:
    """Each of the 20 trials would ask the kernel for some 100 pages, as Dask has workers do."""
    code = """
from resource import RUSAGE_SELF, getrusage
from thalweg import Scenario, _native
from thalweg.trials.portable import document_of
from thalweg.trials.remote import play
documents = [document_of(Scenario.load("c4/simple-20mbps"), False)]
play(_native.engine(), documents, [[1, 2]])
before = getrusage(RUSAGE_SELF).ru_minflt
play(_native.engine(), documents, [range(3, 23)])
print(getrusage(RUSAGE_SELF).ru_minflt - before)
"""
    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 400


@pytest.mark.soak
def test_what_was_lost_with_a_worker_is_repeated(scenario: str) -> None:
    own = Scenario.load(scenario)
    found: list[Finished | Failed] = []
    with scheduler(2) as (address, processes), connected(address) as executor:
        assert isinstance(executor, Cluster)
        while executor.name != "2 workers":
            time.sleep(0.1)
            executor._looked = 0.0

        def take(result: Finished | Failed) -> None:
            found.append(result)
            if len(found) == 3:
                os.kill(processes[1].pid, signal.SIGKILL)

        executor.play((Batch([own], range(first, first + 50)) for first in range(1, 1001, 50)), take)
    seeds = sorted(seed for result in found if isinstance(result, Finished) for seed in result.seeds)
    assert seeds == [*range(1, 1001)]


def test_a_scheduler_that_is_lost_is_said_and_nothing_is_lost(scenario: str, tmp_path: Path) -> None:
    sweep = Sweep(scenario, {"path.rate": {"from": "1 Mbps", "to": "50 Mbps", "steps": 40}}, trials=50)
    with scheduler(1) as (address, processes), connected(address) as executor:
        killed: list[int] = []

        def show(name: str, done: int, total: int) -> None:
            if done > 200 and not killed:
                killed.append(done)
                os.kill(processes[0].pid, signal.SIGKILL)

        with pytest.raises(RequestError, match="the scheduler no longer answers"):
            sweep.play(tmp_path / "out", executor, Shard(), show)
    assert SweepResult.load(tmp_path / "out").scan().collect().height >= killed[0]
    result = sweep.run(tmp_path / "out")
    assert result.scan().collect().height == 2000
    assert result.failed == 0


def test_a_trial_that_ends_its_workers_is_said_with_its_seed(scenario: str) -> None:
    def end(trial: Trial) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        connected("local:1") as executor,
        pytest.raises(ControllerError, match=r"the workers that played it have ended each time \(seed 7\)"),
    ):
        executor.each(Scenario.load(scenario), [7], end)


def test_traces_of_a_scheduler_that_is_lost_are_said_to_be(scenario: str) -> None:
    def late(trial: Trial) -> None:
        time.sleep(0.2)

    with scheduler(1) as (address, processes), connected(address) as executor:

        def kill(finished: int) -> None:
            processes[0].kill()

        with pytest.raises(RequestError, match="the scheduler no longer answers"):
            executor.each(Scenario.load(scenario), range(1, 100), late, kill)


def test_a_result_that_dask_has_no_value_for_is_of_a_lost_scheduler(
    scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does where the loop of the client is cancelled while somebody waits."""

    async def cancelled(*args: object, **options: object) -> None:
        raise asyncio.CancelledError

    own = Scenario.load(scenario)
    with connected("local:1") as executor:
        assert isinstance(executor, Cluster)
        monkeypatch.setattr(executor._client, "_gather", cancelled)
        with pytest.raises(RequestError, match="the scheduler no longer answers"):
            executor.play([Batch([own], range(1, 3))], lambda result: None)


@pytest.mark.filterwarnings("error")
def test_two_commands_may_have_workers_of_this_machine_at_once() -> None:
    with connected("local:1") as one, connected("local:1") as other:
        assert (one.name, other.name) == ("1 worker", "1 worker")


def test_the_script_of_the_manual_runs_as_a_script(tmp_path: Path) -> None:
    page = Path("docs/how-to/clusters.md").read_text(encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(page.rpartition("```python\n")[2].partition("```")[0], encoding="utf-8")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "100 2 workers\n", "")
