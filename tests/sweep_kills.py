"""Kills sweeps on a cluster at random moments: the command, a worker, or the scheduler, as `kill -9` does.

`make kills-sweep` does it fifty times, `make soak PART=kills` a few times. What was killed is started again, and
the command run again, until the sweep is finished: the store then has the values of a sweep that nothing has
disturbed, byte for byte, and no trial twice.
"""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from short_download import SCENARIO
from thalweg import Sweep, SweepResult

_COMMAND = "import sys; from thalweg.cli import main; sys.exit(main())"
_SCHEDULER = "from distributed.cli import dask_scheduler as s; s.main(['--port', '{port}', '--no-dashboard'])"
_WORKER = (
    "from distributed.cli import dask_worker as w; "
    "w.main(['tcp://127.0.0.1:{port}', '--nthreads', '1', '--no-dashboard', '--no-nanny'])"
)
_PATIENCE_S = 300
_STARTS = 100
"""Times that a command is started again before the sweep must be finished."""
_QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@dataclass
class Cluster:
    """A scheduler and two workers, each a process."""

    port: int
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Starts what does not run; workers of a scheduler that was killed end by themselves."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.scheduler = _python(_SCHEDULER.format(port=self.port))
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        self.workers += [_python(_WORKER.format(port=self.port)) for _ in range(2 - len(self.workers))]

    def keep(self, command: subprocess.Popen[bytes], seconds: float) -> None:
        """Waits for a command, and starts again what ends meanwhile.

        Workers of a scheduler that was killed may end only after another one runs: a sweep would wait for ever.
        """
        until = time.monotonic() + seconds
        while True:
            self.start()
            try:
                command.wait(min(1, max(0, until - time.monotonic())))
                return
            except subprocess.TimeoutExpired:
                if time.monotonic() >= until:
                    raise

    def stop(self) -> None:
        """Ends all."""
        for process in filter(None, (self.scheduler, *self.workers)):
            process.kill()
            process.wait()


def _python(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program, *arguments], **_QUIET)  # type: ignore[call-overload,no-any-return]


def values(folder: Path) -> pl.DataFrame:
    """All trials of a sweep but for the time that they took."""
    return SweepResult.load(folder).scan().drop("core_s").collect().sort("index", "seed")


def kill_some(
    kills: int,
    seed: int,
    tell: Callable[[str], None] | None = None,
    trials: int = 40,
) -> dict[str, int]:
    """Kills so many times; returns what was killed how often. Fails if a store is not that of a quiet run.

    `trials` are those of each of 40 points. From one kill to the next it takes 0.3 to 1.2 times what an
    undisturbed sweep takes here: by fixed times a fast machine had finished before, and a slow one never did.
    """
    chance, tally = random.Random(seed), dict.fromkeys(("command", "worker", "scheduler"), 0)
    with tempfile.TemporaryDirectory(prefix="thalweg-sweep-kills-") as root, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        cluster = Cluster(probe.getsockname()[1])
        probe.close()
        folder = Path(root)
        (folder / "short.toml").write_text(SCENARIO.replace("200 kB", "10 MB"), encoding="utf-8")
        plan = folder / "plan.toml"
        plan.write_text(
            f'scenario = "short.toml"\ntrials = {trials}\n[axes]\n'
            '"path.rate" = { from = "5 Mbps", to = "50 Mbps", steps = 20 }\n"controller.main" = ["cubic", "c4"]\n',
            encoding="utf-8",
        )
        Sweep.load(plan).run(folder / "whole")
        whole, rounds = values(folder / "whole"), 0
        try:
            undisturbed_s = 0.0
            for name in ("first", "undisturbed"):  # the first one also starts the cluster
                begin = time.monotonic()
                _disturbed(plan, folder / name, cluster, chance, tally, 0, (0, 0), tell)
                undisturbed_s = time.monotonic() - begin
            pause_s = 0.3 * undisturbed_s, 1.2 * undisturbed_s
            while sum(tally.values()) < kills:
                rounds += 1
                out = folder / str(rounds)
                _disturbed(plan, out, cluster, chance, tally, kills, pause_s, tell)
                found = values(out)
                assert found.equals(whole, null_equal=True), f"sweep {rounds} has other values"
                assert not list(out.rglob(".thalweg-partial-*"))
        finally:
            cluster.stop()
    return {**tally, "sweeps": rounds}


def _disturbed(
    plan: Path,
    out: Path,
    cluster: Cluster,
    chance: random.Random,
    tally: dict[str, int],
    kills: int,
    pause_s: tuple[float, float],
    tell: Callable[[str], None] | None,
) -> None:
    """Runs one sweep to its end, whatever is killed."""
    line = ["sweep", str(plan), "--out", str(out), "-q", "--cluster", f"tcp://127.0.0.1:{cluster.port}"]
    for _ in range(_STARTS):
        cluster.start()
        command = _python(_COMMAND, *line)
        killed = ""
        while killed not in ("command", "scheduler"):
            try:
                cluster.keep(command, chance.uniform(*pause_s) if sum(tally.values()) < kills else _PATIENCE_S)
                break
            except subprocess.TimeoutExpired:
                assert sum(tally.values()) < kills, "the command does not end"
            killed = chance.choice(["command", "worker", "scheduler"])
            victim = {"command": command, "worker": cluster.workers[0], "scheduler": cluster.scheduler}[killed]
            assert victim is not None
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            tally[killed] += 1
            if tell:
                tell(f"{sum(tally.values())} of {kills}: {killed}")
        status = command.wait(_PATIENCE_S)
        if status == 0:
            return
        # Killed, or its scheduler was lost; a scheduler that was just started may not answer in time.
        assert status in (2, -signal.SIGKILL), f"status {status}"
        time.sleep(0.1)
    raise AssertionError(f"{_STARTS} runs were not enough")


if __name__ == "__main__":
    asked = int(sys.argv[1])
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for what, times in sorted(kill_some(asked, start, lambda text: print(text, flush=True)).items()):
        print(f"{times:5}  {what}")
    print(f"{asked} kills with seed {start}: every store has the values of an undisturbed sweep")
