"""Kills commands at random moments, as `kill -9` and the lack of memory do, and looks at what they leave.

`make kills` does it a hundred times, `make soak PART=kills` thirty times. After each kill the
result in the folder is the older or the new one, and whole; what was not being written is as it was; of a run in
real time no process and no network is left. A last run of each command, which is not killed, leaves exactly what
it leaves in an empty folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from real_time import REFUSAL, networks
from short_download import SCENARIO
from thalweg.base.seeds import first_seed
from thalweg.results.suite_result import SuiteResult

_RUN = [sys.executable, "-c", "import sys; from thalweg.cli import main; sys.exit(main())"]
_TRIALS = 20
_PATIENCE_S = 60.0
"""For what ends by itself: the process that bundles the drawing program of a page ends when it finds no reader."""
_STEPS = {".unfinished", ".whole", ".moving", ".partial", "trials"}
"""Folders on the way to a result; the trials of each seed stay, and what is killed leaves some."""


@dataclass
class Command:
    """A command that is killed again and again; its seed tells the result of one run from that of another."""

    name: str
    arguments: list[str]
    folder: Path
    """The folder that it writes to, or reads."""
    seed_option: str | None = "--seed-set"
    seed: int = 1
    """The seed of the result that is in the folder."""
    took_s: float = 0.0
    listing: set[str] = field(default_factory=set)
    """What it leaves when not killed."""

    def line(self, seed: int) -> list[str]:
        """The command with a seed."""
        return [*_RUN, *self.arguments, *((self.seed_option, str(seed)) if self.seed_option else ())]


def commands(root: Path) -> list[Command]:
    """Those that are killed, each after a run that was not."""
    suite = root / "suite"
    suite.mkdir()
    for name, size in (("one", "200 kB"), ("two", "300 kB"), ("three", "400 kB")):
        (suite / f"{name}.toml").write_text(SCENARIO.replace("200 kB", size), encoding="utf-8")
    stored, study, files = root / "result", root / "study", root / "files"
    files.mkdir()
    small = ["-c", "cubic", "--buffer", "1", "--rtt-ratio", "1", "--queue", "drop-tail", "--flows", "2"]
    known = [
        Command("suite", ["suite", str(suite), "-n", str(_TRIALS), "--out", str(stored)], stored),
        Command("study", ["study", "fairness", *small, "--duration", "20 s", "-n", "20", "-o", str(study)], study),
        Command("compare", ["compare", str(stored), str(stored)], stored, seed_option=None),
    ]
    if REFUSAL is None:
        trace, report = files / "trial.parquet", files / "report.json"
        # The files are of interest, and not the times: a late packet on a busy machine is no reason to fail.
        live = ["run", str(suite / "one.toml"), "--live", "--bound", "1 s"]
        live += ["--trace", str(trace), "--report", str(report)]
        known.append(Command("run --live", live, files, seed_option="--seed"))
    for command in known:
        begin = time.monotonic()
        _run(command, command.seed)
        command.took_s = time.monotonic() - begin
        command.listing = _listing(command.folder)
    return known


def kill_some(kills: int, seed: int, tell: Callable[[str], None] | None = None) -> dict[str, int]:
    """Kills commands so many times; returns what was found how often. Fails if anything is not as it should be."""
    chance = random.Random(seed)
    tally: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="thalweg-kills-") as folder:
        known = commands(Path(folder))
        for number in range(kills):
            command = known[number % len(known)]
            new = number + 2
            before = _contents(command.folder)
            ended = _kill(command.line(new), chance.uniform(0, command.took_s))
            found = _check(command, new, before)
            if tell:
                tell(f"{number + 1} of {kills}: {command.name}: {found}")
            for what in (command.name, f"{command.name}: {found}", *(["ended before the kill"] if ended else [])):
                tally[what] = tally.get(what, 0) + 1
        for command in known:
            _run(command, kills + 2)
            assert _listing(command.folder) == command.listing, command.name
    return tally


def _run(command: Command, seed: int) -> None:
    """Runs a command to its end; a verdict that fails (status 1) is an answer."""
    done = subprocess.run(command.line(seed), check=False, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr


def _kill(line: list[str], after_s: float) -> bool:
    """Starts a command, kills it, and waits until nothing of it is left; tells whether it had ended before."""
    mark = f"THALWEG_KILLS={uuid.uuid4()}"
    name, _, value = mark.partition("=")
    process = subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, name: value}
    )
    time.sleep(after_s)
    ended = process.poll() is not None
    own = str(Path("/proc/self/ns/net").readlink())
    made = {str(path) for entry in _marked(mark) for path in _network(entry)} - {own}
    process.send_signal(signal.SIGKILL)
    process.wait()
    begin = time.monotonic()
    while (left := [str(entry) for entry in _marked(mark)]) or (left := sorted(made & networks())):
        assert time.monotonic() - begin < _PATIENCE_S, f"left by {line}: {left}"
        time.sleep(0.05)
    return ended


def _marked(mark: str) -> Iterator[Path]:
    """The processes that a command started, itself included."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                yield path
        except OSError:
            continue


def _network(process: Path) -> Iterator[Path]:
    try:
        yield (process / "ns" / "net").readlink()
    except OSError:
        return


def _check(command: Command, new: int, before: dict[str, str]) -> str:
    """Looks at what a killed command left; returns which result that is."""
    if command.name == "compare":
        assert _contents(command.folder) == before
        return "as it was"
    if command.name == "suite":
        return _check_suite(command, new, before)
    if command.name == "study":
        document = json.loads(_newest(command.folder, "experiment.json").read_text(encoding="utf-8"))
        _settle_seed(command, document["seed"], new)
        assert len(document["rows"]) > 0
        assert _newest(command.folder, "scenarios").is_dir()
    else:
        assert pl.read_parquet(command.folder / "trial.parquet").height > 100
        assert len(json.loads((command.folder / "report.json").read_text(encoding="utf-8"))) > 0
        left = {name for name in _listing(command.folder) if not name.startswith(".thalweg-partial-")}
        assert left == command.listing
    return "older" if _settled(_contents(command.folder)) == _settled(before) else "new, or some of it"


def _check_suite(command: Command, new: int, before: dict[str, str]) -> str:
    result = SuiteResult.load(command.folder)
    assert sorted(outcomes.scenario.name for outcomes in result.outcomes) == ["one", "three", "two"]
    for outcomes in result.outcomes:
        assert outcomes.trials["seed"].to_list() == list(range(result.seed, result.seed + _TRIALS))
    older = result.seed == first_seed(command.seed)
    page = command.folder / "report.html"
    if older:
        assert {name for name in before if not _is_step(name)} <= _contents(command.folder).keys()
    elif page.exists():
        assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    _settle_seed(command, result.seed, new)
    return "older" if older else "new"


def _settle_seed(command: Command, found: int, new: int) -> None:
    """The result has the first seed of the older or of the new set of seeds."""
    if found == first_seed(new):
        command.seed = new
    assert found == first_seed(command.seed), f"{command.name}: seed {found}, not of {command.seed} or {new}"


def _newest(folder: Path, name: str) -> Path:
    places = [folder / step / name for step in (".whole", ".moving")]
    return next((path for path in places if path.exists()), folder / name)


def _contents(folder: Path) -> dict[str, str]:
    """A fingerprint of each file below a folder."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


def _settled(contents: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in contents.items() if not _is_step(name)}


def _is_step(name: str) -> bool:
    return name.partition("/")[0] in _STEPS or ".thalweg-partial-" in name


def _listing(folder: Path) -> set[str]:
    names = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return {name for name in names if name.partition("/")[0] != "trials"}


if __name__ == "__main__":
    asked = int(sys.argv[1])
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if REFUSAL is not None:
        print(f"SKIPPED: run --live is not killed here: {REFUSAL}")
    for what, times in sorted(kill_some(asked, start, lambda text: print(text, flush=True)).items()):
        print(f"{times:5}  {what}")
    print(f"{asked} kills with seed {start}: every result whole, nothing left behind")
