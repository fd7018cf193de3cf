"""Runs the checks in lanes: `make quick`, `make test`, `make soak` and `.ci/run`.

    python3 .ci/lanes.py quick            what one wants after each edit
    python3 .ci/lanes.py test [STAGE...]  everything that a change can break, or some stages of it
    python3 .ci/lanes.py soak [PART...]   what takes long, or wants the machine for itself
    python3 .ci/lanes.py ci               the test lane, and as many parts of the soak as fit, chosen by the commit

A stage that fails does not stop those after it, unless it is the build. What each prints is in `target/lanes`.
A soak without names goes on where it was stopped, as long as no file has changed.
The end of a lane shows stages, times, counts, what was skipped, and the twenty slowest tests.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "target" / "lanes"
DONE = LOGS / "soak.json"
PYTEST = ".venv/bin/python -m pytest -rfEs --durations=0 --durations-min=1 --color=no"
BESIDE = f"--numprocesses {(os.cpu_count() or 1) + 1} --dist worksteal"
"""One process more than there are cores: a third of the time of tests is waits for pages, servers and clocks."""
CODE = "python tests fuzz/python pages bench docs/site .ci"
CI_S = 25 * 60
CI_SOAK_S = 8 * 60
SLOWEST = 20
TAIL = 60
"""Lines of a failed command that are shown, without those of tests that passed."""
FAILURES = re.compile(r"^failures:\n\n(---- .*?)^failures:$", re.MULTILINE | re.DOTALL)
"""What the tests of one binary of cargo printed that failed: other binaries run after it."""
FAILED = re.compile(r"^(?:test (.+?) \.\.\. FAILED|(?:FAILED|ERROR) (tests/\S+))", re.MULTILINE)
PASSED = re.compile(r"\.\.\. ok\b|^[\d.]+s (call|setup|teardown) ")
CARGO = re.compile(r"^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)


@dataclass(frozen=True)
class Stage:
    """Commands of the shell that run side by side, and about how long they take together on two idle cores."""

    name: str
    seconds: int
    commands: tuple[str, ...]

    @property
    def is_build(self) -> bool:
        """Whether nothing else can run without it."""
        return self.name == "build"


@dataclass
class Outcome:
    """What a stage has come to."""

    stage: Stage
    seconds: float
    failed: list[str]
    counts: Counter[str] = field(default_factory=Counter)
    slow: dict[str, float] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    failed_tests: list[str] = field(default_factory=list)


def main() -> int:
    """Runs a lane; the status is 1 if a stage has failed."""
    lane, *names = sys.argv[1:] or ["test"]
    # Where it is set, each command that a test starts compiles all modules again, also those of libraries.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.monotonic()
    if lane == "quick":
        outcomes = run(quick())
    elif lane == "test":
        outcomes = run(chosen(TEST, names))
    elif lane == "soak":
        outcomes = soak(names)
    elif lane == "ci":
        outcomes = run(TEST)
        if not any(outcome.failed for outcome in outcomes if outcome.stage.is_build):
            outcomes += run(of_commit(min(CI_SOAK_S, CI_S - (time.monotonic() - started))))
    else:
        sys.exit(f'"{lane}" is not a lane; accepted: quick, test, soak, ci')
    report(lane, outcomes, time.monotonic() - started)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def chosen(stages: Sequence[Stage], names: Iterable[str]) -> list[Stage]:
    """The stages that are named, or all."""
    known = {stage.name: stage for stage in stages}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f'there is no "{unknown[0]}"; accepted: {", ".join(known)}')
    return [known[name] for name in names] or list(stages)


def quick() -> list[Stage]:
    """The stages of the quick lane, with the tests of what differs from the last commit, or of that commit."""
    changed = said("git", "diff", "--name-only", "HEAD", "--").split()
    changed += said("git", "ls-files", "--others", "--exclude-standard").split()
    changed = changed or said("git", "diff", "--name-only", "HEAD~1", "HEAD").split()
    crates = sorted({name for path in changed if (name := crate(path)) is not None})
    tests = sorted({path for path in changed if re.search(r"/test_\w+\.py$", path) and (ROOT / path).exists()})
    stages = [Stage("build", 35, ("make --no-print-directory .venv/.built .venv/.packages",)), STYLE]
    stages += [rust(crates)] if crates else []
    few = " ".join(dict.fromkeys([*QUICK, *tests]))
    stages.append(Stage("python", 25, (f'{PYTEST} -m "not realtime and not soak" {BESIDE} {few}',)))
    return stages


def crate(path: str) -> str | None:
    """The crate whose tests a file of Rust belongs to; the native module and the engine of pages have none."""
    found = re.match(r"crates/([\w-]+)/.*\.(rs|toml)$", path)
    return None if found is None or found[1] in {"bindings", "web"} else f"thalweg-{found[1]}"


def soak(names: list[str]) -> list[Outcome]:
    """Runs the parts that are named, or those that this state of the files has not passed yet."""
    state = hashlib.sha256(f"{said('git', 'rev-parse', 'HEAD')}{said('git', 'diff', 'HEAD')}".encode()).hexdigest()
    kept = json.loads(DONE.read_text(encoding="utf-8")) if DONE.exists() else {}
    done = set(kept.get("done", ())) if kept.get("state") == state else set()
    parts = chosen(SOAK, names)
    if not names and done >= {part.name for part in SOAK}:
        done = set()
    if not names and done:
        print(f"goes on after {', '.join(sorted(done))}")
        parts = [part for part in parts if part.name not in done]
    outcomes = run([BUILD])
    for part in parts if not outcomes[0].failed else ():
        outcomes += run([part])
        if not outcomes[-1].failed:
            done.add(part.name)
            DONE.write_text(json.dumps({"state": state, "done": sorted(done)}), encoding="utf-8")
    return outcomes


def of_commit(seconds: float) -> list[Stage]:
    """Parts of the soak that fit into this time, others with each commit."""
    commit = said("git", "rev-parse", "HEAD").strip()
    parts = sorted(SOAK, key=lambda part: hashlib.sha256(f"{commit} {part.name}".encode()).digest())
    fit: list[Stage] = []
    for part in parts:
        if sum(other.seconds for other in fit) + part.seconds <= seconds:
            fit.append(part)
    names = ", ".join(part.name for part in fit) or "nothing: there is no time left"
    print(f"of the soak, for this commit: {names}")
    return fit


def run(stages: Iterable[Stage]) -> list[Outcome]:
    """Runs stages one after the other; a build that fails ends it."""
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    for stage in stages:
        print(f"{stage.name} (about {stage.seconds} s)", flush=True)
        outcomes.append(play(stage))
        if stage.is_build and outcomes[-1].failed:
            break
    return outcomes


def play(stage: Stage) -> Outcome:
    """Runs the commands of a stage side by side."""
    started = time.monotonic()
    logs = [LOGS / f"{stage.name}-{number}.log" for number in range(len(stage.commands))]
    running = []
    for command, log in zip(stage.commands, logs, strict=True):
        with log.open("w", encoding="utf-8") as output:
            words = ["bash", "-o", "pipefail", "-c", command]
            process = subprocess.Popen(
                words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            running.append(process)
    statuses = [process.wait() for process in running]
    outcome = Outcome(stage, time.monotonic() - started, [])
    for command, log, status in zip(stage.commands, logs, statuses, strict=True):
        text = log.read_text(encoding="utf-8", errors="replace")
        read(text, outcome)
        if status != 0:
            outcome.failed.append(command)
            print(f"FAILED, status {status}: {command}\n{text_tail(text)}\n  all of it: {log.relative_to(ROOT)}")
    word = "failed" if outcome.failed else "done"
    print(f"  {word} in {outcome.seconds:.0f} s{counted(outcome.counts)}", flush=True)
    return outcome


def text_tail(text: str) -> str:
    """What failed tests of cargo printed, or else the last lines of the command, without tests that passed."""
    failures = "".join(FAILURES.findall(text))
    lines = [line for line in (failures or text).splitlines() if not PASSED.search(line)]
    return "\n".join(lines[-TAIL:])


def read(text: str, outcome: Outcome) -> None:
    """Takes counts, times of tests and what was skipped from the output of pytest and of cargo."""
    closing = re.findall(r"^(?:=+ )?((?:\d+ \w+,? ?)+) in [\d.]+s", text, flags=re.MULTILINE)
    for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", " ".join(closing)):
        outcome.counts["failed" if word == "error" else word] += int(number)
    for passed, failed, ignored in CARGO.findall(text):
        outcome.counts.update(passed=int(passed), failed=int(failed), skipped=int(ignored))
    for seconds, test in re.findall(r"^([\d.]+)s (?:call|setup|teardown) +(\S.*)$", text, flags=re.MULTILINE):
        outcome.slow[test] = outcome.slow.get(test, 0.0) + float(seconds)
    for test, seconds in re.findall(r"^test (.+?) \.\.\. \w+ <([\d.]+)s>$", text, flags=re.MULTILINE):
        outcome.slow[test] = outcome.slow.get(test, 0.0) + float(seconds)
    outcome.failed_tests += [cargo or pytest for cargo, pytest in FAILED.findall(text)]
    outcome.skipped.update(re.findall(r"^SKIPPED .*$", text, flags=re.MULTILINE))


def counted(counts: Counter[str]) -> str:
    """How many tests have passed, failed and been skipped, as the end of a line."""
    words = [f"{counts[word]} {word}" for word in ("passed", "failed", "skipped") if counts[word]]
    return f": {', '.join(words)}" if words else ""


def report(lane: str, outcomes: Sequence[Outcome], seconds: float) -> None:
    """The end of a lane."""
    slow: dict[str, float] = {}
    counts: Counter[str] = Counter()
    print(f"\n{lane}: {seconds:.0f} s")
    for outcome in outcomes:
        slow.update(outcome.slow)
        counts.update(outcome.counts)
        print(f"  {outcome.seconds:6.0f} s  {outcome.stage.name}{counted(outcome.counts)}")
    if slow:
        print("the slowest tests:")
        for test, took in sorted(slow.items(), key=lambda item: -item[1])[:SLOWEST]:
            print(f"  {took:6.1f} s  {test}")
    for line in sorted({line for outcome in outcomes for line in outcome.skipped}):
        print(line)
    for outcome in outcomes:
        for command in outcome.failed:
            print(f"FAILED {outcome.stage.name}: {command}")
        for test in outcome.failed_tests:
            print(f"  {test}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")


def said(*command: str) -> str:
    """What a command prints; nothing if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


def rust(packages: Sequence[str] = ()) -> Stage:
    """The tests of crates: of all, if none is named."""
    named = f" PACKAGES='{' '.join(packages)}'" if packages else ""
    return Stage("rust", 30 if packages else 230, (f"make --no-print-directory test-rust{named}",))


SEED = "SEED=$(git rev-parse HEAD)"
NUMBER = "$((0x$(git rev-parse --short=7 HEAD)))"
"""In the soak, cases of fuzzing and properties, and the moments of kills, follow from the commit."""
MAKE = "make --no-print-directory"
FOREIGN = "tests/stacks tests/gate/test_sensitivity_of_libraries.py tests/results/test_qlog.py"
"""The tests that need what others wrote, built from source."""
BUILD = Stage("build", 145, ("make build", f"{MAKE} browser actionlint"))
RUFF = "ruff check $code && .venv/bin/ruff format --check $code"
STYLE = Stage("style", 3, ("cargo fmt --all --check", f"code='{CODE}'; .venv/bin/{RUFF}"))
QUICK = (
    "tests/repository",
    "tests/judging",
    "tests/command_line/test_help.py",
    "tests/simulator/test_trace_hashes.py",
)
TEST = [
    BUILD,
    STYLE,
    Stage("lint", 75, (f"{MAKE} clippy", ".venv/bin/mypy")),
    rust(),
    Stage("python", 325, (f'{PYTEST} -m "not realtime and not soak" {BESIDE}',)),
]
IGNORED = " ".join(f"--package thalweg-{crate}" for crate in ("sim", "quic-sockets", "adapters", "fuzz", "live"))
NOT_FOREIGN = " ".join(f"--ignore={path}" for path in FOREIGN.split())
GATE = "tests/gate tests/results"
ELSEWHERE = [
    f"--ignore={folder}"
    for folder in ("tests/packages", "tests/lab", "tests/documentation", "tests/stacks", *GATE.split())
]
SOAK = [
    Stage("audit", 100, (f"{MAKE} audit SECONDS=90 {SEED}",)),
    Stage("fuzz", 345, (f"{MAKE} fuzz SECONDS=300 {SEED}",)),
    Stage("properties", 100, (f"{MAKE} test-rust SEED={NUMBER}",)),
    Stage("relations", 190, (f"{MAKE} fuzz SECONDS=180 TARGETS=relations {SEED}",)),
    Stage("pages", 200, (f"{MAKE} pages-check",)),
    Stage(
        "kills",
        60,
        (f".venv/bin/python tests/kills.py 30 {NUMBER} && .venv/bin/python tests/sweep_kills.py 12 {NUMBER}",),
    ),
    Stage("stacks", 340, (f"{MAKE} stacks && {PYTEST} -m soak {FOREIGN}",)),
    Stage("wheels", 185, (f"{PYTEST} -m soak tests/packages",)),
    Stage("lab", 130, (f"{PYTEST} -m soak {BESIDE} tests/lab",)),
    Stage("manual", 100, (f"{PYTEST} -m soak {BESIDE} tests/documentation",)),
    Stage("gate", 60, (f"{PYTEST} -m soak {BESIDE} {NOT_FOREIGN} {GATE}",)),
    Stage("long", 280, (f"{PYTEST} -m soak {BESIDE} {' '.join(ELSEWHERE)}",)),
    Stage("engine", 180, (f"cargo test --locked {IGNORED} --lib --bins --tests -- --ignored",)),
    Stage("realtime", 260, (f"{PYTEST} -m realtime",)),
    Stage("speed", 65, (f"{MAKE} bench-check",)),
    Stage("advisories", 15, (f"{MAKE} advisories",)),
]

if __name__ == "__main__":
    sys.exit(main())
