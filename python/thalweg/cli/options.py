"""Options that several commands share, and what their texts mean."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from thalweg import audit
from thalweg.errors import RequestError
from thalweg.outcome import Trial
from thalweg.seeds import LARGEST_SET, first_seed
from thalweg.trace import FORMATS as TRACE_FORMATS

PLOT_FORMATS = (".html", ".png", ".svg", ".pdf")
_LARGEST_SEED = 2**63 - 1


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"


class SuiteFormat(StrEnum):
    """How the verdicts of a suite are printed."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


Controllers = Annotated[
    list[str] | None,
    typer.Option("--controller", "-c", metavar="FLOW=NAME", help="Bind a flow to a controller, e.g. main=cubic."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help='Set a key of the scenario, e.g. path.rate="10 Mbps".'),
]


class Stack(StrEnum):
    """What carries flows in virtual time."""

    MODEL = "model"
    QUIC = "quic"


StackChoice = Annotated[
    Stack | None,
    typer.Option("--stack", help="Carry every flow by the modelled endpoint or by a real QUIC stack."),
]
AllowUnseeded = Annotated[
    bool,
    typer.Option(
        "--allow-unseeded",
        help="Allow controllers whose trials do not repeat, since no seed determines what they draw: noq:bbr3.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=_LARGEST_SEED, help="Seed of the first trial; trial i has this seed plus i.")
]
SeedSet = Annotated[
    int,
    typer.Option(
        "--seed",
        min=1,
        max=LARGEST_SET,
        callback=first_seed,
        help="Number of a set of seeds; no two sets share a trial. Trial i of set 1 has seed i + 1.",
    ),
]
"""What a command gets is the seed of the first trial."""
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Threads; 0 for all cores.")]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="FILE", help="Write the time series: .parquet, .csv, .sqlog (qlog) or .qlog (for qvis)."
    ),
]
PlotFile = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the time series: .html, .png, .svg or .pdf."),
]
Audit = Annotated[
    bool,
    typer.Option(
        "--audit",
        callback=lambda on: audit.switch(on) or on,
        help="Let the auditor watch every trial: exit status 3 if one contradicts physics.",
    ),
]
Realtime = Annotated[
    bool, typer.Option("--realtime", help="Request real-time scheduling for the emulator (SCHED_FIFO).")
]
Bound = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Release lateness that 999 of 1000 packets must keep; "1 ms" unless given.'),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Write the report of the emulator as JSON.")
]


def pairs(texts: Iterable[str] | None, option: str, form: str) -> list[tuple[str, str]]:
    """The two sides of each `left=right`. Raises RequestError on another form, and on what is given twice.

    >>> pairs(["main=c4:variant=v1"], "--controller", "FLOW=NAME")
    [('main', 'c4:variant=v1')]
    """
    split = []
    for text in texts or ():
        left, equals, right = text.partition("=")
        if not (left.strip() and equals and right.strip()):
            raise RequestError(f"{option} {text!r}: expected {form}")
        split.append((left.strip(), right.strip()))
    twice = next((left for i, (left, _) in enumerate(split) if left in dict(split[:i])), None)
    if twice is not None:
        raise RequestError(f"{option} {twice}=...: given twice; give it once")
    return split


def settings(
    texts: Iterable[str] | None, stack: Stack | None = None, allow_unseeded: bool = False
) -> list[tuple[str, str]]:
    """The keys and values of `--set`, and those that other options stand for, which `--set` can change again."""
    wanted = [("flow.*.stack", stack.value)] if stack else []
    wanted += [("allow_unseeded", "true")] if allow_unseeded else []
    return wanted + pairs(texts, "--set", 'KEY=VALUE, such as path.rate="10 Mbps"')


def bindings(texts: Iterable[str] | None) -> list[tuple[str, str]]:
    """The flows and controllers of `--controller`."""
    return pairs(texts, "--controller", "FLOW=NAME, such as main=cubic")


def refuse_audit() -> None:
    """Refuses `--audit` in real time. Raises RequestError."""
    if audit.is_on():
        raise RequestError("--audit watches trials in virtual time; accepted: without --live")


def check_files(trace: Path | None, plot: Path | None) -> None:
    """Refuses file names that could not be written, before any work is done. Raises RequestError."""
    for option, file, formats in (("--trace", trace, TRACE_FORMATS), ("--plot", plot, PLOT_FORMATS)):
        if file is None:
            continue
        if file.suffix not in formats:
            raise RequestError(f"{option} {file}: the name must end in one of {', '.join(formats)}")
        check_writable(file)


def check_writable(file: Path) -> None:
    """Refuses a file that could not be written. Raises RequestError."""
    folder = file.parent
    if not folder.is_dir():
        raise RequestError(f"cannot write {file}: there is no folder {folder}")
    if file.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise RequestError(f"cannot write {file}: {'it is a folder' if file.is_dir() else 'permission denied'}")


def write_trial(trial: Trial, trace: Path | None, plot: Path | None) -> list[Path]:
    """Writes the trace and the figure of a trial, and returns the files."""
    if trace and trial.trace:
        trial.trace.save(trace)
    if plot:
        from thalweg.plots import plot_trial, save  # noqa: PLC0415 - altair takes half a second to load

        save(plot_trial(trial), plot)
    return [file for file in (trace, plot) if file]
