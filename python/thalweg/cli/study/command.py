"""The command of a study: its options out of the parameters, its run, its end."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated, Any

import typer

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.extras import require
from thalweg.base.quantity import roughly
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, note
from thalweg.cli.options import (
    Audit,
    ClusterAddress,
    FiguresFolder,
    Format,
    Jobs,
    Quiet,
    SeedSet,
    ShardOption,
    refuse_audit,
)
from thalweg.cli.status import PASSED
from thalweg.cli.store.playing import playing, shard_of, tell_shard
from thalweg.cli.study.end import Ending, NoReport, Out, conclude, reserved
from thalweg.cli.study.live import OPTIONS, announce, timing
from thalweg.experiments.studies.runner.estimate import LONG_S
from thalweg.experiments.studies.runner.parameters import Option, options
from thalweg.experiments.studies.runner.study import Study, StudyError
from thalweg.realtime import LiveScenario
from thalweg.trials.store.shard import Shard
from thalweg.trials.store.stored import Elsewhere, Stored

Choose = Callable[[dict[str, Any], bool], Any]
"""Takes the values of options, and whether real time was asked for."""
Shape = Annotated[Format, typer.Option("--format", help="Output format.")]


def extra(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """An option of a study that is not a parameter of its experiment."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def command(
    study: Study[Any, Any, Any],
    extras: Sequence[inspect.Parameter] = (),
    choose: Choose | None = None,
    group: str = "study",
) -> Callable[..., int]:
    """The function behind `thalweg study NAME`; for a study only in real time, without seeds and threads.

    `group` is the command that it belongs to.

    `choose` makes parameters out of the values of all options but those that every study has; by default, they
    change the parameters of the preset.
    """

    def run(**given: Any) -> int:
        again = command_line(f"{group} {study.name}", signature, given)
        trials, _ = given.pop("trials"), given.pop("quiet")
        format_, out, figures, no_report = (given.pop(name) for name in ("format_", "out", "figures", "no_report"))
        ending = Ending(format_, out, figures, with_page=not no_report)
        ending.check()
        if study.extra:
            require(study.extra, f"thalweg {group} {study.name}")
        where: dict[str, Any] = {}
        live, part = False, Shard()
        if study.has_scenarios:
            given.pop("audit")  # its callback has switched the auditor on
            live, realtime, bound, strict, retry = (given.pop(name, unset) for name, (_, unset) in OPTIONS.items())
            jobs, cluster = given.pop("jobs"), given.pop("cluster")
            part = shard_of(given.pop("shard", "1/1"), ending.out)
            if live and part.of > 1:
                raise RequestError("--shard cannot be combined with --live: trials in real time never repeat")
            ending = replace(ending, strict_timing=strict)
            where = {"seed": given.pop("seed")}
            where["timing"] = timing(live, realtime, bound, strict, retry)
        parameters = choose(given, live) if choose else study.choose(given)
        if study.has_scenarios:
            try:
                where["scenarios"] = _read(study, parameters, trials)
            except ScenarioError as error:
                raise RequestError(_of_options(error, signature, given)) from None
        for line in study.announcements(parameters):
            note(line)
        with reserved(ending.out):
            failed = None
            with ExitStack() as stack:
                if study.has_scenarios:
                    where["executor"] = stack.enter_context(playing(ending.out, jobs, cluster, part))
                    if part.of == 1:
                        _tell_length(study, parameters, trials, where)
                try:
                    with Bar() as bar:
                        finished = study.run(parameters, trials, on_progress=bar.show, **where)
                except Elsewhere:
                    assert ending.out is not None
                    tell_shard(part, ending.out)
                    return PASSED
                except StudyError as error:
                    finished, failed = error.finished, error
            finished.result.command = again
            return conclude(finished, ending, failed)

    signature = inspect.Signature([*_parameters(study, extras)])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
    run.__doc__ = f"{study.title}.\n\nExample: `thalweg {group} {study.name} --out results/{study.name}`"
    return run


def _read(study: Study[Any, Any, Any], parameters: Any, trials: int | None) -> dict[Any, Any]:
    """The scenarios of all cells: what is refused leaves no folder, and runs nothing. Raises RequestError."""
    scenarios = study.scenarios(parameters, trials)
    if any(isinstance(scenario, LiveScenario) for scenario in scenarios.values()):
        refuse_audit()
    if study.live_span_s:
        announce(*study.live_span_s(parameters, trials or parameters.trials))
    return scenarios


def _of_options(error: ScenarioError, signature: inspect.Signature, given: Mapping[str, Any]) -> str:
    """What is wrong with a scenario that a study has made, as a mistake in the options that shaped it."""
    said = str(error).removeprefix(f"{error.origin}:{error.line}: ")
    shaping = [
        (_flag(signature.parameters[name]), word)
        for name, words in given.items()
        if words is not None and name != "preset"
        for word in (words if isinstance(words, list | tuple) else [words])
    ]
    blamed = [(flag, word) for flag, word in shaping if f'"{word}"' in said]
    blamed = blamed or (shaping if len(shaping) == 1 else [])
    named = [f"{flag} {word!r}" for flag, word in blamed]
    return f"{' '.join(named) or 'with these options'}: {said}"


def _flag(parameter: inspect.Parameter) -> str:
    """The long name of an option: typer takes the first of several names for a default."""
    (form,) = parameter.annotation.__metadata__
    return next(name for name in map(str, (form.default, *form.param_decls)) if name.startswith("--"))


def _tell_length(
    study: Study[Any, Any, Any], parameters: Any, trials: int | None, where: Mapping[str, Any]
) -> None:
    """Says how long a study takes that is not over soon."""
    scenarios, executor, n = where["scenarios"], where["executor"], trials or parameters.trials
    if isinstance(executor, Stored):  # what is tried is not kept
        executor = executor.executor
    expected_s = study.estimate_s(parameters, scenarios, n, where["seed"], executor)
    if expected_s is not None and expected_s > LONG_S:
        runs = sum(study.runs_of(cell, n) for cell in scenarios)
        note(f"about {roughly(expected_s)}: {runs} trials of {len(scenarios)} cells, {executor.width} at once")


def _parameters(study: Study[Any, Any, Any], extras: Sequence[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    first, parameters = next(iter(study.presets.items()))
    if study.preset:
        yield extra("preset", _annotation(str, "preset", study.preset), first)
    for name, kind, form in options(type(parameters)):
        yield extra(name, _annotation(kind, name, form), None)
    yield from extras
    yield extra("trials", _annotation(int | None, "trials", study.trials), None)
    if study.has_scenarios:
        yield extra("seed", SeedSet, 1)
        yield extra("jobs", Jobs, 0)
        yield extra("cluster", ClusterAddress, None)
        if study.has_shards:
            yield extra("shard", ShardOption, "1/1")
        yield extra("audit", Audit, False)
        if study.live_span_s:
            yield from (extra(name, *form) for name, form in OPTIONS.items())
    yield extra("format_", Shape, Format.TABLE)
    yield extra("out", Out, None)
    yield extra("figures", FiguresFolder, None)
    yield extra("no_report", NoReport, False)
    yield extra("quiet", Quiet, False)


def _annotation(kind: Any, name: str, form: Option) -> Any:
    flags = form.flags or (f"--{name.replace('_', '-')}",)
    return Annotated[
        kind,
        typer.Option(
            *flags,
            metavar=form.metavar,
            help=form.help,
            rich_help_panel=form.panel,
            min=form.least,
            max=form.most,
        ),
    ]
