"""`thalweg run`: one scenario, one or more trials."""

from __future__ import annotations

import inspect
import shlex
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.seeds import SET_SIZE
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.live_options import LiveOptions, refuse_options, refuse_virtual
from thalweg.cli.options import (
    AllowUnseeded,
    Audit,
    Bound,
    CaptureFile,
    ClusterAddress,
    Controllers,
    Format,
    Jobs,
    PlotFile,
    Quiet,
    Realtime,
    ReportFile,
    Retry,
    ScenarioName,
    Seed,
    Settings,
    StackChoice,
    StrictTiming,
    TraceFile,
    alternatives,
    bindings,
    check_files,
    labels,
    settings,
    write_trial,
)
from thalweg.cli.run.outcomes import print_outcomes
from thalweg.cli.status import INTERRUPTED, of_result
from thalweg.cli.store.playing import playing
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.results.suite_result import Store, SuiteResult
from thalweg.trials.choice import chosen
from thalweg.trials.store.shard import Shard


def run(
    scenario: ScenarioName,
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    seed: Seed = 1,
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, max=SET_SIZE, help="Number of trials.")] = 1,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    trace: TraceFile = None,
    plot: PlotFile = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Run in real time: the QUIC stack, or the kernel's TCP with controllers such as kernel:cubic.",
        ),
    ] = False,
    realtime: Realtime = False,
    bound: Bound = None,
    report: ReportFile = None,
    strict_timing: StrictTiming = False,
    retry: Retry = None,
    capture: CaptureFile = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Store the result; replaces an older one."),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Run a scenario and judge it.

    With several trials, the trace and the plot are of the worst one; with --live, of the last. A flow that is
    given several controllers runs the same trials with each.

    Example: `thalweg run c4/bad-wifi -n 20 -c main=c4 -c main=cubic`
    """
    command = command_line("run", inspect.signature(run, eval_str=True), locals())
    check_files(trace, plot)
    entry = find_scenario(scenario)
    choices = alternatives(controller)
    if out and len(choices) > 1:
        hint = "store a run of each, then thalweg compare"
        raise RequestError(f"--out cannot be combined with several controllers for one flow: {hint}")
    options = LiveOptions(realtime, bound, report, strict_timing, retry, capture)
    if len(choices) > 1:
        _refuse_for_many(live, trace, plot)
        refuse_options(options)
        from thalweg.cli.run.side_by_side import run_side_by_side  # noqa: PLC0415 - loaded only for several

        given = settings(set_, stack, allow_unseeded)
        with chosen(jobs, cluster) as executor:
            return run_side_by_side(entry, given, choices, seed, trials, executor, format_)
    if live:
        refuse_virtual(stack, jobs, cluster, allow_unseeded)
        from thalweg.cli.run.live import run_live  # noqa: PLC0415 - loaded only for real time
        from thalweg.realtime import LiveScenario  # noqa: PLC0415

        real = LiveScenario.from_entry(entry, settings(set_), bindings(controller))
        return run_live(real, entry.reference, seed, trials, format_, (trace, plot), options, out, command)
    refuse_options(options)
    loaded = Scenario.from_entry(entry, settings(set_, stack, allow_unseeded), bindings(controller))
    result = SuiteResult(entry.suite, loaded.title, loaded.source, seed, command=command)
    with Store(out, result, [loaded.description], trials) if out else nullcontext() as store:
        outcomes = _played(loaded, result, trials, out, jobs, cluster)
        interrupted = outcomes.n < trials
        if store and not interrupted:
            store.add(outcomes)
            store.finish()
    verdict = outcomes.verdict()

    if format_ is Format.JSON:
        print_json(result.document())
    else:
        print_outcomes(result, entry.reference)
        if outcomes.n > 1:
            again = _again(entry.reference, seed + verdict.worst_trial, controller, set_, stack, allow_unseeded)
            stdout().print(f"replay the worst trial: {again}", soft_wrap=True)
    if late := outcomes.unfinished():
        complain(late)
    if interrupted:
        kept = f"; {out} keeps them for the next run; it has no result yet" if out else ""
        complain(f"interrupted: {outcomes.n} of {trials} trials were finished and are shown{kept}", label="")
        return INTERRUPTED
    if trace or plot:
        worst = loaded.run(seed + verdict.worst_trial, trace=True)
        for file in write_trial(worst, trace, plot, labels(controller)):
            note(f"wrote {file} (seed {worst.seed})")
    if out:
        note(f"wrote {out}")
    return of_result(result)


def _played(
    loaded: Scenario, result: SuiteResult, trials: int, out: Path | None, jobs: int, cluster: str | None
) -> Outcomes:
    """Runs the trials into a result; after Ctrl-C those that are finished. Raises Interrupted if none is."""
    with Bar() as bar, playing(out, jobs, cluster, Shard()) as executor:
        begin = time.perf_counter()
        try:
            outcomes = loaded.trials(
                trials,
                result.seed,
                on_progress=lambda done: bar.show(loaded.name, done, trials),
                executor=executor,
            )
        except Interrupted as stop:
            if stop.outcomes is None:
                raise
            outcomes = stop.outcomes
        result.wall_s = time.perf_counter() - begin
    result.outcomes.append(outcomes)
    return outcomes


def _refuse_for_many(live: bool, trace: Path | None, plot: Path | None) -> None:
    """Refuses what several controllers for one flow cannot have. Raises RequestError."""
    for option, given in (("--live", live), ("--trace", trace), ("--plot", plot)):
        if given:
            more = "; use thalweg plot" if option == "--plot" else ""
            raise RequestError(f"{option} cannot be combined with several controllers for one flow{more}")


def _again(
    reference: str,
    seed: int,
    controllers: list[str] | None,
    set_: list[str] | None,
    stack: str | None,
    allow_unseeded: bool,
) -> str:
    """The command that runs one trial once more and draws it."""
    again = ["thalweg", "run", reference, "--seed", str(seed)]
    again += [part for text in controllers or () for part in ("--controller", text)]
    again += [part for text in set_ or () for part in ("--set", text)]
    again += ["--stack", stack] if stack else []
    again += ["--allow-unseeded"] if allow_unseeded else []
    return shlex.join([*again, "--plot", "worst.html"])
