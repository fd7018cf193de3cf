"""Measures the gate on stacks of libraries: how silent it is, and what it finds. A part of docs/how-to/gate.md.

It needs the libraries of `make stacks`, and takes about four minutes of processor time.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pages.made import DOCS, ROOT, fill, made, row
from thalweg.cli import main

PAGE = DOCS / "how-to" / "gate.md"
STACKS = ROOT / "target" / "stacks"
SCENARIOS = ("simple-20mbps", "low-and-up", "bad-wifi", "cubic-short")
SETS, TRIALS = 5, 5
"""Sets of seeds of a change, and trials of a scenario."""
SILENT = {"quinn": "cubic", "ngtcp2": "cubic", "smoltcp": "cubic", "quiche": "bbr2"}
SILENT_SETS, SILENT_TRIALS = 5, 10


@dataclass(frozen=True)
class Change:
    """A stack before and after a change."""

    what: str
    library: str
    before: str
    after: str
    options: tuple[str, ...] = ()


CHANGES = (
    Change("window 2 % larger", "quinn", "cubic", "cubic:window=1.02"),
    Change("window 2 % smaller", "quinn", "cubic", "cubic:window=0.98"),
    Change("no HyStart++", "quiche", "cubic", "cubic:hystart=off"),
    Change("pacing 5 % slower", "quiche", "bbr2", "bbr2:pacing=0.95"),
    Change("pacing 5 % faster", "quiche", "bbr2", "bbr2:pacing=1.05"),
    Change(
        "delayed ACKs after 20 ms, not 10 ms",
        "ngtcp2",
        "cubic",
        "cubic",
        ("--set", "transport.max_ack_delay=20ms"),
    ),
)


@dataclass(frozen=True)
class Answer:
    """What a gate says."""

    identical: int
    trials: int
    status: int


def gate(
    library: str, controllers: tuple[str, str], seed: int, trials: int, options: tuple[str, ...] = ()
) -> Answer:
    """Accepts a stack with the first controller, and compares it with the second one."""
    only = [word for name in SCENARIOS for word in ("--only", name)]
    with tempfile.TemporaryDirectory() as folder:
        words = ["gate", "c4", *only, "--baseline", str(Path(folder, "b.json"))]
        words += ["--set", f"flow.main.stack={STACKS / f'lib{library}.so'}"]
        before, after = (["-c", f"main={controller}"] for controller in controllers)
        status, _ = said([*words, *before, "-n", str(trials), "--seed-set", str(seed), "--accept"])
        assert status == 0, (library, controllers)
        status, output = said([*words, *after, *options, "--format", "json"])
    document = json.loads(output)
    return Answer(document["identical"], document["played"], status)


def said(words: list[str]) -> tuple[int, str]:
    """The status and the output of a command."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        status = main(words)
    return status, output.getvalue()


def silence(library: str) -> str:
    """The line of a stack that is unchanged."""
    controller = SILENT[library]
    seeds = range(1, SILENT_SETS + 1)
    answers = [gate(library, (controller, controller), seed, SILENT_TRIALS) for seed in seeds]
    return line(f"none: `{library}`, `{controller}`", answers)


def found(change: Change) -> str:
    """The line of a change."""
    answers = [
        gate(change.library, (change.before, change.after), seed, TRIALS, change.options)
        for seed in range(1, SETS + 1)
    ]
    what = f"{change.what}: `{change.library}`, `{' '.join((change.after, *change.options))}`"
    return line(what, answers)


def line(what: str, answers: list[Answer]) -> str:
    """A line of the table: `--strict` finds what has a trial that is not identical."""
    sets = len(answers)
    identical, trials = sum(one.identical for one in answers), sum(one.trials for one in answers)
    differing = sum(one.identical < one.trials for one in answers)
    failed = sum(one.status == 1 for one in answers)
    return row(what, str(sets), f"{identical} of {trials}", f"{differing} of {sets}", f"{failed} of {sets}")


def missing() -> list[str]:
    """The libraries that are needed and not there."""
    needed = {*SILENT, *(change.library for change in CHANGES)}
    return sorted(name for name in needed if not (STACKS / f"lib{name}.so").exists())


def make() -> None:
    """Writes the table into the page."""
    if missing():
        raise FileNotFoundError(f"{', '.join(missing())}: `make stacks` builds these libraries")
    header = row("change", "sets of seeds", "identical", "found by `--strict`", "status 1")
    lines = [header, "|:--|--:|--:|--:|--:|", *map(silence, SILENT), *map(found, CHANGES)]
    fill(PAGE, "libraries", "\n".join([*lines, "", made("gate-libraries")]))
