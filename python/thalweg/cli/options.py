"""Options that several commands share, and what their texts mean."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.extras import require
from thalweg.base.seeds import LARGEST_SET, first_seed
from thalweg.cli import console
from thalweg.engine import audit

if TYPE_CHECKING:
    from thalweg.engine.outcome import Trial

PLOT_FORMATS = (".html", ".png", ".svg", ".pdf")
_LARGEST_SEED = 2**63 - 1


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"


class SuiteFormat(StrEnum):
    """How verdicts are printed; for CI as JUnit's XML, or as GitHub's annotations."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    GITHUB = "github"


ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A shipped scenario (c4/bad-wifi) or a file.")
]
Controllers = Annotated[
    list[str] | None,
    typer.Option(
        "--controller",
        "-c",
        metavar="FLOW=NAME",
        help='Set the controller of a flow, e.g. main=cubic; "main=cubic as mild" names it in figures.',
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help='Set a key of the scenario, e.g. path.rate="10 Mbps".'),
]


STACKS = ("model", "quic")


def _stack(text: str | None) -> str | None:
    """Refuses what names no stack. Raises RequestError."""
    if text is None or text in STACKS or _native.names_library(text):
        return text
    raise RequestError(
        f"--stack {text!r}: accepted: model, quic, or a library with a stack, such as ./libmine.so"
        f"{did_you_mean(text, STACKS)}"
    )


StackChoice = Annotated[
    str | None,
    typer.Option(
        "--stack",
        metavar="NAME",
        callback=_stack,
        help="Run every flow on the modelled endpoint (model), a real QUIC stack (quic), or a library's "
        "(./libmine.so).",
    ),
]
AllowUnseeded = Annotated[
    bool,
    typer.Option(
        "--allow-unseeded",
        help="Allow controllers whose trials no seed repeats: noq:bbr3.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=_LARGEST_SEED, help="Seed of the first trial; trial i has this seed plus i.")
]
_SEED_SET = "Number of a set of seeds; no two sets share a trial. Trial i of set 1 has seed i + 1."
SeedSet = Annotated[int, typer.Option("--seed-set", min=1, max=LARGEST_SET, callback=first_seed, help=_SEED_SET)]
"""What a command gets is the seed of the first trial."""
SetNumber = Annotated[int, typer.Option("--seed-set", min=1, max=LARGEST_SET, help=_SEED_SET)]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Threads; 0 for all cores.")]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run trials on the workers of a Dask scheduler, tcp://HOST:8786, or on N processes here, local:N.",
    ),
]
ShardOption = Annotated[
    str,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Play only one of N shares of the trials into --out DIR; `thalweg merge` puts them together.",
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="FILE", help="Write the time series: .parquet, .csv, .sqlog (qlog) or .qlog (for qvis)."
    ),
]
PlotFile = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Plot the time series: .html, .png, .svg or .pdf."),
]


def _figures_folder(folder: Path | None) -> Path | None:
    """Refuses a folder that could not be written, before any work is done."""
    if folder is not None and folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise RequestError(
            f"cannot write {folder}: {'permission denied' if folder.is_dir() else 'it is not a folder'}"
        )
    if folder is not None:
        require("plots", f"--figures {folder}")
    return folder


FiguresFolder = Annotated[
    Path | None,
    typer.Option(
        "--figures",
        metavar="DIR",
        callback=_figures_folder,
        help="Write every figure of the report as SVG as well.",
    ),
]
Only = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Only scenarios whose name matches; may be repeated.")
]
Audit = Annotated[
    bool,
    typer.Option(
        "--audit",
        callback=lambda on: audit.switch(on) or on,
        help="Audit every trial: exit status 3 if one contradicts physics.",
    ),
]
Realtime = Annotated[
    bool, typer.Option("--realtime", help="Request real-time scheduling for the emulator (SCHED_FIFO).")
]
Bound = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Bound on the release lateness of 99.9 % of packets ["1 ms"].'),
]
StrictTiming = Annotated[
    bool,
    typer.Option(
        "--strict-timing",
        help="Fail (status 4) on any unfaithful trial.",
    ),
]
Retry = Annotated[
    int | None,
    typer.Option(
        "--retry", min=0, metavar="N", help="Repeat a trial up to N times if its timing was not faithful [2]."
    ),
]
CaptureFile = Annotated[
    Path | None,
    typer.Option(
        "--capture", metavar="FILE.pcapng", help="With --live: write the packets, with the times of the emulator."
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=lambda on: console.silence(on) or on,
        help="Print no tables and notes, only errors and the document of another --format.",
    ),
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
    texts: Iterable[str] | None, stack: str | None = None, allow_unseeded: bool = False
) -> list[tuple[str, str]]:
    """The keys and values of `--set`, and those that other options stand for, which `--set` can change again.

    Libraries are looked for in the present folder, not in the folder of a scenario.
    """
    from thalweg.engine.libraries import given  # noqa: PLC0415 - the engine comes with it

    wanted = [("flow.*.stack", stack)] if stack else []
    wanted += [("allow_unseeded", "true")] if allow_unseeded else []
    wanted += pairs(texts, "--set", 'KEY=VALUE, such as path.rate="10 Mbps"')
    return [(key, given(value) if key.endswith(".stack") else value) for key, value in wanted]


@dataclass(frozen=True)
class Binding:
    """A flow, its controller, and what figures call it."""

    flow: str
    controller: str
    label: str | None = None


def read_bindings(
    texts: Iterable[str] | None, option: str = "--controller", *, repeated: bool = False
) -> list[Binding]:
    """What an option binds; a flow may have several if `repeated`. Raises RequestError.

    >>> read_bindings(["main=cubic:beta=0.8 as mild"])
    [Binding(flow='main', controller='cubic:beta=0.8', label='mild')]
    """
    form = "FLOW=NAME, such as main=cubic, or with a label, main=cubic as mild"
    each = [pair for text in texts or () for pair in pairs([text], option, form)]
    if not repeated:
        each = pairs(texts, option, form)
    found = []
    for flow, text in each:
        controller, separator, label = (part.strip() for part in text.partition(" as "))
        if separator and not (controller and label):
            raise RequestError(f"{option} {flow}={text!r}: expected {form}")
        found.append(Binding(flow, controller, label or None))
    names = [binding.label or f"{binding.flow}={binding.controller}" for binding in found]
    if (twice := next((name for name in names if names.count(name) > 1), None)) and any(b.label for b in found):
        raise RequestError(f"{option}: two controllers are named {twice!r}; give each a name of its own")
    return found


def bindings(texts: Iterable[str] | None, option: str = "--controller") -> list[tuple[str, str]]:
    """The flows and controllers of an option."""
    return [(binding.flow, binding.controller) for binding in read_bindings(texts, option)]


def alternatives(texts: Iterable[str] | None) -> list[list[Binding]]:
    """The same where a flow may have several controllers: each combination of them. Raises RequestError.

    >>> [[chosen.controller for chosen in choice] for choice in alternatives(["main=c4", "b=reno", "main=cubic"])]
    [['c4', 'reno'], ['cubic', 'reno']]
    >>> alternatives(None)
    [[]]
    """
    of_flow: dict[str, list[Binding]] = {}
    for binding in read_bindings(texts, repeated=True):
        of_flow.setdefault(binding.flow, []).append(binding)
    for flow, given in of_flow.items():
        if len({_native.normal_controller(binding.controller) for binding in given}) < len(given):
            raise RequestError(f"--controller {flow}=...: one of them is given twice; give each once")
    return [list(choice) for choice in product(*of_flow.values())]


def labels(texts: Iterable[str] | None) -> dict[str, str]:
    """What figures call the flows that `--controller` gives a label."""
    return {binding.flow: binding.label for binding in read_bindings(texts) if binding.label}


def refuse_audit() -> None:
    """Refuses `--audit` in real time. Raises RequestError."""
    if audit.is_on():
        raise RequestError("--audit cannot be combined with --live: it checks trials in virtual time")


def check_files(trace: Path | None, plot: Path | None) -> None:
    """Refuses file names that could not be written, before any work is done. Raises RequestError."""
    if trace is not None:
        from thalweg.engine.trace import FORMATS  # noqa: PLC0415 - polars comes with it

        _check_name("--trace", trace, FORMATS)
    if plot is not None:
        check_figure("--plot", plot)


def check_figure(option: str, file: Path, others: tuple[str, ...] = ()) -> None:
    """Refuses the name of a figure, or of another form, that could not be written. Raises RequestError."""
    _check_name(option, file, (*PLOT_FORMATS, *others))
    if file.suffix not in (".html", *others):
        require("plots", f"{option} {file}")


def _check_name(option: str, file: Path, formats: tuple[str, ...]) -> None:
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


def check_outputs(written: Mapping[str, Path | None], read: Iterable[Path]) -> None:
    """Refuses files that could not be written, are read, or are written twice. Raises RequestError."""
    taken = {file.resolve(): "is read" for file in read}
    for option, file in written.items():
        if file is None:
            continue
        check_writable(file)
        if file.exists() and not file.is_file():  # a device takes what it gets
            continue
        place = file.resolve()
        if place in taken:
            raise RequestError(f"{option} {file} would replace what {taken[place]}; use another name")
        taken[place] = f"{option} writes"


def write_trial(
    trial: Trial, trace: Path | None, plot: Path | None, called: Mapping[str, str] | None = None
) -> list[Path]:
    """Writes the trace and the figure of a trial, in which flows are `called` so, and returns the files."""
    if trace and trial.trace:
        trial.trace.save(trace)
    if plot:
        from thalweg.pages.figures import plot_trial  # noqa: PLC0415 - most commands draw nothing

        plot_trial(trial, labels=called).save(plot)
    return [file for file in (trace, plot) if file]
