"""`thalweg run`: one scenario, one or more trials."""

from __future__ import annotations

import shlex
import time
from typing import Annotated

import typer

from thalweg.catalogue import find_scenario
from thalweg.cli import tables
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.live_options import LiveOptions, refuse_options, refuse_virtual
from thalweg.cli.options import (
    AllowUnseeded,
    Audit,
    Bound,
    Controllers,
    Format,
    Jobs,
    PlotFile,
    Realtime,
    ReportFile,
    Seed,
    Settings,
    Stack,
    StackChoice,
    TraceFile,
    bindings,
    check_files,
    settings,
    write_trial,
)
from thalweg.cli.status import INTERRUPTED, of_result
from thalweg.scenario import Interrupted, Scenario
from thalweg.store.results import SuiteResult


def run(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario (c4/bad-wifi) or a file.")],
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    seed: Seed = 1,
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="Number of trials.")] = 1,
    jobs: Jobs = 0,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="How to print the answer.")] = Format.TABLE,
    trace: TraceFile = None,
    plot: PlotFile = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="In real time: the QUIC stack, and the kernel's TCP for controllers such as kernel:cubic.",
        ),
    ] = False,
    realtime: Realtime = False,
    bound: Bound = None,
    report: ReportFile = None,
) -> int:
    """Run a scenario and judge it.

    With several trials, the trace and the plot are of the worst one; with --live, of the last.
    """
    check_files(trace, plot)
    entry = find_scenario(scenario)
    if live:
        refuse_virtual(stack, jobs, allow_unseeded)
        from thalweg.cli.run.live import run_live  # noqa: PLC0415 - loaded for real time alone
        from thalweg.live import LiveScenario  # noqa: PLC0415

        real = LiveScenario.from_entry(entry, settings(set_), bindings(controller))
        files, options = (trace, plot), LiveOptions(realtime, bound, report)
        return run_live(real, entry.reference, seed, trials, format_, files, options)
    refuse_options(LiveOptions(realtime, bound, report))
    loaded = Scenario.from_entry(entry, settings(set_, stack, allow_unseeded), bindings(controller))
    result = SuiteResult(entry.suite, loaded.title, loaded.source, seed)
    interrupted = False
    begin = time.perf_counter()
    with Bar() as bar:
        try:
            outcomes = loaded.trials(trials, seed, jobs, lambda done: bar.show(loaded.name, done, trials))
        except Interrupted as stop:
            if stop.outcomes is None:
                raise
            outcomes, interrupted = stop.outcomes, True
    result.wall_s = time.perf_counter() - begin
    result.outcomes.append(outcomes)
    verdict = outcomes.verdict()

    if format_ is Format.JSON:
        print_json(result.document())
    else:
        console = stdout()
        console.print(f"{loaded.title}  ({entry.reference})")
        for table in tables.measured_tables(outcomes):
            console.print(table)
        if verdict.criteria:
            console.print(tables.verdict_table(tables.verdict_rows(loaded.name, verdict)))
        console.print(tables.summary(result, outcomes.n, f"seed {seed}"))
        if outcomes.n > 1:
            again = _again(entry.reference, seed + verdict.worst_trial, controller, set_, stack, allow_unseeded)
            console.print(f"replay the worst trial: {again}", soft_wrap=True)
    if late := outcomes.unfinished():
        complain(late)
    if interrupted:
        complain(f"interrupted: {outcomes.n} of {trials} trials were finished and are shown", label="")
        return INTERRUPTED
    if trace or plot:
        worst = loaded.run(seed + verdict.worst_trial, trace=True)
        for file in write_trial(worst, trace, plot):
            note(f"wrote {file} (seed {worst.seed})")
    return of_result(result)


def _again(
    reference: str,
    seed: int,
    controllers: list[str] | None,
    set_: list[str] | None,
    stack: Stack | None,
    allow_unseeded: bool,
) -> str:
    """The command that runs one trial once more and draws it."""
    again = ["thalweg", "run", reference, "--seed", str(seed)]
    again += [part for text in controllers or () for part in ("--controller", text)]
    again += [part for text in set_ or () for part in ("--set", text)]
    again += ["--stack", stack.value] if stack else []
    again += ["--allow-unseeded"] if allow_unseeded else []
    return shlex.join([*again, "--plot", "worst.html"])
