"""`thalweg gate`: a suite against the baseline that a repository holds."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.regular_file import read_regular
from thalweg.base.files.whole_file import whole_file
from thalweg.base.seeds import LARGEST_SET, SET_SIZE, first_seed
from thalweg.base.toml import place, read_toml, shown
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note
from thalweg.cli.gate.outputs import Answers, Outputs
from thalweg.cli.gate.replays import Given
from thalweg.cli.gate.table import as_markdown, cases_of, complain_of, print_judgement
from thalweg.cli.live_options import LiveOptions, refuse_options, refuse_virtual
from thalweg.cli.options import (
    AllowUnseeded,
    Audit,
    Bound,
    ClusterAddress,
    Controllers,
    Jobs,
    Only,
    Quiet,
    Realtime,
    Retry,
    Settings,
    StackChoice,
    SuiteFormat,
    bindings,
    check_outputs,
    settings,
)
from thalweg.cli.status import FAILED, PASSED, REFUSED, undecided
from thalweg.cli.store.playing import playing
from thalweg.cli.tables import each
from thalweg.engine.catalogue import Suite
from thalweg.engine.controllers.definition import file_of
from thalweg.experiments.gate.baseline import Baseline
from thalweg.experiments.gate.fit import check_fit, check_metrics, check_part
from thalweg.experiments.gate.judgement import Judgement, judge_changes
from thalweg.experiments.gate.reading import LARGEST, check_replaceable, read_baseline
from thalweg.experiments.gate.scenarios import Scenarios
from thalweg.judging.thresholds import Thresholds, read_thresholds
from thalweg.results.provenance import Provenance
from thalweg.trials.store.shard import Shard

TRIALS = 20
"""Trials of each scenario where neither `-n` nor a baseline says how many."""
BASELINE = Path("thalweg-baseline.json")
"""What a gate compares with where no option names another file."""
_LARGEST_THRESHOLDS = 1 << 20


def gate(
    name: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A shipped suite (c4) or a folder of scenarios.")
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help=f"What to compare with; a file of your repository.  [default: {BASELINE}]",
            show_default=False,
        ),
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Rewrite the baseline from this run; with --only, a part of it.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail where any trial differs at all, for better or worse.")
    ] = False,
    thresholds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file with a table [gate], instead of suite.toml's."),
    ] = None,
    only: Only = None,
    trials_: Annotated[
        int | None,
        typer.Option(
            "--trials",
            "-n",
            min=1,
            max=SET_SIZE,
            help=f"Trials of each scenario.  [default: the baseline's, or {TRIALS}]",
            show_default=False,
        ),
    ] = None,
    controller: Controllers = None,
    live: Annotated[
        bool, typer.Option("--live", help="Before and now in pairs, in real time; requires --before.")
    ] = False,
    before: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOW=NAME[:OPT=V]",
            help="With --live: the controller of a flow before the change; repeat as needed.",
        ),
    ] = None,
    realtime: Realtime = False,
    bound: Bound = None,
    retry: Retry = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed-set",
            min=1,
            max=LARGEST_SET,
            help="Number of a set of seeds, as for suites.  [default: the baseline's, or 1]",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    audit: Audit = False,
    format_: Annotated[SuiteFormat, typer.Option("--format", help="Output format.")] = SuiteFormat.TABLE,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the answers as JUnit's XML.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also append the table as Markdown, e.g. to $GITHUB_STEP_SUMMARY."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep the trials; those that are there do not run again."),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Compare a suite with the baseline of a repository, and fail where it became worse; see `thalweg docs gate`.

    The exit status is 1 where a metric is worse than in the baseline by more than its threshold, with --strict
    where any trial differs, and 2 where there are too few trials to tell. With --live there is no baseline:
    before and now run in pairs, in real time, until the pairs decide.

    Example: `thalweg gate c4 --only "simple-*" -c main=cubic --baseline thalweg-baseline.json --accept`
    """
    again = command_line("gate", inspect.signature(gate, eval_str=True), locals())
    options = LiveOptions(realtime, bound, retry=retry)
    if live:
        _check_live(baseline, accept, strict, before, controller, out)
        refuse_virtual(stack, jobs, cluster, allow_unseeded)
    else:
        refuse_options(options)
        if before:
            raise RequestError("--before requires --live: in virtual time the baseline is a file")
    baseline = baseline or BASELINE
    found = Suite.find(name)
    code = _code(controller, before, stack)
    read = [*found.files, *code, *([] if thresholds is None else [thresholds])]
    if accept:
        _check_accepted(baseline, strict, junit, markdown, read)
    check_outputs({"--junit": junit, "--markdown": markdown}, [*read, baseline])
    judged_by = found.thresholds if thresholds is None else _read_thresholds(thresholds)
    outputs = Outputs(format_, junit, markdown)
    if live:
        from thalweg.cli.gate.live import PAIRS, gate_live  # noqa: PLC0415 - loaded only for real time

        return gate_live(
            found,
            only,
            before or (),
            controller or (),
            settings(set_, stack),
            judged_by,
            trials_ or PAIRS,
            first_seed(seed or 1),
            options,
            outputs,
            again,
        )
    begin, made = time.perf_counter(), Provenance(command=again)
    old = _old(baseline, accept, only)
    first = first_seed(seed) if seed else old.seed if old else first_seed(1)
    trials = trials_ or (old.trials if old else TRIALS)
    overrides, chosen = settings(set_, stack, allow_unseeded), bindings(controller)
    scenarios = Scenarios.read(found, only, overrides, chosen, range(first, first + trials))
    if accept and only and old:
        check_part(baseline, old, found.name, first, trials)
    elif old and not accept:
        check_fit(baseline, old, found.name, scenarios.fingerprints, first, trials, whole=not only)
        check_metrics(baseline, old, scenarios.judged, judged_by)
    with Bar() as bar, playing(out, jobs, cluster, Shard()) as executor:
        played = scenarios.play(executor, judged_by, lambda done: bar.show("trials", done, scenarios.trials))
    made.wall_s = time.perf_counter() - begin
    if accept:
        return _accept(baseline, scenarios.accepted(old if only else None, played.recorded), scenarios)
    assert old is not None
    judgement = judge_changes(old.scenarios, played.recorded, scenarios.seeds, judged_by)
    command = Given(
        scenarios={entry.name: entry.reference for entry in found.entries},
        flows={one.name: [str(flow["name"]) for flow in one.flows] for one in scenarios.scenarios},
        controllers=controller or (),
        settings=set_ or (),
        stack=stack,
        allow_unseeded=allow_unseeded,
    )
    head = made.head("gate", found.name, found.title, found.source, first, trials, played.core_s)
    outputs.write(_answers(judgement, head, command, strict))
    return _status(judgement, strict)


def _check_live(
    baseline: Path | None,
    accept: bool,
    strict: bool,
    before: list[str] | None,
    controller: list[str] | None,
    out: Path | None,
) -> None:
    """Refuses what is about a baseline in a file. Raises RequestError."""
    if not before:
        raise RequestError(
            "--live requires --before FLOW=NAME: in real time nothing repeats, so both sides are played"
        )
    if not controller:
        raise RequestError("--live requires -c FLOW=NAME, the controller that is compared with --before")
    for option, given in (("--baseline", baseline), ("--accept", accept), ("--strict", strict), ("--out", out)):
        if given:
            raise RequestError(f"{option} cannot be combined with --live: trials in real time never repeat")


def _code(controller: Sequence[str] | None, before: Sequence[str] | None, stack: str | None) -> list[Path]:
    """The files of code that options name: controllers in Python, and the library of a stack."""
    named = [file_of(text) for _, text in (*bindings(controller), *bindings(before, "--before"))]
    return [Path(file) for file in (*named, stack) if file and Path(file).is_file()]


def _check_accepted(
    baseline: Path, strict: bool, junit: Path | None, markdown: Path | None, read: Sequence[Path]
) -> None:
    """Refuses options that ask for more, and a baseline that would replace another file. Raises RequestError."""
    for option, given in (("--strict", strict), ("--junit", junit), ("--markdown", markdown)):
        if given:
            raise RequestError(f"--accept cannot be combined with {option}: it writes what others are judged by")
    check_outputs({"--baseline": baseline}, read)
    check_replaceable(baseline)


def _old(file: Path, accept: bool, only: list[str] | None) -> Baseline | None:
    """The baseline that is there; one that is rewritten in full may be missing or damaged."""
    if accept and not file.exists():
        return None
    try:
        return read_baseline(file)
    except ResultError:
        if accept and not only and file.is_file():
            return None
        raise


def _accept(file: Path, baseline: Baseline, scenarios: Scenarios) -> int:
    """Writes a baseline."""
    text = baseline.text()
    if len(text) > LARGEST:
        raise RequestError(
            f"{file} would have {len(text) >> 20} MiB; accepted: at most {LARGEST >> 20} MiB, by fewer trials (-n)"
        )
    with whole_file(file) as partial:
        partial.write_text(text, encoding="utf-8")
    played = len(scenarios.scenarios)
    count = "1 scenario" if played == 1 else f"{played} scenarios"
    note(f"wrote {file}: {count}, {each(len(scenarios.seeds))}; commit it")
    return PASSED


def _answers(judgement: Judgement, head: Mapping[str, Any], given: Given, strict: bool) -> Answers:
    return Answers(
        head,
        {"strict": strict, **judgement.document()},
        cases_of(judgement, given, strict),
        as_markdown(judgement, head["name"], given, strict),
        print_table=lambda: print_judgement(judgement),
        complain=lambda: complain_of(judgement, given, strict),
    )


def _status(judgement: Judgement, strict: bool) -> int:
    """Failed where something is worse, or with `strict` differs; refused where too few trials tell nothing."""
    if judgement.of("worse") or (strict and judgement.n_changed):
        return FAILED
    if judgement.lacking:
        complain(undecided(judgement.lacking, judgement.compared, "metrics"))
        return REFUSED
    return PASSED


def _read_thresholds(file: Path) -> Thresholds:
    """The table `gate` of a file. Raises RequestError."""
    text = read_regular(file, _LARGEST_THRESHOLDS, f"a file of at most {_LARGEST_THRESHOLDS >> 20} MiB")
    document = read_toml(text, str(file))
    for key in document:
        if key != "gate":
            raise RequestError(f"{place(file, key)}: unknown key {key!r}; accepted: a table [gate]")
    if "gate" not in document:
        raise RequestError(f"{file}: it lacks the table [gate]")
    table = document["gate"]
    if not isinstance(table, dict):
        raise RequestError(f"{place(file, 'gate')}: gate = {shown(table)}: expected a table [gate]")
    return read_thresholds(table, str(file))
