"""The table of speed, as `make bench` prints it and stores it as JSON.

`make bench-compare BASE=commit` prints it next to the table of another commit. Instructions are counted by
callgrind, which repeats to 0.1 % on any machine, however busy. The rest is processor time, the minimum of several
rounds; for two builds, which take turns, only the ratio is meaningful.
`make bench-check`, a part of `make soak`, holds the yardstick to the number that the page of performance gives.

Rows of real time need root, or user namespaces and /dev/net/tun. A run that was not faithful counts as infinity:
on a busy machine all may be. Not here, since it needs an idle machine: the goodput over the
loopback (`cargo bench -p thalweg-quic-sockets --bench sockets`).
"""

from __future__ import annotations

import json
import math
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
ROUNDS = 3
TRIAL = "python/thalweg/suites/c4/simple-20mbps.toml"
_SHARED = """title = "shared"
[path]
rate = "1 Gbps"
rtt = "40 ms"
buffer = "2 bdp"
[transport]
ack_frequency = false
"""
"""The ACK frequency is fixed: by default it asks for four ACKs a window, and many flows have small windows."""
_TRIALS = """import sys, time, thalweg
scenario = thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": sys.argv[1]})
spent = []
for seed in range(1, 11):
    begin = time.process_time()
    scenario.run(seed)
    spent.append(time.process_time() - begin)
print(1e3 * min(spent))
"""
_LIVE = """title = "live"
[path]
rate = "{rate}"
rtt = "10 ms"
buffer = "2 bdp"
[[flow]]
name = "main"
controller = "{controller}"
download = "{amount}"
"""
_PAGE = "docs/explanation/performance.md"
_GIVEN = re.compile(r"10 MB trials take ([\d.]+) M instructions")
_TOLERANCE = 0.03


class Row(NamedTuple):
    """One line of the table."""

    name: str
    unit: str
    goal: float
    measure: Callable[[Path], float]
    """A measurement of the build in this folder."""
    rounds: int = ROUNDS


def instructions(root: Path, *arguments: str) -> float:
    """Millions of instructions of the example `trial`."""
    counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "target/release/examples/trial"]
    done = _run(root, *counted, *arguments)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"valgrind has counted nothing:\n{done.stderr}")
    return int(found[1]) / 1e6


def processor_s(root: Path, *command: str) -> float:
    """Seconds of the processor that a command takes; a verdict that fails is an answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(root, *command, accepted=(0, 1))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _run(root: Path, *command: str, accepted: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode not in accepted:
        raise SystemExit(f"{' '.join(command)} in {root}: status {done.returncode}\n{done.stderr}")
    return done


def yardstick(root: Path) -> float:
    """Ten trials of 10 MB at 20 Mbps with C4, which are 74 thousand data packets."""
    return instructions(root, TRIAL, "10")


def _trace(root: Path) -> float:
    return instructions(root, TRIAL, "10", "--trace") / yardstick(root)


def _many_flows(root: Path) -> float:
    few, many = (_sharing(root, flows) for flows in (2, 1000))
    return many / few


def _sharing(root: Path, flows: int) -> float:
    """Seconds for 1 GB over one link, divided among this many flows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "shared.toml"
        each = f'controller = "cubic"\ndownload = "{1_000_000_000 // flows} B"\n'
        file.write_text(_SHARED + "".join(f'[[flow]]\nname = "f{flow}"\n{each}' for flow in range(flows)))
        return processor_s(root, "target/release/examples/trial", str(file), "1")


def _command(*words: str) -> Callable[[Path], float]:
    def measure(root: Path) -> float:
        with tempfile.TemporaryDirectory() as folder:
            return processor_s(root, ".venv/bin/thalweg", *(word.format(folder=folder) for word in words))

    return measure


def _in_python(example: str) -> Callable[[Path], float]:
    """Processor milliseconds of a trial of 10 MB at 20 Mbps with a controller in Python, the least of ten."""

    def measure(root: Path) -> float:
        return float(_run(root, ".venv/bin/python", "-c", _TRIALS, f"examples/controllers/{example}.py").stdout)

    return measure


def _trace_file(root: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trial.parquet"
        _run(root, ".venv/bin/thalweg", "run", "c4/simple-20mbps", "--trace", str(file), accepted=(0, 1))
        return file.stat().st_size / 1e3


def _live(
    controller: str, rate: str, amount: str, measure: Callable[[dict[str, Any]], float]
) -> Callable[[Path], float]:
    """A number of one download in real time, with the emulator before all other threads."""
    text = _LIVE.format(controller=controller, rate=rate, amount=amount)

    def measured(root: Path) -> float:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "live.toml"
            file.write_text(text)
            words = ("run", str(file), "--live", "--realtime", "--format", "json")
            done = json.loads(_run(root, ".venv/bin/thalweg", *words).stdout)
        return measure(done) if done["faithful"] else math.inf

    return measured


def _over_floor(done: dict[str, Any]) -> float:
    return float(done["flows"][0]["completion_s"]["median"] / done["scenarios"][0]["floor_s"])


def _processor_us(done: dict[str, Any]) -> float:
    """The time of emulator and ends, for each packet of data."""
    return float(1e6 * done["core_s"] / done["live"][0]["links"][0]["offered_packets"])


def _lateness_us(done: dict[str, Any]) -> float:
    return float(1e6 * done["live"][0]["lateness_p999_s"])


def _step(what: str) -> Callable[[Path], float]:
    """What `bench/steps.py` measures of a build; not a number of one without environments."""

    def measure(root: Path) -> float:
        if not (root / "python" / "thalweg" / "gym").is_dir():
            return math.nan
        done = _run(root, ".venv/bin/python", str(ROOT / "bench" / "steps.py"), what)
        return float(done.stdout)

    return measure


ROWS = (
    Row("ten 10 MB trials", "M instructions", 140, yardstick, rounds=1),
    Row("the same with a trace", "times", 1.3, _trace, rounds=1),
    Row("file of a trace", "kB", 250, _trace_file, rounds=1),
    Row("10 MB, Python at every ACK", "core-ms", 20, _in_python("newreno")),
    Row("10 MB, Python at every report", "core-ms", 4, _in_python("vegas")),
    Row("1000 flows on one link, to 2", "times", 1.5, _many_flows),
    Row("thalweg --version", "core-s", 0.2, _command("--version")),
    Row("thalweg list controllers", "core-s", 0.25, _command("list", "controllers")),
    Row("thalweg run of one trial", "core-s", 0.4, _command("run", "c4/simple-20mbps", "--trials", "1")),
    Row("thalweg suite c4", "core-s", 8, _command("suite", "c4", "--out", "{folder}/c4"), rounds=1),
    Row("live QUIC at 1 Gbps", "times the floor", 1.05, _live("cubic", "1 Gbps", "300 MB", _over_floor)),
    Row("the same, a packet", "core-us", 8, _live("cubic", "1 Gbps", "300 MB", _processor_us)),
    Row("the same, late by p99.9", "us", 100, _live("cubic", "1 Gbps", "300 MB", _lateness_us)),
    Row("live TCP at 5 Gbps", "times the floor", 1.05, _live("kernel:cubic", "5 Gbps", "1500 MB", _over_floor)),
    Row("thalweg score of a controller", "core-s", 4, _command("score", "reno")),
    Row("step of an environment", "us beyond", 10, _step("beyond"), rounds=1),
    Row("step of 16 on two cores, to one", "times", 0.56, _step("many"), rounds=1),
)


def table(base: Path | None) -> dict[str, dict[str, float]]:
    """Measures and prints row by row; the builds take turns."""
    rows = {}
    for row in ROWS:
        builds = [ROOT, base] if base else [ROOT]
        rounds = [[row.measure(build) for build in builds] for _ in range(row.rounds)]
        least = [min(values) for values in zip(*rounds, strict=True)]
        entry = {"value": least[0], "goal": row.goal}
        text = f"{row.name:30} {least[0]:9.3g} {row.unit:15} goal {row.goal:<5g}"
        if base:
            entry |= {"base": least[1], "ratio": least[0] / least[1]}
            text += f" base {least[1]:9.3g} ratio {entry['ratio']:.3f}"
        print(text, flush=True)
        rows[f"{row.name} ({row.unit})"] = entry
    return rows


def check() -> int:
    """Whether the yardstick agrees with the page of performance: a change in either direction needs a line."""
    if shutil.which("valgrind") is None:
        print("bench-check: SKIPPED, valgrind is not installed (apt-get install valgrind)")
        return 0
    told = _GIVEN.search((ROOT / _PAGE).read_text())
    if told is None:
        print(f"bench-check: {_PAGE} has no line with {_GIVEN.pattern!r}")
        return 1
    expected, found = float(told[1]), yardstick(ROOT)
    print(f"bench-check: ten 10 MB trials take {found:.1f} M instructions, {expected} by {_PAGE}")
    if abs(found / expected - 1) <= _TOLERANCE:
        return 0
    print(f"More than {_TOLERANCE:.0%} apart: explain it in {_PAGE}, with the new number")
    return 1


def main(words: list[str]) -> int:
    """Either `--check`, or the table, with the folder of another build as `--base`."""
    if words == ["--check"]:
        return check()
    base = Path(words[1]) if words[:1] == ["--base"] else None
    rows = table(base)
    file = ROOT / "target" / "bench.json"
    commit = _run(ROOT, "git", "rev-parse", "HEAD").stdout.strip()
    file.write_text(json.dumps({"commit": commit, "rows": rows}, indent=2) + "\n")
    print(f"stored in {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
