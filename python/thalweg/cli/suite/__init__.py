"""`thalweg suite`: all scenarios of a suite, judged, stored and reported."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.files.folder import TRIALS as STORED
from thalweg.base.seeds import SET_SIZE, seed_text
from thalweg.cli import ci, tables
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note, print_json, say, stdout
from thalweg.cli.live_options import LiveOptions, refuse_options, refuse_virtual
from thalweg.cli.options import (
    AllowUnseeded,
    Audit,
    Bound,
    ClusterAddress,
    Controllers,
    FiguresFolder,
    Jobs,
    Only,
    Quiet,
    Realtime,
    Retry,
    SeedSet,
    Settings,
    ShardOption,
    StackChoice,
    StrictTiming,
    SuiteFormat,
    bindings,
    settings,
)
from thalweg.cli.status import INTERRUPTED, PASSED, UNFAITHFUL, of_result
from thalweg.cli.store.playing import shard_of, storing, tell_shard
from thalweg.cli.suite.against import as_markdown, complain_of, print_standing
from thalweg.engine.catalogue import TRIALS, Suite
from thalweg.engine.scenario import Scenario
from thalweg.experiments.suite import load_all, run_suite
from thalweg.results.against.rivals import chosen_rivals, with_rivals
from thalweg.results.against.standing import Standing
from thalweg.results.suite_result import PAGE, Store, SuiteResult, reserve_result
from thalweg.trials.gathering import gather
from thalweg.trials.store.shard import Shard
from thalweg.trials.store.stored import Elsewhere


def suite(
    name: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A shipped suite (c4) or a folder of scenarios.")
    ],
    only: Only = None,
    trials_: Annotated[
        int | None,
        typer.Option(
            "--trials",
            "-n",
            min=1,
            max=SET_SIZE,
            help=f"Trials of each scenario.  [default: `trials` of suite.toml, or {TRIALS}]",
            show_default=False,
        ),
    ] = None,
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    live: Annotated[
        bool, typer.Option("--live", help="Run in real time; 5 trials of each scenario unless -n says otherwise.")
    ] = False,
    realtime: Realtime = False,
    bound: Bound = None,
    strict_timing: StrictTiming = False,
    retry: Retry = None,
    seed: SeedSet = 1,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    shard: ShardOption = "1/1",
    audit: Audit = False,
    format_: Annotated[SuiteFormat, typer.Option("--format", help="Output format.")] = SuiteFormat.TABLE,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to store the result, in place of an older one; trials that are there do not run again.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="NAME",
            help="Also run the main flow with this rival, and rank its own controller among them; may be "
            "repeated. Replaces the rivals of the suite; none runs it without rivals.",
        ),
    ] = None,
    figures: FiguresFolder = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no report page; `thalweg report` can.")
    ] = False,
    quiet: Quiet = False,
) -> int:
    """Run a suite and judge it.

    The outcomes are stored in a folder (`results/SUITE-TIME` by default) together with a report page.
    Ctrl-C keeps the scenarios that are finished.

    With rivals (`--against`, or `compare.against` in suite.toml) the exit status is 1 where the main controller is
    worse than all of them, and 2 where there are too few trials to say so.

    Example: `thalweg suite c4 --only "media-*" -n 20 -c main=cubic`
    """
    again = command_line("suite", inspect.signature(suite, eval_str=True), locals())
    options = LiveOptions(realtime, bound, None, strict_timing, retry)
    found = Suite.find(name)
    if live:
        _refuse_for_live(stack, jobs, cluster, allow_unseeded, shard, against)
        from thalweg.cli.suite.live import LIVE_TRIALS, load_live, run_suite_live  # noqa: PLC0415 - seldom asked for

        real = load_live(found.matching(only), settings(set_, stack), bindings(controller))
        trials, folder = trials_ or LIVE_TRIALS, out or _default_folder(found.name)
        result = SuiteResult(found.name, found.title, found.source, seed, command=again)
        with Store(folder, result, [scenario.description for scenario in real], trials) as store:
            complete, usable = run_suite_live(store, result, real, trials, options)
            status = _conclude(store, result, complete, (len(real), trials), format_, not no_report, figures)
        return status if usable or not complete else UNFAITHFUL
    refuse_options(options)
    part = shard_of(shard, out)
    trials = trials_ or found.trials
    rivals = chosen_rivals(found, against, trials)
    entries = found.matching(only)
    overrides, chosen = settings(set_, stack, allow_unseeded), bindings(controller)
    scenarios = load_all(entries, overrides, chosen)
    played = with_rivals(found, entries, scenarios, rivals, overrides, chosen, given=bool(against))
    if part.of > 1 and out:
        return _run_shard(played, range(seed, seed + trials), out, (jobs, cluster, part))
    folder = out or _default_folder(found.name)
    result = SuiteResult(found.name, found.title, found.source, seed, command=again)
    with Store(folder, result, [scenario.description for scenario in played], trials) as store:
        with Bar() as bar, storing(folder, jobs, cluster, part) as executor:
            complete = run_suite(store, result, played, trials, executor, bar.show)
        return _conclude(store, result, complete, (len(scenarios), trials), format_, not no_report, figures)


def _refuse_for_live(
    stack: str | None,
    jobs: int,
    cluster: str | None,
    allow_unseeded: bool,
    shard: str,
    against: list[str] | None,
) -> None:
    """Refuses options that are about virtual time. Raises RequestError."""
    refuse_virtual(stack, jobs, cluster, allow_unseeded)
    for option, given in (("--shard", shard != "1/1"), ("--against", bool(against))):
        if given:
            raise RequestError(f"{option} cannot be combined with --live")


def _run_shard(
    scenarios: Sequence[Scenario], seeds: range, out: Path, where: tuple[int, str | None, Shard]
) -> int:
    """Plays the share of a shard, whose trials are judged when all are together."""
    name = f"shard {where[2].number} of {where[2].of}"
    total = len(scenarios) * len(seeds)
    with reserve_result(out), Bar() as bar, storing(out, *where) as executor, suppress(Elsewhere):
        gather(executor, scenarios, seeds, lambda *_: None, lambda done: bar.show(name, done, total))
    tell_shard(where[2], out)
    return PASSED


def _conclude(
    store: Store,
    result: SuiteResult,
    complete: bool,
    planned: tuple[int, int],
    format_: SuiteFormat,
    report: bool,
    figures: Path | None,
) -> int:
    """Prints a result, writes its page, and returns the exit status. `planned`: scenarios, and trials of each."""
    scenarios, trials = planned
    _print(result, trials, format_)
    for outcomes in result.outcomes:
        if late := outcomes.unfinished():
            complain(f"{outcomes.scenario.name}: {late}")
    if not complete:
        names = ", ".join(outcomes.scenario.name for outcomes in result.outcomes) or "none"
        done = f"{len(result.outcomes)} of {scenarios} scenarios are finished and kept in {store.root} ({names})"
        if not result.outcomes:
            kept = store.folder / STORED
            done = f"none of {scenarios} scenarios is finished"
            done += f"; finished trials are kept in {kept}" if kept.is_dir() else ""
        older = f"; {store.folder} holds the older result" if store.root != store.folder else ""
        complain(f"interrupted: {done}{older}", label="")
        return INTERRUPTED
    if not report:
        note(f"wrote {store.folder}")
    elif not _write_report(result, store.folder):
        return INTERRUPTED
    if figures:
        from thalweg.cli.report import pictures  # noqa: PLC0415 - seldom asked for

        pictures(result, figures)
    return of_result(result)


def _print(result: SuiteResult, trials: int, format_: SuiteFormat) -> None:
    standing = result.standing()
    if format_ is SuiteFormat.JSON:
        print_json(result.document())
    elif format_ is SuiteFormat.MARKDOWN:
        rows = tables.result_rows(result)
        parts = [f"{result.controllers}: `{result.command}`", *([as_markdown(standing)] if standing else [])]
        parts += [tables.markdown(tables.HEADERS, rows)] if rows else []
        say("\n\n".join([*parts, tables.summary(result, trials, seed_text(result.seed))]))
    elif format_ in ci.FORMATS:
        say(ci.document(format_, result.suite or result.title, ci.cases_of(result)))
    else:
        _print_table(result, trials, standing)
    if standing:
        complain_of(standing)


def _print_table(result: SuiteResult, trials: int, standing: Standing | None) -> None:
    """The answer comes first: where the controller stands, if rivals play."""
    console = stdout()
    console.print(result.title + (f"  ({result.source})" if result.source else ""))
    console.print(result.controllers)
    if standing:
        print_standing(standing)
    if rows := tables.brief_rows(result):
        console.print(tables.verdict_table(rows, brief=True))
    console.print(tables.summary(result, trials, seed_text(result.seed)))
    if failures := list(tables.failures(result)):
        console.print("\nfailed:")
    for line in failures:
        console.print(line, soft_wrap=True)


def _write_report(result: SuiteResult, folder: Path) -> bool:
    """Writes the report into the folder of the result; tells whether a Ctrl-C let it."""
    from thalweg.pages.report import write_report  # noqa: PLC0415 - altair takes half a second to load

    page = folder / PAGE
    try:
        with Bar() as bar:
            write_report(result, page, bar.show)
    except KeyboardInterrupt:
        complain(f"interrupted: the result in {folder} is complete; only its report was not written", label="")
        return False
    note(f"wrote {folder} and {page}")
    return True


def _default_folder(name: str) -> Path:
    stem = re.sub(r"[^\w.-]+", "-", name)
    folder = Path("results") / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}"
    number, free = 1, folder
    while free.exists():
        number += 1
        free = folder.with_name(f"{folder.name}-{number}")
    return free
